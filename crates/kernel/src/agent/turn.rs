//! A turn: one persona asked once.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::ids::{AskId, ChainId, ChannelId, MessageId, PersonaSlug, TurnId};

/// One persona asked once: context in, reply out. A row of the store from the moment it is decided on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Turn {
    pub id: TurnId,
    /// The message of a person that it answers; for an agent's answer to an agent, the one that started the chain.
    pub message: MessageId,
    pub chain: ChainId,
    pub channel: ChannelId,
    pub persona: PersonaSlug,
    pub trigger: Trigger,
    pub state: TurnState,
    pub queued_at: DateTime<Utc>,
}

/// What a turn answers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Trigger {
    /// A person's message.
    Message,
    /// What another persona said to this one in `turn`.
    Agent { from: PersonaSlug, turn: TurnId },
    /// A person wants another persona asked; this one asks and relays.
    Ask { ask: AskId },
}

/// Where a turn stands. `Queued → Answered | Silent | Failed | Cancelled`. Whether one that is not over runs is known to its job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TurnState {
    Queued,
    /// Queued, and its job runs.
    Running,
    /// The reply is stored, and with it what is to be sent.
    Answered,
    /// The model had nothing to say; nothing is posted.
    Silent,
    Failed,
    /// Stopped by a person, a halt, a deletion or the guard.
    Cancelled,
}

impl TurnState {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Running => "running",
            Self::Answered => "answered",
            Self::Silent => "silent",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
        }
    }
}
