//! What one person sees: the session's state and the events that change it.

use std::{
    collections::{HashMap, HashSet},
    io::IsTerminal,
    time::Duration,
};

use anyhow::Context;
use serde_json::Value;
use tokio::{sync::mpsc, time::Instant};

use super::{
    client::{Event, Rest},
    directory::{Directory, id},
    lines::Screen,
    render::{Style, is_loading, render_message},
};

/// Clients repeat the typing event about every ten seconds.
const TYPING: Duration = Duration::from_secs(10);

pub(super) struct Session {
    pub rest: Rest,
    screen: Screen,
    pub style: Style,
    pub directory: Directory,
    /// The team's slash commands.
    pub commands: Vec<Value>,
    /// Message N is at index N - 1.
    pub shown: Vec<Value>,
    /// The open channel.
    pub channel: String,
    /// Id of the gateway session, which interactions name.
    pub gateway_id: String,
    /// Interactions without a result, by nonce, with their names.
    pub pending: HashMap<String, String>,
    pub last_nonce: u64,
    pub unread: HashSet<String>,
    typing: HashMap<String, Instant>,
    /// Until when `/wait` waits.
    pub wait_until: Option<Instant>,
}

impl Session {
    pub(super) fn new(rest: Rest, screen: Screen) -> Self {
        let no_color = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        Self {
            rest,
            screen,
            style: Style { enabled: std::io::stdout().is_terminal() && !no_color },
            directory: Directory::default(),
            commands: Vec::new(),
            shown: Vec::new(),
            channel: String::new(),
            gateway_id: String::new(),
            pending: HashMap::new(),
            last_nonce: 0,
            unread: HashSet::new(),
            typing: HashMap::new(),
            wait_until: None,
        }
    }

    /// Waits for the first events and opens the first channel.
    pub(super) async fn begin(&mut self, events: &mut mpsc::Receiver<anyhow::Result<Event>>) -> anyhow::Result<()> {
        while self.directory.guild.is_empty() {
            let (kind, data) = events.recv().await.context("the connection to the sandbox is closed")??;
            self.receive(&kind, data)?;
        }
        let first = self.directory.list_channels().first().map(|(id, _)| (*id).clone());
        self.open(first.context("the server has no text channel")?).await
    }

    pub(super) fn print(&mut self, text: &str) -> anyhow::Result<()> {
        self.screen.print(text)
    }

    pub(super) fn note(&mut self, text: &str) -> anyhow::Result<()> {
        self.screen.print(&self.style.dim(text))
    }

    pub(super) fn prompt(&self) -> String {
        format!("{}> ", self.directory.channel_name(&self.channel))
    }

    pub(super) fn receive(&mut self, kind: &str, data: Value) -> anyhow::Result<()> {
        self.directory.apply(kind, &data);
        match kind {
            "READY" => data["session_id"].as_str().unwrap_or_default().clone_into(&mut self.gateway_id),
            "MESSAGE_CREATE" => return self.show_new(data),
            "MESSAGE_UPDATE" => return self.show_changed(data),
            "TYPING_START" => return self.show_typing(&data),
            "INTERACTION_SUCCESS" => drop(self.finish_interaction(&data)),
            "INTERACTION_FAILURE" => {
                if let Some(name) = self.finish_interaction(&data) {
                    return self.print(&format!("{name} got no answer in time. Try again in a moment."));
                }
            }
            "INTERACTION_MODAL_CREATE" => {
                self.finish_interaction(&data);
                return self.print("That opens a form. Use the chat page for it.");
            }
            _ => {}
        }
        Ok(())
    }

    fn find_number(&self, id: &str) -> Option<usize> {
        self.shown.iter().rposition(|message| message["id"] == id).map(|at| at + 1)
    }

    pub(super) fn show(&mut self, message: Value) -> anyhow::Result<()> {
        let number = self.find_number(&id(&message)).unwrap_or(self.shown.len() + 1);
        let text = render_message(&message, number, &self.directory, self.style);
        match self.shown.get_mut(number - 1) {
            Some(place) => *place = message,
            None => self.shown.push(message),
        }
        self.screen.print(&text)
    }

    /// An own message arrives twice: as the answer to the request and as an event, in either order.
    pub(super) fn show_new(&mut self, message: Value) -> anyhow::Result<()> {
        if self.find_number(&id(&message)).is_some() {
            return Ok(());
        }
        let author = id(&message["author"]);
        self.typing.remove(&author);
        let channel = message["channel_id"].as_str().unwrap_or_default().to_owned();
        if channel == self.channel {
            self.end_wait(&message);
            return self.show(message);
        }
        if author != self.directory.me && self.unread.insert(channel.clone()) {
            let name = self.directory.user_name(&message["author"]);
            return self.note(&format!("{name} wrote in {}.", self.directory.channel_name(&channel)));
        }
        Ok(())
    }

    fn show_changed(&mut self, message: Value) -> anyhow::Result<()> {
        let Some(number) = self.find_number(&id(&message)) else { return Ok(()) };
        // An update may only add a thread, or new signatures to addresses of files.
        if message["channel_id"] != self.channel.as_str() || self.visible(&self.shown[number - 1]) == self.visible(&message) {
            self.shown[number - 1] = message;
            return Ok(());
        }
        self.end_wait(&message);
        self.show(message)
    }

    /// What a person sees of a message, without the signatures in addresses.
    fn visible(&self, message: &Value) -> String {
        let text = render_message(message, 0, &self.directory, self.style);
        text.split(' ').map(|word| word.split("?ex=").next().unwrap_or_default()).collect::<Vec<_>>().join(" ")
    }

    /// `/wait` ends with a complete message of somebody else.
    fn end_wait(&mut self, message: &Value) {
        if id(&message["author"]) != self.directory.me && !is_loading(message) {
            self.wait_until = None;
        }
    }

    fn show_typing(&mut self, data: &Value) -> anyhow::Result<()> {
        let who = data["user_id"].as_str().unwrap_or_default();
        let is_shown = self.typing.get(who).is_some_and(|since| since.elapsed() < TYPING);
        if data["channel_id"] != self.channel.as_str() || who == self.directory.me || is_shown {
            return Ok(());
        }
        self.typing.insert(who.to_owned(), Instant::now());
        let note = format!("{} is typing…", self.directory.person_name(who));
        self.note(&note)
    }

    fn finish_interaction(&mut self, data: &Value) -> Option<String> {
        self.pending.remove(data["nonce"].as_str()?)
    }
}
