//! What the team posts.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use super::ids::{ChannelId, MessageId, OutboxId, PersonaSlug, TurnId, UserId};

/// One platform message to be sent: a row of the outbox.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OutboundMessage {
    pub id: OutboxId,
    /// Who speaks. Every message names its identity; there is no default one.
    pub persona: PersonaSlug,
    pub channel: ChannelId,
    /// The turn whose answer this is, or a part of it.
    pub turn: Option<TurnId>,
    pub kind: OutboundKind,
    /// At most 2000 characters, as Discord counts them; `chat::split` sees to it.
    pub text: String,
    pub reply_to: Option<MessageId>,
    pub files: Vec<OutboundFile>,
    /// Accounts that this message may ping. Nobody else is, whatever the text says.
    pub pings: Vec<UserId>,
}

impl OutboundMessage {
    /// The key by which the platform drops a repetition. The same row always gives the same nonce, so a retry after a crash is
    /// the same message. Discord takes at most 25 characters; the id is a hyphenless UUIDv7, whose first 25 hold the time and 52 random bits.
    pub fn nonce(&self) -> String {
        self.id.as_str().chars().take(25).collect()
    }
}

/// What a message is, so that the team's own lines are never taken for talk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OutboundKind {
    /// A persona speaks.
    Answer,
    /// The team says something about itself: halted, out of budget, interrupted. Never part of a context and never answered.
    Notice,
}

impl OutboundKind {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Answer => "answer",
            Self::Notice => "notice",
        }
    }
}

/// A file that goes along with a message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutboundFile {
    pub name: String,
    pub text: String,
}

/// A message that the platform has accepted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Posted {
    pub message: MessageId,
    pub at: DateTime<Utc>,
}

/// Where an outbox row stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DeliveryState {
    /// To be sent, at the first or a later attempt.
    Pending,
    Sent,
    /// Given up on, with a reason.
    Failed,
}

impl DeliveryState {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Sent => "sent",
            Self::Failed => "failed",
        }
    }
}
