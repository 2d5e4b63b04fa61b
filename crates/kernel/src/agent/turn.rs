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
    /// How often it was begun. A turn that took the process down with it three times is not begun again.
    pub attempts: u32,
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

/// Where a turn stands. `Queued → Running → Answered | Silent | Failed | Cancelled`; a crash leaves it `Running`, and the next start begins it again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TurnState {
    Queued,
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
    pub fn is_over(self) -> bool {
        !matches!(self, Self::Queued | Self::Running)
    }

    /// The state after `next`, if a turn may go there from here.
    pub fn advance(self, next: Self) -> Result<Self, InvalidTransition> {
        let allowed = match self {
            Self::Queued => matches!(next, Self::Running | Self::Cancelled | Self::Failed),
            Self::Running => next.is_over() || next == Self::Running,
            _ => false,
        };
        if allowed { Ok(next) } else { Err(InvalidTransition { from: self, to: next }) }
    }

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

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a turn that is {} cannot become {}", from.as_str(), to.as_str())]
pub struct InvalidTransition {
    pub from: TurnState,
    pub to: TurnState,
}

#[cfg(test)]
mod tests {
    use super::TurnState::{Answered, Cancelled, Queued, Running};

    #[test]
    fn a_finished_turn_stays_finished() {
        assert!(Answered.advance(Running).is_err());
        assert!(Cancelled.advance(Answered).is_err());
    }

    #[test]
    fn a_turn_found_running_after_a_crash_may_run_again() {
        assert_eq!(Queued.advance(Running), Ok(Running));
        assert_eq!(Running.advance(Running), Ok(Running));
    }
}
