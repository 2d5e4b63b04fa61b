//! The log of what happened: who did what to what, when, and who may see it.
//!
//! A feature calls [`record`] in the transaction of the change, so there is no event without its change and no change without its event. Rows are only
//! added, and deleted when they are old ([`retention`]). Nobody polls a table to learn of a change: [`Database::subscribe`](crate::db::Database::subscribe)
//! wakes its caller after each commit that recorded something, in this process or another one.
//!
//! | the process dies | what is stored | what follows |
//! | --- | --- | --- |
//! | before the commit of the change | neither change nor event | the change is made again, and recorded then |
//! | after the commit, before anybody was woken | both | a subscriber reads the log when it starts, so it misses nothing |

mod feed;
mod store;

use chrono::{DateTime, Utc};
use serde_json::{Map, Value};

use crate::actor::Actor;
use crate::db::Who;
use crate::ids::{ChannelId, PersonaSlug};

pub use feed::Subscription;
pub(crate) use feed::{CHANNEL, Feed};
pub(crate) use store::repair_order;
pub use store::{Cursor, More, Page, record, record_all, retention};

/// What the events of a feature are about. Subscriptions are per topic.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Topic {
    name: &'static str,
    /// Whether other processes are notified.
    is_told_to_others: bool,
}

impl Topic {
    pub const fn new(name: &'static str) -> Self {
        Self { name, is_told_to_others: true }
    }

    /// Wakes subscribers of this process only, which costs no statement. PostgreSQL commits transactions that notify one after another, so a
    /// topic with many small transactions should not notify.
    #[must_use]
    pub const fn within_process(self) -> Self {
        Self { is_told_to_others: false, ..self }
    }

    pub fn as_str(self) -> &'static str {
        self.name
    }

    pub(crate) fn is_told_to_others(self) -> bool {
        self.is_told_to_others
    }
}

/// Who may see an event. For a reader: the rights with which the events are read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Audience {
    /// Everybody in the team.
    Team,
    /// Those who can read this channel. Also used for private conversations.
    Channel(ChannelId),
    Operators,
}

impl Audience {
    /// Whether `reader` may see events for this audience. Operators see everything.
    pub fn includes(&self, reader: &Self) -> bool {
        matches!(self, Self::Team) || *reader == Self::Operators || self == reader
    }

    fn as_str(&self) -> &'static str {
        match self {
            Self::Team => "team",
            Self::Channel(_) => "channel",
            Self::Operators => "operators",
        }
    }

    fn channel(&self) -> Option<&ChannelId> {
        match self {
            Self::Channel(channel) => Some(channel),
            Self::Team | Self::Operators => None,
        }
    }
}

/// An event to be recorded.
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    topic: Topic,
    subject: String,
    kind: &'static str,
    actor: Option<Who>,
    audience: Audience,
    payload: Map<String, Value>,
    at: DateTime<Utc>,
}

impl Event {
    /// A new event. By default it was done by the program and is seen by operators.
    pub fn new(topic: Topic, subject: &str, kind: &'static str, at: DateTime<Utc>) -> Self {
        Self { topic, subject: subject.to_owned(), kind, actor: None, audience: Audience::Operators, payload: Map::new(), at }
    }

    #[must_use]
    pub fn by(self, actor: &Actor) -> Self {
        Self { actor: Some(actor.into()), ..self }
    }

    #[must_use]
    pub fn by_persona(self, persona: &PersonaSlug) -> Self {
        self.by(&Actor::Persona(persona.clone()))
    }

    /// Done by a person of whom only the name is known.
    #[must_use]
    pub fn by_name(self, name: &str) -> Self {
        self.by(&Actor::Person { id: "".into(), name: name.to_owned() })
    }

    /// Done by somebody who is neither persona nor person.
    #[must_use]
    pub fn by_key(self, actor: Who) -> Self {
        Self { actor: Some(actor), ..self }
    }

    #[must_use]
    pub fn seen_by(self, audience: Audience) -> Self {
        Self { audience, ..self }
    }

    /// Seen by those who can read this channel.
    #[must_use]
    pub fn seen_in(self, channel: &ChannelId) -> Self {
        self.seen_by(Audience::Channel(channel.clone()))
    }

    /// Adds a value to the payload. Null is left out. The payload must not quote what a person said, because it is kept and shown separately from
    /// messages.
    #[must_use]
    pub fn with(mut self, key: &'static str, value: impl Into<Value>) -> Self {
        let value = value.into();
        if !value.is_null() {
            self.payload.insert(key.to_owned(), value);
        }
        self
    }
}

/// An event of the log.
#[derive(Debug, Clone, PartialEq)]
pub struct Recorded {
    pub position: i64,
    pub at: DateTime<Utc>,
    pub topic: String,
    pub subject: String,
    pub kind: String,
    /// None: the program.
    pub actor: Option<Who>,
    pub audience: Audience,
    pub payload: Value,
}

impl Recorded {
    /// A text of the payload.
    pub fn text(&self, key: &str) -> Option<&str> {
        self.payload.get(key).and_then(Value::as_str)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_done_in_a_channel_is_for_those_who_read_it() {
        let (general, private) = (Audience::Channel("1".into()), Audience::Channel("2".into()));
        for (audience, sees) in
            [(&Audience::Team, [true; 4]), (&general, [false, true, false, true]), (&Audience::Operators, [false, false, false, true])]
        {
            let readers = [&Audience::Team, &general, &private, &Audience::Operators];
            assert_eq!(readers.map(|reader| audience.includes(reader)), sees, "{audience:?}");
        }
    }

    #[test]
    fn a_payload_holds_what_is_known() {
        let event = Event::new(Topic::new("item"), "1", "done", DateTime::UNIX_EPOCH).with("note", None::<String>).with("run", 2);
        assert_eq!(Value::Object(event.payload), serde_json::json!({"run": 2}));
        assert_eq!(event.audience, Audience::Operators, "who may see it is said, or nobody else does");
    }
}
