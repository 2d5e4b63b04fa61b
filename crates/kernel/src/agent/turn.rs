use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::ids::{AskId, ChainId, ChannelId, MessageId, PersonaSlug, TurnId};

/// A turn: one persona asked once. Stored as soon as it is decided.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Turn {
    pub id: TurnId,
    /// The person's message that is answered. In a chain of agents: the message that started it.
    pub message: MessageId,
    pub chain: ChainId,
    pub channel: ChannelId,
    pub persona: PersonaSlug,
    pub trigger: Trigger,
    pub state: TurnState,
    pub queued_at: DateTime<Utc>,
}

/// The trigger of a turn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Trigger {
    /// A person's message.
    Message,
    /// What another persona said to this one in `turn`.
    Agent { from: PersonaSlug, turn: TurnId },
    /// A person wants this persona to ask another one and to relay the answer.
    Ask { ask: AskId },
}

/// The state of a turn: `Queued → Answered | Silent | Failed | Cancelled`. Whether an open turn is running is known to its job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TurnState {
    Queued,
    /// Queued, and its job runs.
    Running,
    /// The reply and its outbox rows are stored.
    Answered,
    /// The model said nothing, so nothing is posted.
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
