//! Events on their way to clients: what they say, who may hear them, and the sessions that do.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

use super::intents::Intents;
use super::session::Session;
use crate::sandbox::snowflake::Snowflake;
use crate::sandbox::state::{World, without_content};

/// Who is told, before intents narrow it.
#[derive(Clone, Debug)]
pub(crate) enum Audience {
    Guild,
    /// Whoever can see this channel.
    Channel(Snowflake),
    User(Snowflake),
}

/// One event.
#[derive(Clone, Debug)]
pub(crate) struct Dispatch {
    pub(crate) event: &'static str,
    pub(crate) audience: Audience,
    pub(crate) intents: Intents,
    pub(crate) data: Value,
    /// For messages of the guild: who may read them without the message-content intent.
    pub(crate) readers: Option<Vec<Snowflake>>,
}

impl Dispatch {
    pub(crate) fn new(event: &'static str, audience: Audience, intents: Intents, data: Value) -> Self {
        Self { event, audience, intents, data, readers: None }
    }

    fn is_heard_by(&self, session: &Session, world: &World) -> bool {
        if !session.intents.has(self.intents) {
            return false;
        }
        match self.audience {
            Audience::Guild => true,
            Audience::Channel(id) => world.channels.get(&id).is_some_and(|c| world.can_view(session.user, c)),
            Audience::User(user) => session.user == user,
        }
    }

    fn is_readable_by(&self, session: &Session, world: &World) -> bool {
        let Some(readers) = &self.readers else { return true };
        let granted = || world.accounts.get(session.user).is_some_and(|account| account.intents_content);
        session.intents.has(Intents::MESSAGE_CONTENT) && granted() || readers.contains(&session.user)
    }
}

/// What a user shows as.
#[derive(Clone, Debug)]
pub(crate) struct Presence {
    pub(crate) status: String,
    pub(crate) activities: Value,
}

/// All sessions, connected or waiting to be resumed.
#[derive(Default)]
pub(crate) struct Hub {
    sessions: HashMap<String, Session>,
    presences: HashMap<Snowflake, Presence>,
}

impl Hub {
    /// Sends an event to all who hear it. Its JSON is written once with and once without content, not per session.
    pub(crate) fn publish(&mut self, world: &World, dispatch: &Dispatch) {
        let (mut whole, mut gated): (Option<Arc<str>>, Option<Arc<str>>) = (None, None);
        for session in self.sessions.values_mut() {
            if !dispatch.is_heard_by(session, world) {
                continue;
            }
            let text = if dispatch.is_readable_by(session, world) {
                whole.get_or_insert_with(|| dispatch.data.to_string().into())
            } else {
                gated.get_or_insert_with(|| without_content(dispatch.data.clone()).to_string().into())
            };
            session.push(dispatch.event, Arc::clone(text));
        }
    }

    /// Sends an event to one session only.
    pub(crate) fn tell(&mut self, session: &str, event: &'static str, data: &Value) {
        if let Some(session) = self.sessions.get_mut(session) {
            session.push(event, data.to_string().into());
        }
    }

    pub(crate) fn insert(&mut self, session: Session, resume_window: Duration) {
        self.sessions.retain(|_, old| !old.is_stale(resume_window));
        self.sessions.insert(session.id.clone(), session);
    }

    pub(crate) fn get_mut(&mut self, session: &str) -> Option<&mut Session> {
        self.sessions.get_mut(session)
    }

    pub(crate) fn remove(&mut self, session: &str) -> Option<Session> {
        self.sessions.remove(session)
    }

    /// Connected sessions of these users, or of everybody.
    pub(crate) fn connected(&self) -> impl Iterator<Item = &Session> {
        self.sessions.values().filter(|session| session.link.is_some())
    }

    pub(crate) fn is_online(&self, user: Snowflake) -> bool {
        self.connected().any(|session| session.user == user)
    }

    pub(crate) fn set_presence(&mut self, user: Snowflake, presence: Presence) {
        self.presences.insert(user, presence);
    }

    /// The presence of a user as `GUILD_MEMBERS_CHUNK` shows it.
    pub(crate) fn presence(&self, user: Snowflake) -> Value {
        let shown = self.presences.get(&user);
        let status = match shown.map(|presence| presence.status.as_str()) {
            _ if !self.is_online(user) => "offline",
            Some("invisible") => "offline",
            Some(status) => status,
            None => "online",
        };
        let client = if status == "offline" { json!({}) } else { json!({ "web": status }) };
        let activities = shown.map_or_else(|| json!([]), |presence| presence.activities.clone());
        json!({
            "user": { "id": user }, "status": status, "activities": activities, "client_status": client,
        })
    }

    /// The presence of a user as `PRESENCE_UPDATE` and `GUILD_CREATE` show it.
    pub(crate) fn guild_presence(&self, world: &World, user: Snowflake) -> Value {
        let mut presence = self.presence(user);
        presence["guild_id"] = json!(world.guild.id);
        presence
    }

    /// Tells who shows presences that a user's has changed.
    pub(crate) fn announce_presence(&mut self, world: &World, user: Snowflake) {
        let data = self.guild_presence(world, user);
        self.publish(world, &Dispatch::new("PRESENCE_UPDATE", Audience::Guild, Intents::GUILD_PRESENCES, data));
    }
}
