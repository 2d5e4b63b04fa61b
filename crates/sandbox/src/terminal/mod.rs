//! A line client for the sandbox. It uses the gateway and the REST API like any other client.
//!
//! This file is one person's session: what they see, and what typed lines and events do to it. `slash` reads the options of the team's
//! commands, `render` writes messages, `directory` knows the names in both. `console` is the terminal or pipe, `editor` what is
//! typed there, `client` the connection.

mod client;
mod console;
mod directory;
#[cfg(feature = "line-editor")]
mod editor;
mod render;
mod slash;
#[cfg(feature = "line-editor")]
mod words;

use std::{collections::HashSet, mem, time::Duration};

use anyhow::{Context, bail};
use serde_json::{Value, json};
use tokio::time::{Instant, sleep_until};

use client::{Gateway, Rest};
use console::Console;
use directory::Directory;
use render::{bold, clean, dim, is_loading, list, list_interactions, render_message, text};
#[cfg(feature = "line-editor")]
use slash::list_paths;
use slash::{parse_options, render_form, split_word};

/// Number of messages shown when a channel is opened.
const HISTORY: u8 = 20;
/// After the last line of piped input, the client quits once nothing happened for this time.
const QUIET: Duration = Duration::from_secs(2);
const HELP: [(&str, &str); 7] = [
    ("TEXT", "Say something. @Name and #channel in it become links."),
    ("/reply N TEXT", "Reply to message N."),
    ("/file PATH [TEXT]", "Send a file. Put quotes around a path with spaces."),
    ("/press N [K]", "Press button K of message N, or choose option K of its menu."),
    ("/channel [NAME]", "Open a channel, a thread or a conversation with @somebody. Without a name: list the channels."),
    ("/wait [SECONDS]", "Wait for an answer before the next line is run."),
    ("/quit", "Leave."),
];

/// Runs the client for the person with this `token`, until `/quit` or the end of the input.
///
/// `api` is the server's address without a path, such as `http://127.0.0.1:8080`.
///
/// # Errors
/// When the server cannot be reached or refuses the token, or the terminal is closed.
pub async fn run(api: String, token: String) -> anyhow::Result<()> {
    Session::join(&api, &token, Console::open()?).await?.run().await
}

struct Session {
    rest: Rest,
    gateway: Gateway,
    console: Console,
    directory: Directory,
    /// The open channel.
    channel: String,
    /// Message N is at index N - 1.
    shown: Vec<Value>,
    /// Channels and people for which "wrote in" or "is typing" was already printed.
    mentioned: HashSet<String>,
    /// Whether somebody answered since the person's last message or command.
    answered: bool,
    /// Until when `/wait` waits for an answer.
    wait_until: Option<Instant>,
}

impl Session {
    /// Connects, and opens the first channel.
    async fn join(api: &str, token: &str, console: Console) -> anyhow::Result<Self> {
        let rest = Rest::new(api, token)?;
        let address = rest.get("/gateway").await.with_context(|| format!("connecting to {api}"))?;
        let gateway = Gateway::connect(text(&address["url"]), token).await?;
        let (directory, channel, shown, mentioned) = Default::default();
        let mut session = Self { rest, gateway, console, directory, channel, shown, mentioned, answered: false, wait_until: None };
        while session.directory.guild.is_empty() {
            let (kind, data) = session.gateway.next().await?;
            session.receive(&kind, data)?;
        }
        let first = session.directory.list_channels().first().map(|(id, _)| (*id).to_owned());
        session.open(first.context("the server has no text channel")?).await?;
        session.note("Type a message, or ? to see what else can be typed.")?;
        Ok(session)
    }

    async fn run(mut self) -> anyhow::Result<()> {
        let (mut last_activity, mut input_ended) = (Instant::now(), false);
        self.learn_words().await;
        self.console.ask(self.channel_name(&self.channel));
        loop {
            let deadline = self.wait_until.or(input_ended.then(|| last_activity + QUIET));
            tokio::select! {
                // Shows pending events before the next line is run.
                biased;
                event = self.gateway.next() => event.and_then(|(kind, data)| self.receive(&kind, data))?,
                line = self.console.lines.recv(), if self.wait_until.is_none() && !input_ended => match line {
                    Some(line) if line.trim() == "/quit" => return Ok(()),
                    Some(line) => {
                        // An error of the line is shown, and the session goes on.
                        if let Err(error) = self.run_line(line.trim()).await {
                            self.console.print(&format!("{error:#}"))?;
                        }
                        self.learn_words().await;
                        self.console.ask(self.channel_name(&self.channel));
                    }
                    None => input_ended = true,
                },
                () = sleep_until(deadline.unwrap_or_else(Instant::now)), if deadline.is_some() => match self.wait_until.take() {
                    Some(_) => self.console.print("No answer in that time.")?,
                    None => return Ok(()),
                },
            }
            last_activity = Instant::now();
        }
    }

    /// What Tab completes: the commands of this client and of the team, and the names in the server.
    #[cfg(feature = "line-editor")]
    async fn learn_words(&self) {
        if !self.console.has_editor() {
            return;
        }
        // While the team starts, there are no commands yet.
        let team = self.load_commands().await.unwrap_or_default();
        let own = HELP.iter().filter_map(|(form, _)| form.split(' ').next().filter(|word| word.starts_with('/')).map(str::to_owned));
        let names = self.directory.list_names().map(str::to_owned);
        self.console.set_words(own.chain(team.iter().flat_map(list_paths)).chain(names).collect());
    }

    /// Without an editor there is no Tab.
    #[cfg(not(feature = "line-editor"))]
    async fn learn_words(&self) {}

    fn note(&mut self, text: &str) -> anyhow::Result<()> {
        self.console.print(&dim(text))
    }

    fn channel_name(&self, id: &str) -> &str {
        self.directory.find_name(id).unwrap_or("#unknown")
    }

    fn receive(&mut self, kind: &str, data: Value) -> anyhow::Result<()> {
        self.directory.apply(kind, &data);
        match kind {
            "MESSAGE_CREATE" => self.receive_message(data),
            "MESSAGE_UPDATE" if self.find_shown(&data).is_some() => self.receive_message(data),
            "TYPING_START" if data["channel_id"] == self.channel.as_str() && data["user_id"] != self.directory.me.as_str() => {
                let name = self.directory.user_name(&json!({ "id": data["user_id"] }));
                let is_new = self.mentioned.insert(text(&data["user_id"]).to_owned());
                if is_new { self.note(&format!("{name} is typing…")) } else { Ok(()) }
            }
            "INTERACTION_FAILURE" => self.console.print("That command or button got no answer in time. Try again in a moment."),
            "INTERACTION_MODAL_CREATE" => self.console.print("That opens a form. Use the chat page for it."),
            _ => Ok(()),
        }
    }

    fn find_shown(&self, message: &Value) -> Option<usize> {
        self.shown.iter().rposition(|shown| shown["id"] == message["id"])
    }

    /// A new or changed message. An own message arrives twice: as the answer to the request and as an event, in either order.
    fn receive_message(&mut self, message: Value) -> anyhow::Result<()> {
        // Updates that change neither of these only add a thread or new signatures to file addresses.
        let version = |message: &Value| (is_loading(message), message["edited_timestamp"].clone());
        if self.find_shown(&message).is_some_and(|at| version(&self.shown[at]) == version(&message)) {
            return Ok(());
        }
        let (author, channel) = (text(&message["author"]["id"]), text(&message["channel_id"]));
        self.mentioned.remove(author);
        if channel == self.channel {
            if author != self.directory.me && !is_loading(&message) {
                // A waiting `/wait` takes the answer, so the next `/wait` waits for another one.
                self.answered = self.wait_until.take().is_none();
            }
            return self.show(message);
        }
        if author != self.directory.me && self.mentioned.insert(channel.to_owned()) {
            let name = self.directory.user_name(&message["author"]);
            self.note(&format!("{name} wrote in {}.", self.channel_name(channel)))?;
        }
        Ok(())
    }

    fn show(&mut self, message: Value) -> anyhow::Result<()> {
        let at = self.find_shown(&message).unwrap_or(self.shown.len());
        let reply_to = self.find_shown(&message["referenced_message"]).map(|at| at + 1);
        let text = render_message(&message, at + 1, reply_to, &self.directory);
        self.shown.splice(at..self.shown.len().min(at + 1), [message]);
        self.console.print(&text)
    }

    async fn run_line(&mut self, line: &str) -> anyhow::Result<()> {
        let (word, rest) = split_word(line);
        let (first, others) = split_word(rest);
        match word {
            "" => Ok(()),
            "?" if rest.is_empty() => self.help().await,
            "/reply" | "/file" | "/press" if rest.is_empty() => bail!("Type ? to see what {word} needs."),
            "/reply" => {
                let reference = json!({ "message_id": self.get_shown(first)?["id"], "fail_if_not_exists": false });
                self.say(others, reference, None).await
            }
            "/file" => {
                let quoted = rest.strip_prefix('"').and_then(|rest| rest.split_once('"'));
                let (path, text) = quoted.unwrap_or((first, others));
                self.say(text.trim(), Value::Null, Some(path)).await
            }
            "/press" => self.press(first, if others.is_empty() { "1" } else { others }).await,
            "/channel" if rest.is_empty() => {
                let names: Vec<_> = self.directory.list_channels().into_iter().map(|(_, name)| name).collect();
                self.console.print(&names.join("\n"))
            }
            "/channel" => {
                let channel = self.get_channel(rest).await?;
                self.open(channel).await
            }
            "/wait" => {
                let seconds = if rest.is_empty() { 30 } else { rest.parse().with_context(|| format!("/wait {}", clean(rest)))? };
                let waits = !mem::take(&mut self.answered);
                self.wait_until = waits.then(|| Instant::now() + Duration::from_secs(seconds));
                Ok(())
            }
            _ => match word.strip_prefix('/') {
                Some(name) => self.run_slash(name, rest).await,
                None => self.say(line, Value::Null, None).await,
            },
        }
    }

    async fn help(&mut self) -> anyhow::Result<()> {
        let commands = self.load_commands().await?;
        let own = HELP.map(|(form, description)| (form.to_owned(), description));
        let team =
            commands.iter().map(|command| (render_form(&format!("/{}", text(&command["name"])), command), text(&command["description"])));
        let lines = own.into_iter().chain(team).map(|(form, description)| format!("{}  {}", bold(&form), clean(description)));
        self.console.print(&lines.collect::<Vec<_>>().join("\n"))
    }

    fn get_shown(&self, number: &str) -> anyhow::Result<&Value> {
        let message = find_numbered(&self.shown, number).filter(|message| message["channel_id"] == self.channel.as_str());
        message.with_context(|| format!("There is no message “{}” in this channel.", clean(number)))
    }

    async fn say(&mut self, text: &str, reply_to: Value, file: Option<&str>) -> anyhow::Result<()> {
        self.answered = false;
        let body = json!({ "content": self.directory.write_mentions(text), "message_reference": reply_to });
        let path = format!("/channels/{}/messages", self.channel);
        let sent = match file {
            Some(file) => self.rest.upload(&path, &body, file.as_ref()).await,
            None => self.rest.post(&path, &body).await,
        };
        self.receive_message(sent.context("Not sent")?)
    }

    async fn press(&mut self, message: &str, control: &str) -> anyhow::Result<()> {
        let on = self.get_shown(message)?;
        let interactions = list_interactions(on);
        let data = find_numbered(&interactions, control)
            .with_context(|| format!("Message {message} has no button or option “{}”.", clean(control)))?;
        let application = on["application_id"].as_str().unwrap_or(text(&on["author"]["id"]));
        self.interact(json!({ "type": 3, "application_id": application, "message_id": on["id"], "data": data })).await
    }

    async fn run_slash(&mut self, name: &str, options: &str) -> anyhow::Result<()> {
        let commands = self.load_commands().await?;
        let command = commands.iter().find(|command| command["name"] == name);
        let command = command.with_context(|| format!("There is no command /{}. Type ? to see what there is.", clean(name)))?;
        let options = parse_options(&format!("/{name}"), command, options, &self.directory)?;
        let data = json!({ "id": command["id"], "name": name, "type": 1, "version": command["version"], "options": options });
        self.interact(json!({ "type": 2, "application_id": command["application_id"], "data": data })).await
    }

    async fn interact(&mut self, mut body: Value) -> anyhow::Result<()> {
        self.answered = false;
        body["channel_id"] = json!(self.channel);
        self.rest.post("/interactions", &body).await.map(drop)
    }

    /// The slash commands of the team. Other types than 1 are entries of context menus.
    async fn load_commands(&self) -> anyhow::Result<Vec<Value>> {
        let index = self.rest.get(&format!("/guilds/{}/application-command-index", self.directory.guild)).await?;
        Ok(list(&index["application_commands"]).iter().filter(|command| command["type"].as_u64().unwrap_or(1) == 1).cloned().collect())
    }

    /// The id of a channel, a thread or the conversation with `@somebody`.
    async fn get_channel(&mut self, name: &str) -> anyhow::Result<String> {
        let unknown = || format!("There is no channel or member {}. /channel lists the channels.", clean(name));
        if !name.starts_with('@') {
            return self.directory.find_id('#', name).map(str::to_owned).with_context(unknown);
        }
        let person = self.directory.find_id('@', name).with_context(unknown)?;
        let channel = self.rest.post("/users/@me/channels", &json!({ "recipient_id": person })).await?;
        self.directory.add(&channel);
        Ok(text(&channel["id"]).to_owned())
    }

    async fn open(&mut self, channel: String) -> anyhow::Result<()> {
        self.mentioned.remove(&channel);
        self.channel = channel;
        self.console.print(&bold(&format!("── {}", self.channel_name(&self.channel))))?;
        let messages = self.rest.get(&format!("/channels/{}/messages?limit={HISTORY}", self.channel)).await?;
        if list(&messages).is_empty() {
            return self.note("No messages yet. Try “kelly, who is on the team?”");
        }
        list(&messages).iter().rev().try_for_each(|message| self.show(message.clone()))
    }
}

/// The item with this number, counted from 1.
fn find_numbered<'a>(items: &'a [Value], number: &str) -> Option<&'a Value> {
    items.get(number.parse::<usize>().ok()?.checked_sub(1)?)
}

#[cfg(test)]
mod tests;
