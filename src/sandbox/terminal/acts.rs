//! What the person does: each command of the terminal, carried out.

use std::ops::ControlFlow;
use std::time::SystemTime;

use anyhow::{Context, bail};
use reqwest::Method;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    input::{COMMANDS, Input, parse_line},
    model::{Channel, Control, Message},
    screen::text,
    session::{OpenModal, Session},
    slash,
};

/// Messages shown when a channel is opened.
const OPENED: u8 = 20;
/// Milliseconds between 1970 and Discord's epoch; nonces are built like its ids.
const EPOCH_MS: u64 = 1_420_070_400_000;

/// Interaction types, as the API numbers them.
mod interaction {
    pub(super) const COMMAND: u8 = 2;
    pub(super) const COMPONENT: u8 = 3;
    pub(super) const MODAL: u8 = 5;
}

impl Session {
    /// Carries out one line; a refusal is told and ends nothing.
    ///
    /// # Errors
    /// When the screen is gone.
    pub(super) async fn enter(&mut self, line: &str) -> anyhow::Result<ControlFlow<()>> {
        let done = match self.modal.take() {
            Some(open) => self.answer_modal(open, line).await,
            None => match parse_line(line) {
                Input::Quit => return Ok(ControlFlow::Break(())),
                input => self.act(input).await,
            },
        };
        if let Err(error) = done {
            self.warn(&format!("{error:#}"))?;
        }
        Ok(ControlFlow::Continue(()))
    }

    async fn act(&mut self, input: Input) -> anyhow::Result<()> {
        match input {
            Input::Nothing | Input::Quit => Ok(()),
            Input::Hint(hint) => self.warn(&hint),
            Input::Say(text) => self.say(&text, None).await,
            Input::Help => self.help().await,
            Input::Channels => self.list_channels(),
            Input::Channel(name) => {
                let found = self.guild.find_channel_named(&name).map(|channel| channel.id.clone());
                self.open(found.with_context(|| format!("there is no channel “{name}”; /channel lists them"))?).await
            }
            Input::Threads => self.list_threads(),
            Input::Thread { number, name } => self.thread(number, name).await,
            Input::Members => self.list_members(),
            Input::Direct(name) => self.direct(&name).await,
            Input::History(count) => self.history(count).await,
            Input::Reply { number, text } => {
                let id = self.shown.get(number)?.id.clone();
                self.say(&text, Some(id)).await
            }
            Input::React { number, emoji } => self.react(number, &emoji).await,
            Input::Edit { number, text } => self.edit(number, &text).await,
            Input::Delete(number) => {
                let path = message_path(self.shown.get(number)?);
                self.rest.call(Method::DELETE, &path, None).await.map(drop)
            }
            Input::Press { number, control, values } => self.press(number, control, values).await,
            Input::File { path, text } => self.send_file(&path, &text).await,
            Input::Wait(seconds) => {
                self.waits_until = Some(tokio::time::Instant::now() + std::time::Duration::from_secs(seconds));
                Ok(())
            }
            Input::Slash { name, rest } => self.slash(&name, &rest).await,
        }
    }

    // ---- going about

    pub(super) async fn open(&mut self, channel: String) -> anyhow::Result<()> {
        self.channel = channel;
        self.forget_unread();
        let name = self.paint.bold(text::clean_line(&self.guild.channel_name(&self.channel)));
        self.print(&format!("── {name}"))?;
        self.history(OPENED).await
    }

    async fn history(&mut self, count: u8) -> anyhow::Result<()> {
        let messages: Vec<Message> = self.rest.get(&format!("/channels/{}/messages?limit={count}", self.channel)).await?;
        if messages.is_empty() {
            return self.note("nothing was said here yet; try “kelly, who is on the team?” (/help lists the commands)");
        }
        messages.into_iter().rev().try_for_each(|message| self.show(message))
    }

    fn list_channels(&mut self) -> anyhow::Result<()> {
        let names: Vec<_> = self.guild.list_channels().iter().map(|channel| self.guild.channel_name(&channel.id)).collect();
        self.print(&text::clean_line(&names.join("  ")))
    }

    fn list_threads(&mut self) -> anyhow::Result<()> {
        let threads = self.guild.list_threads(&self.channel);
        if threads.is_empty() {
            return self.note("no threads here; /thread N NAME starts one at message N");
        }
        let lines: Vec<_> = threads
            .iter()
            .map(|thread| format!("{} ({} messages)", text::clean_line(thread.name.as_deref().unwrap_or_default()), thread.message_count))
            .collect();
        self.print(&lines.join("\n"))
    }

    async fn thread(&mut self, number: usize, name: Option<String>) -> anyhow::Result<()> {
        let message = self.shown.get(number)?;
        let (id, path) = (message.id.clone(), message_path(message));
        if self.guild.find_channel(&id).is_none() {
            let name = name.with_context(|| format!("message {number} has no thread yet; /thread {number} NAME starts one"))?;
            let thread = self.rest.call(Method::POST, &format!("{path}/threads"), Some(&json!({ "name": name }))).await?;
            self.guild.put_channel(Channel::deserialize(&thread).context("reading the new thread")?);
        }
        self.open(id).await
    }

    fn list_members(&mut self) -> anyhow::Result<()> {
        let paint = self.paint;
        let line = |(name, bot, status): (super::guild::Name, bool, &str)| {
            format!("{}{} {}", paint.name(&name), if bot { paint.dim(" BOT") } else { String::new() }, paint.dim(status))
        };
        let lines: Vec<_> = self.guild.list_people().into_iter().map(line).collect();
        self.print(&lines.join("\n"))
    }

    async fn direct(&mut self, name: &str) -> anyhow::Result<()> {
        let user = self.guild.find_user_named(name).with_context(|| format!("nobody here is called “{name}”; /members lists everybody"))?;
        let body = json!({ "recipient_id": user.id });
        let channel = self.rest.call(Method::POST, "/users/@me/channels", Some(&body)).await?;
        let channel = Channel::deserialize(&channel).context("reading the direct channel")?;
        let id = channel.id.clone();
        self.guild.put_channel(channel);
        self.open(id).await
    }

    async fn help(&mut self) -> anyhow::Result<()> {
        self.refresh_commands().await;
        let own = COMMANDS.iter().map(|(form, words)| format!("{form:<22} {words}"));
        let team =
            self.commands.iter().map(|command| format!("{:<22} {}", slash::render_form(command), text::clean_line(&command.description)));
        let lines: Vec<_> = own.chain(std::iter::once("The team's commands:".to_owned())).chain(team).collect();
        self.print(&lines.join("\n"))
    }

    // ---- messages

    async fn say(&mut self, text: &str, reply_to: Option<String>) -> anyhow::Result<()> {
        let mut body = self.message_body(text);
        if let Some(id) = reply_to {
            body["message_reference"] = json!({ "message_id": id, "fail_if_not_exists": false });
        }
        let path = format!("/channels/{}/messages", self.channel);
        let sent = self.rest.call(Method::POST, &path, Some(&body)).await.context("not sent")?;
        self.message(&sent)
    }

    async fn send_file(&mut self, path: &str, text: &str) -> anyhow::Result<()> {
        let body = self.message_body(text);
        let to = format!("/channels/{}/messages", self.channel);
        let sent = self.rest.upload(&to, &body, path.as_ref()).await.context("not sent")?;
        self.message(&sent)
    }

    async fn edit(&mut self, number: usize, text: &str) -> anyhow::Result<()> {
        let path = message_path(self.shown.get(number)?);
        let body = json!({ "content": self.resolve_mentions(text) });
        let edited = self.rest.call(Method::PATCH, &path, Some(&body)).await.context("not changed")?;
        self.update(&edited)
    }

    fn message_body(&mut self, text: &str) -> Value {
        json!({ "content": self.resolve_mentions(text), "nonce": self.make_nonce(), "enforce_nonce": true })
    }

    /// `@Kelly` becomes a mention, `#ops` a link to the channel; other words stay as they are.
    fn resolve_mentions(&self, text: &str) -> String {
        let resolve = |word: &str| {
            let name = word.trim_end_matches(|c: char| c.is_ascii_punctuation() && c != '-' && c != '_');
            let rest = &word[name.len()..];
            let mention = match name.chars().next()? {
                '@' => format!("<@{}>", self.guild.find_user_named(name)?.id),
                '#' => format!("<#{}>", self.guild.find_channel_named(name)?.id),
                _ => return None,
            };
            Some(mention + rest)
        };
        // Splitting after each blank keeps the blanks as they were typed.
        text.split_inclusive(char::is_whitespace)
            .map(|piece| {
                let word = piece.trim_end();
                resolve(word).map_or_else(|| piece.to_owned(), |mention| mention + &piece[word.len()..])
            })
            .collect()
    }

    async fn react(&mut self, number: usize, emoji: &str) -> anyhow::Result<()> {
        let message = self.shown.get(number)?;
        let mine = message.reactions.iter().any(|reaction| reaction.me && reaction.emoji.name.as_deref() == Some(emoji));
        let method = if mine { Method::DELETE } else { Method::PUT };
        let path = format!("{}/reactions/{}/@me", message_path(message), encode(emoji));
        self.rest.call(method, &path, None).await.map(drop)
    }

    // ---- commands, buttons, modals

    async fn slash(&mut self, name: &str, rest: &str) -> anyhow::Result<()> {
        if !self.commands.iter().any(|command| command.name == name) {
            self.refresh_commands().await;
        }
        let command = self.commands.iter().find(|command| command.name == name);
        let command = command.with_context(|| format!("there is no command /{name}; /help lists them"))?;
        let data = slash::parse_invocation(command, rest, &self.guild).map_err(anyhow::Error::msg)?;
        let application = command.application_id.clone();
        self.interact(interaction::COMMAND, &application, json!({ "data": data }), format!("/{name}")).await
    }

    async fn press(&mut self, number: usize, position: usize, values: Vec<String>) -> anyhow::Result<()> {
        let message = self.shown.get(number)?;
        let controls = message.list_controls();
        let control = position
            .checked_sub(1)
            .and_then(|at| controls.get(at))
            .with_context(|| format!("message {number} has no button {position}"))?;
        if let Some(url) = &control.url {
            bail!("that button only leads to {}", text::clean_line(url));
        }
        if control.disabled {
            bail!("that button is out of use");
        }
        let mut data = json!({ "component_type": control.kind, "custom_id": control.custom_id });
        if control.kind != Control::BUTTON {
            if values.is_empty() {
                bail!("name what to choose: /press {number} {position} VALUE");
            }
            data["values"] = json!(values);
        }
        let application = message.application_id.clone().unwrap_or_else(|| message.author.id.clone());
        let rest = json!({ "message_id": message.id, "message_flags": message.flags, "data": data });
        let name = format!("“{}”", text::clean_line(control.name()));
        self.interact(interaction::COMPONENT, &application, rest, name).await
    }

    /// Takes one answer; with the last one the modal is sent.
    async fn answer_modal(&mut self, mut open: OpenModal, line: &str) -> anyhow::Result<()> {
        if line.trim() == "/cancel" {
            return self.note("left unanswered");
        }
        // The line that was being typed when the modal came is no answer: a first Enter begins.
        if open.next_is_required() && line.trim().is_empty() {
            self.modal = Some(open);
            return Ok(());
        }
        open.answers.push(line.trim().to_owned());
        if !open.is_complete() {
            self.modal = Some(open);
            return Ok(());
        }
        let application = open.modal.application_id.clone().unwrap_or_else(|| open.modal.application.id.clone());
        let title = format!("“{}”", text::clean_line(&open.modal.title));
        let data = json!({ "data": { "id": open.modal.id, "custom_id": open.modal.custom_id, "components": open.render_answers() } });
        self.interact(interaction::MODAL, &application, data, title).await
    }

    async fn interact(&mut self, kind: u8, application: &str, rest: Value, name: String) -> anyhow::Result<()> {
        let nonce = self.make_nonce();
        let mut body =
            json!({ "type": kind, "application_id": application, "channel_id": self.channel, "session_id": self.gateway, "nonce": nonce });
        if self.guild.find_channel(&self.channel).is_none_or(|channel| !channel.is_direct()) {
            body["guild_id"] = json!(self.guild.id);
        }
        if let (Value::Object(body), Value::Object(rest)) = (&mut body, rest) {
            body.extend(rest);
        }
        self.asked.insert(nonce.clone(), name);
        let sent = self.rest.call(Method::POST, "/interactions", Some(&body)).await;
        if sent.is_err() {
            self.asked.remove(&nonce);
        }
        sent.map(drop)
    }

    /// A number no other message of this person has: the time and a counter, as ids are built.
    fn make_nonce(&mut self) -> String {
        self.nonces += 1;
        let elapsed = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_millis();
        ((u64::try_from(elapsed).unwrap_or_default().saturating_sub(EPOCH_MS) << 22) | (self.nonces & 0x003f_ffff)).to_string()
    }
}

impl OpenModal {
    fn list_fields(&self) -> Vec<&Control> {
        let controls = self.modal.components.iter().flat_map(|row| &row.components);
        controls.filter(|control| control.kind == Control::TEXT_FIELD).collect()
    }

    pub(super) fn next_field(&self) -> String {
        let fields = self.list_fields();
        fields.get(self.answers.len()).map_or_else(String::new, |field| text::clean_line(field.name()))
    }

    fn next_is_required(&self) -> bool {
        self.list_fields().get(self.answers.len()).is_some_and(|field| field.required != Some(false))
    }

    fn is_complete(&self) -> bool {
        self.answers.len() >= self.list_fields().len()
    }

    /// The rows of the modal as they are sent back, with the answers in their order.
    fn render_answers(&self) -> Vec<Value> {
        let mut answers = self.answers.iter();
        let mut answer =
            |field: &Control| with_id(json!({ "type": field.kind, "custom_id": field.custom_id, "value": answers.next() }), field.id);
        self.modal
            .components
            .iter()
            .map(|row| {
                let fields: Vec<_> = row.components.iter().filter(|field| field.kind == Control::TEXT_FIELD).map(&mut answer).collect();
                with_id(json!({ "type": row.kind, "components": fields }), row.id)
            })
            .collect()
    }
}

fn with_id(mut component: Value, id: Option<u64>) -> Value {
    if let Some(id) = id {
        component["id"] = json!(id);
    }
    component
}

fn message_path(message: &Message) -> String {
    format!("/channels/{}/messages/{}", message.channel_id, message.id)
}

/// Percent-encodes an emoji for a path.
fn encode(text: &str) -> String {
    text.bytes()
        .map(
            |byte| {
                if byte.is_ascii_alphanumeric() || b"-._~:".contains(&byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") }
            },
        )
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{
        super::{client::Rest, guild::tests::example_guild, screen::Screen},
        *,
    };

    #[test]
    fn names_become_mentions_and_blanks_stay() {
        let rest = Rest::new("http://127.0.0.1:9", "token").expect("a client needs no server");
        let mut session = Session::new(rest, Screen::plain(std::io::sink()), std::sync::Arc::default());
        session.guild = example_guild();
        assert_eq!(session.resolve_mentions("@Kelly,  see #ops. @nobody a@kelly"), "<@7>,  see <#21>. @nobody a@kelly");
    }

    #[test]
    fn emoji_are_encoded_for_a_path() {
        assert_eq!(encode("👍"), "%F0%9F%91%8D");
        assert_eq!(encode("name:12/.."), "name:12%2F..");
    }

    #[test]
    fn answers_of_a_modal_go_back_in_their_rows() {
        let modal = json!({ "id": "1", "custom_id": "m", "components": [
            { "type": 1, "id": 1, "components": [{ "type": 4, "id": 2, "custom_id": "why", "label": "Why" }] },
            { "type": 1, "components": [{ "type": 4, "custom_id": "more", "required": false }] }] });
        let modal = Deserialize::deserialize(&modal).expect("a modal");
        let mut open = OpenModal { modal, answers: vec![] };
        assert_eq!(open.next_field(), "Why");
        assert!(open.next_is_required());
        open.answers.push("because".to_owned());
        assert!(!open.next_is_required() && !open.is_complete());
        open.answers.push(String::new());
        assert!(open.is_complete());
        let expected = json!([{ "type": 1, "id": 1, "components": [{ "type": 4, "id": 2, "custom_id": "why", "value": "because" }] },
            { "type": 1, "components": [{ "type": 4, "custom_id": "more", "value": "" }] }]);
        assert_eq!(json!(open.render_answers()), expected);
    }
}
