//! What arrives from a platform.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::ids::{ChannelId, MessageId, PersonaSlug, UserId};

/// A message as it reached one of the team's identities.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct InboundMessage {
    pub id: MessageId,
    pub channel: Channel,
    pub author: Author,
    pub text: String,
    /// Accounts that the text itself mentions, in order. The ping of a reply is not a mention.
    pub mentions: Vec<UserId>,
    pub reply_to: Option<ReplyTo>,
    pub attachments: Vec<Attachment>,
    pub sent_at: DateTime<Utc>,
    /// The persona whose identity received it. In a direct conversation it is the persona written to.
    pub seen_by: PersonaSlug,
    /// False when this identity lacks the content intent, so that text and attachments were withheld from it.
    pub complete: bool,
}

impl InboundMessage {
    /// Nothing to read: no text that shows and no file.
    pub fn is_empty(&self) -> bool {
        self.attachments.is_empty() && crate::text::without_invisible(&self.text).trim().is_empty()
    }
}

/// Where a message stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Channel {
    pub id: ChannelId,
    /// The name without `#`; empty in a direct conversation.
    pub name: String,
    pub place: Place,
}

/// What sort of place a channel is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Place {
    /// A channel of a server.
    Server,
    /// A thread below a channel.
    Thread { parent: ChannelId, parent_name: String, owner: Option<UserId> },
    /// A conversation between one person and one persona.
    Direct,
}

/// Who wrote a message. Decided by account id and the platform's bot flag, never by display name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Author {
    pub id: UserId,
    /// The display name, for showing only.
    pub name: String,
    pub kind: AuthorKind,
    /// Ids of the roles the author holds on the server.
    pub roles: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AuthorKind {
    Person,
    Persona(PersonaSlug),
    ForeignBot,
    /// The platform itself: a join, a pin, a thread opened.
    System,
}

/// The message that a reply answers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReplyTo {
    pub message: MessageId,
    /// The author's account, where the platform told it.
    pub author: Option<UserId>,
}

/// A file on a message, not yet fetched. Its name is for showing and never used as a path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attachment {
    pub id: String,
    pub name: String,
    /// Bytes, as the platform announced them.
    pub size: u64,
    pub content_type: Option<String>,
    pub url: String,
}

/// What a channel is for; from configuration, by id or by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChannelKind {
    Chat,
    Standup,
    Knowledge,
    Work,
    Ops,
    Ignore,
}

/// One line of a channel's transcript, whoever spoke.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Spoken {
    pub message: Option<MessageId>,
    pub speaker: Speaker,
    /// The agent that this answers, when one agent answers another.
    pub answers: Option<Speaker>,
    pub text: String,
    pub at: DateTime<Utc>,
    /// Spoken in a meeting, whose engine says who speaks: no talk of agents among themselves.
    pub in_meeting: bool,
}

/// Who spoke a line of a transcript.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Speaker {
    Person { id: UserId, name: String },
    Persona(PersonaSlug),
    ForeignBot { id: UserId, name: String },
}

impl Speaker {
    /// True for our personas and for foreign bots.
    pub fn is_agent(&self) -> bool {
        !matches!(self, Self::Person { .. })
    }
}
