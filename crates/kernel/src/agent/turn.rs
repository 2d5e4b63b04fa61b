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
    /// How many times it was started. A turn that crashed the process three times is not started again.
    pub attempts: u32,
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
    /// A person wants another persona asked. This persona asks and relays the answer.
    Ask { ask: AskId },
}

/// The state of a turn: `Queued → Running → Answered | Silent | Failed | Cancelled`. After a crash it is still `Running`, and the next
/// start repeats it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TurnState {
    Queued,
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
    pub fn is_over(self) -> bool {
        !matches!(self, Self::Queued | Self::Running)
    }

    /// Changes the state if the transition is allowed.
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
