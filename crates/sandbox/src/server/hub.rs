//! All gateway sessions and presences. Events are published to the sessions that may receive them.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

use super::session::{Link, Session};
use crate::snowflake::Snowflake;
use crate::state::{Audience, Dispatch, Intents, World, without_content};

/// A user's presence.
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
    /// Sends an event to all its receivers. The JSON is rendered at most twice, with and without content, and not for each session.
    pub(crate) fn publish(&mut self, world: &World, dispatch: &Dispatch) {
        let (mut whole, mut gated): (Option<Arc<str>>, Option<Arc<str>>) = (None, None);
        for session in self.sessions.values_mut() {
            if !may_receive(session, dispatch, world) {
                continue;
            }
            let text = if may_read_content(session, dispatch, world) {
                whole.get_or_insert_with(|| dispatch.data.to_string().into())
            } else {
                gated.get_or_insert_with(|| without_content(dispatch.data.clone()).to_string().into())
            };
            session.push(dispatch.event, Arc::clone(text));
        }
    }

    /// Sends an event to one session only.
    pub(crate) fn send_to(&mut self, session: &str, event: &'static str, data: &Value) {
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

    /// Whether a session is on this connection.
    pub(crate) fn is_linked(&self, session: &str, link: &Link) -> bool {
        let current = self.sessions.get(session).and_then(|session| session.link.as_ref());
        current.is_some_and(|current| current.frames.same_channel(&link.frames))
    }

    /// All connected sessions.
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

    /// Sends a user's changed presence.
    pub(crate) fn announce_presence(&mut self, world: &World, user: Snowflake) {
        let data = self.guild_presence(world, user);
        self.publish(world, &Dispatch::new("PRESENCE_UPDATE", Audience::Guild, Intents::GUILD_PRESENCES, data));
    }
}

fn may_receive(session: &Session, dispatch: &Dispatch, world: &World) -> bool {
    if !session.intents.has(dispatch.intents) {
        return false;
    }
    match dispatch.audience {
        Audience::Guild => true,
        Audience::Channel(id) => world.channels.get(&id).is_some_and(|c| world.can_view(session.user, c)),
        Audience::User(user) => session.user == user,
    }
}

fn may_read_content(session: &Session, dispatch: &Dispatch, world: &World) -> bool {
    let Some(readers) = &dispatch.readers else { return true };
    let granted = || world.accounts.get(session.user).is_some_and(|account| account.intents_content);
    session.intents.has(Intents::MESSAGE_CONTENT) && granted() || readers.contains(&session.user)
}
