//! A reminder and what may happen to it.

use chrono::{DateTime, Utc};
use chrono_tz::Tz;
use kernel::actor::Actor;
use kernel::ids::{ChannelId, PersonaSlug, ReminderId};
use serde::{Deserialize, Serialize};

use super::when::When;
use crate::features::schedule::model::Timetable;

/// Something that somebody is told about when its time has come.
#[derive(Debug, Clone, PartialEq)]
pub struct Reminder {
    pub id: ReminderId,
    pub what: String,
    pub whom: Actor,
    /// Who asked for it.
    pub by: Actor,
    pub channel: ChannelId,
    /// The persona that tells.
    pub persona: PersonaSlug,
    /// When it is told next; once it was told and does not repeat, when that was to be.
    pub due: DateTime<Utc>,
    pub repeat: Option<Timetable>,
    pub zone: Tz,
    pub state: ReminderState,
    /// Rises with each new time, so that a job of an earlier time tells nothing.
    pub round: i64,
}

/// Where a reminder stands. `Waiting → Told → Done`; snoozing leads back to `Waiting`. A repeated one stays `Waiting` until it is cancelled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReminderState {
    Waiting,
    /// Told, and nobody has said that it is done.
    Told,
    Done,
    Cancelled,
}

impl ReminderState {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Told => "told",
            Self::Done => "done",
            Self::Cancelled => "cancelled",
        }
    }

    pub fn is_over(self) -> bool {
        matches!(self, Self::Done | Self::Cancelled)
    }
}

/// A change that its state does not allow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("this reminder is {} already", from.as_str())]
pub struct InvalidTransition {
    pub from: ReminderState,
}

impl Reminder {
    /// It is told now. A repeated one waits for its next time; times that were missed meanwhile are not made up for.
    ///
    /// # Errors
    /// It does not wait.
    pub fn told(self, now: DateTime<Utc>) -> Result<Self, InvalidTransition> {
        if self.state != ReminderState::Waiting {
            return Err(InvalidTransition { from: self.state });
        }
        Ok(match self.repeat.as_ref().and_then(|timetable| timetable.next_after(now)) {
            Some(next) => Self { due: next, round: self.round + 1, ..self },
            None => Self { state: ReminderState::Told, ..self },
        })
    }

    /// It is told once more, at `at`. Of a repeated one a reminder of its own is made instead: see [`Reminder::once_more`].
    ///
    /// # Errors
    /// It is over.
    pub fn snoozed(self, at: DateTime<Utc>) -> Result<Self, InvalidTransition> {
        if self.state.is_over() {
            return Err(InvalidTransition { from: self.state });
        }
        Ok(Self { due: at, round: self.round + 1, state: ReminderState::Waiting, ..self })
    }

    /// The same, to be told once, under an id of its own.
    #[must_use]
    pub fn once_more(&self, id: ReminderId, at: DateTime<Utc>) -> Self {
        Self { id, due: at, repeat: None, round: 0, state: ReminderState::Waiting, ..self.clone() }
    }

    /// # Errors
    /// It is over, or it repeats: one time that is done does not end the others.
    pub fn done(self) -> Result<Self, InvalidTransition> {
        self.end(ReminderState::Done)
    }

    /// # Errors
    /// It is over.
    pub fn cancelled(self) -> Result<Self, InvalidTransition> {
        self.end(ReminderState::Cancelled)
    }

    fn end(self, state: ReminderState) -> Result<Self, InvalidTransition> {
        if self.state.is_over() { Err(InvalidTransition { from: self.state }) } else { Ok(Self { state, ..self }) }
    }

    /// Takes a new time.
    pub fn with_time(self, when: &When, now: DateTime<Utc>) -> Option<Self> {
        let due = when.first_after(now)?;
        let repeat = match when {
            When::Once(_) => None,
            When::Repeated(timetable) => Some((**timetable).clone()),
        };
        Some(Self { due, repeat, ..self })
    }
}
