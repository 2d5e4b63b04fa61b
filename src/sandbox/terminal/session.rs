//! One person's session: what the server says comes to the screen, here; what the person types goes
//! to the server, in `acts.rs`.

use std::{
    collections::{HashMap, HashSet},
    sync::{Arc, RwLock},
    time::{Duration, Instant},
};

use anyhow::Context;
use serde::Deserialize;
use serde_json::Value;
use tokio::sync::mpsc;

use super::{
    client::{Rest, gateway::Event},
    guild::Guild,
    model::{Command, Message, Modal},
    screen::{Paint, Screen, complete::Words, message::render_message, text},
    shown::Shown,
};

/// Typing lasts about ten seconds, so one line per person is enough for as long.
const TYPING: Duration = Duration::from_secs(10);

pub(super) struct Session {
    pub(super) rest: Rest,
    pub(super) guild: Guild,
    pub(super) shown: Shown,
    pub(super) commands: Vec<Command>,
    /// The open channel or thread.
    pub(super) channel: String,
    /// The gateway session, which interactions name.
    pub(super) gateway: String,
    /// Interactions without an outcome yet: nonce to what the person typed.
    pub(super) asked: HashMap<String, String>,
    pub(super) modal: Option<OpenModal>,
    /// Until when a script waits for the next answer.
    pub(super) waits_until: Option<tokio::time::Instant>,
    pub(super) paint: Paint,
    pub(super) nonces: u64,
    screen: Screen,
    words: Arc<RwLock<Words>>,
    typing: HashMap<String, Instant>,
    unread: HashSet<String>,
}

/// A modal whose fields are asked for one after the other.
pub(super) struct OpenModal {
    pub modal: Modal,
    pub answers: Vec<String>,
}

#[derive(Deserialize)]
struct CommandIndex {
    application_commands: Vec<Command>,
}

impl Session {
    pub(super) fn new(rest: Rest, screen: Screen, words: Arc<RwLock<Words>>) -> Self {
        Self {
            rest,
            guild: Guild::default(),
            shown: Shown::default(),
            commands: Vec::new(),
            channel: String::new(),
            gateway: String::new(),
            asked: HashMap::new(),
            modal: None,
            waits_until: None,
            paint: Paint::detect(),
            nonces: 0,
            screen,
            words,
            typing: HashMap::new(),
            unread: HashSet::new(),
        }
    }

    /// Waits until the server is known, then opens its first channel.
    ///
    /// # Errors
    /// When the server refuses this account, or has no channel.
    pub(super) async fn begin(&mut self, events: &mut mpsc::Receiver<Event>) -> anyhow::Result<()> {
        while self.guild.id.is_empty() {
            match events.recv().await {
                Some(Event::Dispatch { kind, data }) => self.dispatch(&kind, &data).await?,
                Some(Event::Lost) => self.note("connecting…")?,
                Some(Event::Refused(reason)) => anyhow::bail!("the sandbox refused this account: {reason}"),
                None => anyhow::bail!("the connection to the sandbox ended"),
            }
        }
        let first = self.guild.list_channels().first().map(|channel| channel.id.clone());
        self.refresh_commands().await;
        self.open(first.context("the server has no channel to talk in")?).await
    }

    pub(super) fn print(&mut self, text: &str) -> anyhow::Result<()> {
        self.screen.print(text)
    }

    /// A quiet line beside the conversation.
    pub(super) fn note(&mut self, text: &str) -> anyhow::Result<()> {
        self.screen.print(&self.paint.dim(text))
    }

    /// Something the person should notice.
    pub(super) fn warn(&mut self, text: &str) -> anyhow::Result<()> {
        self.screen.print(&self.paint.warn(text))
    }

    pub(super) fn prompt(&self) -> String {
        match &self.modal {
            Some(open) => format!("{}: ", open.next_field()),
            None => format!("{}> ", text::clean_line(&self.guild.channel_name(&self.channel))),
        }
    }

    /// Asks the server for the team's commands; without an answer the known ones stay.
    pub(super) async fn refresh_commands(&mut self) {
        let path = format!("/guilds/{}/application-command-index", self.guild.id);
        if let Ok(index) = self.rest.get::<CommandIndex>(&path).await {
            self.commands = index.application_commands.into_iter().filter(|command| command.kind.is_none_or(|kind| kind == 1)).collect();
        }
        self.gather_words();
    }

    fn gather_words(&self) {
        if let Ok(mut words) = self.words.write() {
            *words = Words::gather(&self.guild, &self.commands);
        }
    }

    pub(super) fn show(&mut self, message: Message) -> anyhow::Result<()> {
        let number = self.shown.record(message);
        let lines = render_message(self.shown.get(number)?, number, &self.guild, self.paint);
        self.print(&lines)
    }

    /// One event of the gateway.
    ///
    /// # Errors
    /// When the screen is gone. What cannot be understood is left out, as a newer server may say more.
    pub(super) async fn receive(&mut self, event: &Event) -> anyhow::Result<()> {
        match event {
            Event::Dispatch { kind, data } => self.dispatch(kind, data).await,
            Event::Lost => self.note("reconnecting…"),
            Event::Refused(reason) => self.warn(&format!("the sandbox refused this account: {reason}")),
        }
    }

    async fn dispatch(&mut self, kind: &str, data: &Value) -> anyhow::Result<()> {
        if self.guild.apply(kind, data).is_err() {
            return Ok(());
        }
        match kind {
            "READY" => self.gateway = data["session_id"].as_str().unwrap_or_default().to_owned(),
            "GUILD_CREATE" if !self.channel.is_empty() => self.catch_up().await?,
            "MESSAGE_CREATE" => self.message(data)?,
            "MESSAGE_UPDATE" => self.update(data)?,
            "MESSAGE_DELETE" => self.deleted(data)?,
            "MESSAGE_REACTION_ADD" => self.reaction(data)?,
            "TYPING_START" => self.type_start(data)?,
            "THREAD_CREATE" => self.gather_words(),
            "INTERACTION_SUCCESS" => drop(self.settle(data)),
            "INTERACTION_FAILURE" => {
                if let Some(asked) = self.settle(data) {
                    self.warn(&format!("the team did not answer {asked} in time; try again in a moment"))?;
                }
            }
            "INTERACTION_MODAL_CREATE" => self.ask_modal(data)?,
            _ => {}
        }
        Ok(())
    }

    /// After a new session: what was said while we were away.
    async fn catch_up(&mut self) -> anyhow::Result<()> {
        self.refresh_commands().await;
        let Some(last) = self.shown.find_last(&self.channel).map(|message| message.id.clone()) else { return Ok(()) };
        let missed: anyhow::Result<Vec<Message>> =
            self.rest.get(&format!("/channels/{}/messages?limit=100&after={last}", self.channel)).await;
        match missed {
            Ok(missed) => missed.into_iter().rev().try_for_each(|message| self.show(message)),
            Err(error) => self.warn(&format!("what was said meanwhile could not be read: {error:#}")),
        }
    }

    /// A new message. Own ones come twice, as the answer to the request and as an event, in either order.
    pub(super) fn message(&mut self, data: &Value) -> anyhow::Result<()> {
        let Ok(message) = Message::deserialize(data) else { return Ok(()) };
        if self.shown.find_number(&message.id).is_some() {
            return Ok(());
        }
        let own = message.author.id == self.guild.me.id;
        self.typing.remove(&message.author.id);
        self.guild.count_message(&message.channel_id);
        if message.channel_id == self.channel {
            if !own && !message.is_loading() {
                self.waits_until = None;
            }
            return self.show(message);
        }
        if !own && self.unread.insert(message.channel_id.clone()) {
            let author = text::clean_line(&self.guild.author(&message).text);
            let place = text::clean_line(&self.guild.channel_name(&message.channel_id));
            return self.note(&format!("{author} wrote in {place}"));
        }
        Ok(())
    }

    pub(super) fn update(&mut self, data: &Value) -> anyhow::Result<()> {
        let Ok(message) = Message::deserialize(data) else { return Ok(()) };
        let Some(number) = self.shown.find_number(&message.id) else { return Ok(()) };
        let before = self.shown.get(number)?;
        if message.channel_id != self.channel || is_same_to_readers(before, &message) {
            self.shown.record(message);
            return Ok(());
        }
        if !message.is_loading() && message.author.id != self.guild.me.id {
            self.waits_until = None;
        }
        self.show(message)
    }

    fn deleted(&mut self, data: &Value) -> anyhow::Result<()> {
        match self.shown.find_number(data["id"].as_str().unwrap_or_default()) {
            Some(number) => self.note(&format!("{number:>3}. was deleted")),
            None => Ok(()),
        }
    }

    fn reaction(&mut self, data: &Value) -> anyhow::Result<()> {
        let Some(number) = self.shown.find_number(data["message_id"].as_str().unwrap_or_default()) else { return Ok(()) };
        let who = text::clean_line(&self.guild.name_by_id(data["user_id"].as_str().unwrap_or_default()).text);
        let emoji = text::clean_line(data["emoji"]["name"].as_str().unwrap_or("?"));
        self.note(&format!("{who} reacted {emoji} to {number}"))
    }

    fn type_start(&mut self, data: &Value) -> anyhow::Result<()> {
        let who = data["user_id"].as_str().unwrap_or_default();
        let lately = self.typing.get(who).is_some_and(|since| since.elapsed() < TYPING);
        if data["channel_id"] != self.channel.as_str() || who == self.guild.me.id || lately {
            return Ok(());
        }
        self.typing.insert(who.to_owned(), Instant::now());
        let name = text::clean_line(&self.guild.name_by_id(who).text);
        self.note(&format!("{name} is thinking…"))
    }

    fn settle(&mut self, data: &Value) -> Option<String> {
        self.asked.remove(data["nonce"].as_str()?)
    }

    fn ask_modal(&mut self, data: &Value) -> anyhow::Result<()> {
        self.settle(data);
        let Ok(modal) = Modal::deserialize(data) else { return Ok(()) };
        let title = self.paint.bold(text::clean_line(&modal.title));
        self.waits_until = None;
        self.modal = Some(OpenModal { modal, answers: Vec::new() });
        self.print(&format!("{title} {}", self.paint.dim("(press Enter, then answer; /cancel leaves)")))
    }

    pub(super) fn forget_unread(&mut self) {
        self.unread.remove(&self.channel);
    }
}

/// Whether a reader would see no difference: an update may only bring a thread or a resolved link.
fn is_same_to_readers(before: &Message, after: &Message) -> bool {
    before.content == after.content
        && before.flags == after.flags
        && before.embeds.len() == after.embeds.len()
        && before.components.len() == after.components.len()
}
