//! Converts Slack's reports to the kernel's events, each report once.

use std::collections::HashSet;
use std::sync::{Arc, Mutex};

use kernel::chat::PlatformEvent;
use kernel::chat::message::{Author, AuthorKind, Channel, InboundMessage};
use kernel::chat::store::Reaction;
use kernel::ids::PersonaSlug;
use kernel::persona::roster::Roster;
use serde_json::Value;
use tokio::sync::mpsc;

use crate::adapters::slack::accounts::{App, Apps};
use crate::adapters::slack::api::Api;
use crate::adapters::slack::directory::{Directory, KnownChannel};
use crate::adapters::slack::emoji::shown;
use crate::adapters::slack::ids::{channel_id, message_id, user_id};
use crate::adapters::slack::inbound::{SlackMessage, instant};
use crate::adapters::slack::manifest::STOPPED;
use crate::adapters::slack::markup::read;
use crate::adapters::slack::sessions::Sessions;

/// How many reports are remembered at least. Slack sends one again within minutes.
const REMEMBERED: usize = 8192;

/// Drops repeated reports, which come to another app of the team or on another connection.
///
/// For messages this is only an optimisation, because the inbox takes each one once in any case. For commands and button presses it is the only
/// protection against running twice.
#[derive(Default)]
pub(super) struct Seen(Mutex<(HashSet<String>, HashSet<String>)>);

impl Seen {
    pub(super) fn is_new(&self, key: String) -> bool {
        let mut generations = self.0.lock().expect("no code panics while it holds the keys");
        let (young, old) = &mut *generations;
        if young.contains(&key) || old.contains(&key) {
            return false;
        }
        if young.len() >= REMEMBERED {
            *old = std::mem::take(young);
        }
        young.insert(key);
        true
    }
}

pub(super) struct Hub {
    pub(super) api: Arc<Api>,
    pub(super) apps: Arc<Apps>,
    pub(super) roster: Arc<Roster>,
    pub(super) directory: Directory,
    pub(super) seen: Seen,
    pub(super) sessions: Sessions,
    pub(super) events: mpsc::Sender<PlatformEvent>,
    /// The names of commands and command groups.
    pub(super) commands: Vec<&'static str>,
}

impl Hub {
    pub(super) async fn announce(&self, event: PlatformEvent) {
        // The receiver is dropped when the team stops.
        let _ = self.events.send(event).await;
    }

    /// Handles an event of the Events API, as an app received it.
    pub(super) async fn take_event(&self, app: &App, payload: &Value) {
        let event = &payload["event"];
        let text = |pointer: &str| event.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
        let is_own = |user: &str| self.apps.find_account(user) == Some(&app.persona);
        match text("/type") {
            "message" => self.take_message(app, event).await,
            "reaction_added" if self.apps.find_account(text("/user")).is_none() => self.take_reaction(app, event).await,
            "reaction_removed" if text("/item/type") == "message" => {
                let message = message_id(text("/item/channel"), text("/item/ts"));
                let person = Some(user_id(text("/user")));
                self.announce(PlatformEvent::Unreacted { message, person, emoji: Some(shown(text("/reaction"))) }).await;
            }
            "member_joined_channel" if is_own(text("/user")) => {
                self.directory.look_up(&self.api, &app.speaking, text("/channel")).await;
                self.directory.note_member(text("/channel"), &app.persona, true);
                self.announce(PlatformEvent::PermissionsChanged).await;
            }
            "member_left_channel" if is_own(text("/user")) => self.directory.note_member(text("/channel"), &app.persona, false),
            "channel_left" | "group_left" => self.directory.note_member(text("/channel"), &app.persona, false),
            "channel_rename" | "group_rename" => self.directory.rename(text("/channel/id"), text("/channel/name")),
            "channel_shared" | "channel_unshared" => {
                self.directory.ask_about(&self.api, &app.speaking, text("/channel")).await;
            }
            STOPPED if self.seen.is_new(format!("stopped {} {}", text("/channel"), text("/event_ts"))) => {
                let (channel, thread) = (text("/channel"), text("/thread_ts"));
                let author = self.directory.find_person(&self.api, &app.speaking, text("/user"), None).await;
                let place = self.channel_of(app, channel, Some(thread), None).await;
                self.announce(PlatformEvent::StopPressed { author: Box::new(author), channel: Box::new(place) }).await;
                self.sessions.stop(&app.speaking, channel, thread);
            }
            "channel_archive" | "channel_deleted" | "group_archive" | "group_deleted" => self.directory.forget(text("/channel")),
            "channel_unarchive" | "group_unarchive" => self.announce(PlatformEvent::PermissionsChanged).await,
            "user_change" => self.directory.forget_person(text("/user/id")),
            _ => {}
        }
    }

    async fn take_message(&self, app: &App, event: &Value) {
        let Ok(message) = serde_json::from_value::<SlackMessage>(event.clone()) else {
            tracing::warn!("Slack reported a message that cannot be read");
            return;
        };
        match message.subtype.as_deref() {
            Some("message_changed") => self.take_change(&message.channel, event).await,
            Some("message_deleted") => {
                let deleted = event["deleted_ts"].as_str().unwrap_or_default();
                let thread = event["previous_message"]["thread_ts"].as_str().filter(|thread| *thread != deleted);
                self.take_deletion(&message.channel, thread, deleted).await;
            }
            _ if message.is_said()
                && self.author_among_us(&message).is_none()
                && self.seen.is_new(format!("message {} {}", message.channel, message.ts)) =>
            {
                let inbound = self.read(app, message).await;
                self.announce(PlatformEvent::Message(Box::new(inbound))).await;
            }
            _ => {}
        }
    }

    async fn take_deletion(&self, channel: &str, thread: Option<&str>, stamp: &str) {
        if self.seen.is_new(format!("deleted {channel} {stamp}")) {
            let (messages, channel) = (vec![message_id(channel, stamp)], channel_id(channel, thread));
            self.announce(PlatformEvent::Deleted { messages, channel }).await;
        }
    }

    /// The persona that wrote a message. None if it is not from the team.
    fn author_among_us(&self, message: &SlackMessage) -> Option<PersonaSlug> {
        let ids = [message.user.as_deref(), message.bot_id.as_deref()];
        let owner = ids.into_iter().flatten().find_map(|id| self.apps.find_account(id))?;
        let guest = message.username.as_deref().and_then(|name| self.roster.personas().iter().find(|persona| persona.name == name));
        Some(guest.map_or_else(|| owner.clone(), |guest| guest.slug.clone()))
    }

    /// Converts a message that an app received or read.
    pub(super) async fn read(&self, app: &App, message: SlackMessage) -> InboundMessage {
        let channel = self.channel_of(app, &message.channel, message.thread(), message.parent_user_id.as_deref()).await;
        let account = message.user.as_deref().or(message.bot_id.as_deref()).unwrap_or_default();
        let bot = |kind: AuthorKind, name: &str| Author {
            id: user_id(account),
            name: name.to_owned(),
            aliases: Vec::new(),
            kind,
            roles: Vec::new(),
        };
        let author = match (self.author_among_us(&message), &message.user) {
            (Some(persona), _) => bot(AuthorKind::Persona(persona.clone()), self.roster.name_of(&persona)),
            (None, Some(user)) => {
                let author = self.directory.find_person(&self.api, &app.speaking, user, message.home()).await;
                // An app may post as a person, but it still counts as an app.
                let kind = if message.bot_id.is_some() { AuthorKind::ForeignBot } else { author.kind.clone() };
                Author { kind, ..author }
            }
            (None, None) => bot(AuthorKind::ForeignBot, message.username.as_deref().unwrap_or(account)),
        };
        message.into_inbound(channel, author, app.persona.clone())
    }

    /// A person's edit, or the titles that Slack has found for links.
    async fn take_change(&self, channel: &str, event: &Value) {
        let Ok(now) = serde_json::from_value::<SlackMessage>(event["message"].clone()) else { return };
        if now.is_tombstone() {
            return self.take_deletion(channel, now.thread(), &now.ts).await;
        }
        if self.author_among_us(&now).is_some() || now.bot_id.is_some() {
            return;
        }
        let message = message_id(channel, &now.ts);
        let place = channel_id(channel, now.thread());
        let before = event.pointer("/previous_message/edited/ts").and_then(Value::as_str);
        if let Some(edited) = now.edited.as_ref().filter(|edited| Some(edited.ts.as_str()) != before) {
            if self.seen.is_new(format!("edited {channel} {} {}", now.ts, edited.ts)) {
                let (text, edited_at) = (Some(read(&now.text)), instant(&edited.ts));
                self.announce(PlatformEvent::Edited { message, channel: place, text, edited_at }).await;
            }
            return;
        }
        for attachment in event.pointer("/message/attachments").and_then(Value::as_array).into_iter().flatten() {
            let text = |name: &str| attachment[name].as_str().filter(|text| !text.trim().is_empty()).map(str::to_owned);
            let Some((url, title)) = text("from_url").or_else(|| text("title_link")).zip(text("title")) else { continue };
            if self.seen.is_new(format!("link {channel} {} {url}", now.ts)) {
                let (message, channel) = (message.clone(), place.clone());
                self.announce(PlatformEvent::Unfurled { message, channel, url, title }).await;
            }
        }
    }

    async fn take_reaction(&self, app: &App, event: &Value) {
        let text = |pointer: &str| event.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
        if text("/item/type") != "message" {
            return;
        }
        let (channel, stamp, user) = (text("/item/channel"), text("/item/ts"), text("/user"));
        if !self.seen.is_new(format!("reacted {channel} {stamp} {user} {} {}", text("/reaction"), text("/event_ts"))) {
            return;
        }
        let person = self.directory.find_person(&self.api, &app.speaking, user, None).await;
        if person.kind != AuthorKind::Person {
            return;
        }
        let reaction = Reaction {
            message: message_id(channel, stamp),
            channel: channel_id(channel, None),
            person: person.id,
            name: person.name,
            emoji: shown(text("/reaction")),
        };
        self.announce(PlatformEvent::Reacted(Box::new(reaction))).await;
    }

    /// The channel or thread of a message. `parent`: who wrote the message on which the thread hangs.
    pub(super) async fn channel_of(&self, app: &App, channel: &str, thread: Option<&str>, parent: Option<&str>) -> Channel {
        let known = if channel.is_empty() { None } else { self.directory.look_up(&self.api, &app.speaking, channel).await };
        // A channel that cannot be looked up counts as private.
        let known = known.unwrap_or_else(|| KnownChannel::unknown(channel));
        match thread {
            Some(thread) => known.describe_thread(channel, thread, parent.map(user_id)),
            None => known.describe(channel),
        }
    }
}
