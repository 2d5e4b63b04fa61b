//! What one person does: each typed line, and the requests that it makes.

use std::{
    ops::ControlFlow,
    time::{Duration, SystemTime},
};

use anyhow::{Context, bail};
use serde_json::{Value, json};
use tokio::time::Instant;

use super::{
    directory::{clean, id, list},
    render::{button_name, list_buttons},
    session::Session,
    slash::{self, split_word},
};

/// Number of messages shown when a channel is opened.
const HISTORY: u8 = 20;
const DEFAULT_WAIT_SECONDS: u64 = 30;

const COMMANDS: [(&str, &str); 7] = [
    ("/channel [NAME]", "Go to a channel, a thread or @somebody. Without a name: list the channels."),
    ("/reply N TEXT", "Reply to message N."),
    ("/file PATH [TEXT]", "Send a file. Put quotes around a path with spaces."),
    ("/press N [K]", "Press button K of message N."),
    ("/wait [SECONDS]", "Wait for the next answer before the next line is run."),
    ("/help", "Show this help. //help runs the team's own /help."),
    ("/quit", "Leave."),
];

impl Session {
    /// Runs one typed line. An error of the line is shown, and the session goes on.
    pub(super) async fn run_line(&mut self, line: &str) -> anyhow::Result<ControlFlow<()>> {
        if matches!(line.trim(), "/quit" | "/exit") {
            return Ok(ControlFlow::Break(()));
        }
        if let Err(error) = self.run_command(line.trim()).await {
            self.print(&format!("{error:#}"))?;
        }
        Ok(ControlFlow::Continue(()))
    }

    async fn run_command(&mut self, line: &str) -> anyhow::Result<()> {
        let (command, rest) = split_word(line);
        match command {
            "" => Ok(()),
            "/channel" | "/channels" if rest.is_empty() => self.list_channels(),
            "/channel" => self.switch(rest).await,
            "/reply" => {
                let (number, text) = split_word(rest);
                if text.is_empty() {
                    bail!(usage(command));
                }
                let reference = json!({ "message_id": self.message(number)?["id"], "fail_if_not_exists": false });
                let mut body = self.message_body(text);
                body["message_reference"] = reference;
                self.send(&body, None).await
            }
            "/file" => {
                let quoted = rest.strip_prefix('"').and_then(|rest| rest.split_once('"'));
                let (path, text) = quoted.unwrap_or_else(|| split_word(rest));
                if path.is_empty() {
                    bail!(usage(command));
                }
                let body = self.message_body(text.trim());
                self.send(&body, Some(path)).await
            }
            "/press" => self.press(rest).await,
            "/wait" => {
                let seconds = if rest.is_empty() { Some(DEFAULT_WAIT_SECONDS) } else { rest.parse().ok() };
                self.wait_until = Some(Instant::now() + Duration::from_secs(seconds.with_context(|| usage(command))?));
                Ok(())
            }
            "/help" => self.help().await,
            _ => {
                if let Some(name) = command.strip_prefix("//").or(command.strip_prefix('/')) {
                    return self.slash(name, rest).await;
                }
                let body = self.message_body(line);
                self.send(&body, None).await
            }
        }
    }

    fn message(&self, number: &str) -> anyhow::Result<&Value> {
        let at = number.trim_start_matches('#').parse::<usize>().ok().and_then(|number| number.checked_sub(1));
        at.and_then(|at| self.shown.get(at)).with_context(|| format!("There is no message {} on the screen.", clean(number)))
    }

    fn list_channels(&mut self) -> anyhow::Result<()> {
        let channels = self.directory.list_channels().into_iter().map(|(id, _)| self.directory.channel_name(id));
        let threads = self.directory.list_threads().into_iter().map(|thread| format!("{} (thread)", thread.name));
        let names: Vec<_> = channels.chain(threads).collect();
        self.print(&names.join("\n"))
    }

    async fn switch(&mut self, name: &str) -> anyhow::Result<()> {
        if let Some(id) = self.directory.find_channel_id(name).filter(|_| !name.starts_with('@')) {
            return self.open(id.clone()).await;
        }
        let Some(person) = self.directory.find_person_id(name).filter(|_| name.starts_with('@')) else {
            bail!("There is no channel or member {}. /channel lists the channels.", clean(name));
        };
        let channel = self.rest.post("/users/@me/channels", &json!({ "recipient_id": person })).await?;
        self.directory.add_channel(&channel);
        self.open(id(&channel)).await
    }

    pub(super) async fn open(&mut self, channel: String) -> anyhow::Result<()> {
        self.unread.remove(&channel);
        self.channel = channel;
        self.print(&self.style.bold(&format!("── {}", self.directory.channel_name(&self.channel))))?;
        let messages = self.rest.get(&format!("/channels/{}/messages?limit={HISTORY}", self.channel)).await?;
        if list(&messages).is_empty() {
            return self.note("No messages yet. Try “kelly, who is on the team?”, or /help.");
        }
        list(&messages).iter().rev().try_for_each(|message| self.show(message.clone()))
    }

    async fn help(&mut self) -> anyhow::Result<()> {
        self.load_commands().await?;
        let own = COMMANDS.map(|(form, description)| (form.to_owned(), description.to_owned()));
        let is_own = |form: &str| COMMANDS.iter().any(|(own, _)| split_word(own).0 == split_word(form).0);
        let team = self.commands.iter().flat_map(|command| slash::list_forms(command, "/"));
        let team = team.map(|(form, description)| (if is_own(&form) { format!("/{form}") } else { form }, description));
        let lines: Vec<_> = own.into_iter().chain(team).map(|(form, text)| format!("{}\n    {text}", self.style.bold(&form))).collect();
        self.print(&lines.join("\n"))
    }

    fn message_body(&mut self, text: &str) -> Value {
        json!({ "content": self.directory.resolve_mentions(text), "nonce": self.make_nonce(), "enforce_nonce": true })
    }

    async fn send(&mut self, body: &Value, file: Option<&str>) -> anyhow::Result<()> {
        let path = format!("/channels/{}/messages", self.channel);
        let sent = match file {
            Some(file) => self.rest.upload(&path, body, file.as_ref()).await,
            None => self.rest.post(&path, body).await,
        };
        self.show_new(sent.context("Not sent")?)
    }

    async fn slash(&mut self, name: &str, rest: &str) -> anyhow::Result<()> {
        let is_named = |command: &&Value| command["name"] == name;
        if !self.commands.iter().any(|command| is_named(&command)) {
            self.load_commands().await?;
        }
        let command = self.commands.iter().find(is_named);
        let command = command.with_context(|| format!("There is no command /{}. /help lists the commands.", clean(name)))?;
        let data = slash::parse_command(command, rest, &self.directory).map_err(anyhow::Error::msg)?;
        let body = json!({ "type": 2, "application_id": command["application_id"], "data": data });
        self.interact(body, format!("/{name}")).await
    }

    async fn load_commands(&mut self) -> anyhow::Result<()> {
        let mut index = self.rest.get(&format!("/guilds/{}/application-command-index", self.directory.guild)).await?;
        let commands = index["application_commands"].as_array_mut().map(std::mem::take).unwrap_or_default();
        // Type 1 is a slash command. The other types are entries of context menus.
        self.commands = commands.into_iter().filter(|command| command["type"].is_null() || command["type"] == 1).collect();
        Ok(())
    }

    async fn press(&mut self, rest: &str) -> anyhow::Result<()> {
        let mut words = rest.split_whitespace();
        let message = self.message(words.next().with_context(|| usage("/press"))?)?;
        let position = words.next().map_or(Ok(1), str::parse::<usize>).ok().with_context(|| usage("/press"))?;
        let button = position.checked_sub(1).and_then(|at| list_buttons(message).get(at).copied());
        let button = button.with_context(|| format!("That message has no button {position}."))?;
        if let Some(url) = button["url"].as_str() {
            bail!("That button is a link: {}", clean(url));
        }
        if button["disabled"] == true {
            bail!("That button is disabled.");
        }
        let data = json!({ "component_type": button["type"], "custom_id": button["custom_id"] });
        let application = if message["application_id"].is_string() { &message["application_id"] } else { &message["author"]["id"] };
        let flags = message["flags"].as_u64().unwrap_or_default();
        let body = json!({ "type": 3, "application_id": application, "message_id": message["id"], "message_flags": flags, "data": data });
        let name = format!("“{}”", button_name(button));
        self.interact(body, name).await
    }

    async fn interact(&mut self, mut body: Value, name: String) -> anyhow::Result<()> {
        let nonce = self.make_nonce();
        body["channel_id"] = json!(self.channel);
        body["session_id"] = json!(self.gateway_id);
        body["nonce"] = json!(nonce);
        if self.directory.find_channel(&self.channel).is_none_or(|channel| !channel.is_direct()) {
            body["guild_id"] = json!(self.directory.guild);
        }
        self.pending.insert(nonce.clone(), name);
        let sent = self.rest.post("/interactions", &body).await;
        if sent.is_err() {
            self.pending.remove(&nonce);
        }
        sent.map(drop)
    }

    /// A number that grows with each call, also across sessions.
    fn make_nonce(&mut self) -> String {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_micros();
        self.last_nonce = u64::try_from(now).unwrap_or_default().max(self.last_nonce + 1);
        self.last_nonce.to_string()
    }
}

fn usage(command: &str) -> String {
    let known = COMMANDS.iter().find(|(form, _)| split_word(form).0 == command);
    known.map_or_else(String::new, |(form, description)| format!("Usage: {form}. {description}"))
}
