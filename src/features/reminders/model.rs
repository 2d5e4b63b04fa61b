//! A reminder and what may happen to it.

use chrono::{DateTime, Utc};
use chrono_tz::Tz;
use kernel::ids::{ChannelId, PersonaSlug, ReminderId, UserId};
use kernel::when::Repetition;
use serde::{Deserialize, Serialize};

/// Somebody who asks for a reminder or gets one. Never a persona, because a mention has no effect on a program.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Person {
    pub id: UserId,
    /// The display name, for showing only.
    pub name: String,
}

/// Something that a person is told when its time has come.
#[derive(Debug, Clone, PartialEq)]
pub struct Reminder {
    pub id: ReminderId,
    pub what: String,
    pub whom: Person,
    /// Who asked for it. None: the command line.
    pub by: Option<Person>,
    pub channel: ChannelId,
    /// The reminder belongs to a conversation between a person and a persona, and is not shown elsewhere.
    pub private: bool,
    /// The persona that tells the reminder.
    pub persona: PersonaSlug,
    /// The time at which it is told next. After a single reminder was told, the time at which it was due.
    pub due: DateTime<Utc>,
    pub repeat: Option<Repetition>,
    /// The zone of the person who asked, in which its times are shown.
    pub zone: Tz,
    pub state: ReminderState,
    /// Increases with each new time, so that a job or a button of an earlier time does nothing.
    pub round: i64,
}

/// The state of a reminder. `Waiting → Told → Done`; snoozing leads back to `Waiting`. A repeated one stays `Waiting` until it is cancelled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReminderState {
    Waiting,
    /// It was told, and nobody has marked it as done.
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
    /// The id for people: its last six characters.
    pub fn short_id(&self) -> &str {
        let id = self.id.as_str();
        &id[id.len().saturating_sub(6)..]
    }

    /// Whether it comes again by itself. One whose last date is over is like one that is told once.
    pub fn goes_on(&self) -> bool {
        self.repeat.is_some() && self.state == ReminderState::Waiting
    }

    /// The reminder after it is told now. A repeated one waits for its next time. Times that were missed meanwhile are skipped.
    ///
    /// # Errors
    /// The reminder is not waiting.
    pub fn told(self, now: DateTime<Utc>) -> Result<Self, InvalidTransition> {
        if self.state != ReminderState::Waiting {
            return Err(InvalidTransition { from: self.state });
        }
        Ok(match self.repeat.as_ref().and_then(|repetition| repetition.next_after(now)) {
            Some(next) => Self { due: next, round: self.round + 1, ..self },
            None => Self { state: ReminderState::Told, ..self },
        })
    }

    /// The reminder when it is told at `at`, for the first time or again. A repeated one stays as it is and gets a copy: see [`Reminder::once_more`].
    ///
    /// # Errors
    /// The reminder is over.
    pub fn snoozed(self, at: DateTime<Utc>) -> Result<Self, InvalidTransition> {
        if self.state.is_over() {
            return Err(InvalidTransition { from: self.state });
        }
        Ok(Self { due: at, round: self.round + 1, state: ReminderState::Waiting, ..self })
    }

    /// A copy with another id, to be told once.
    #[must_use]
    pub fn once_more(&self, id: ReminderId, at: DateTime<Utc>) -> Self {
        Self { id, due: at, repeat: None, round: 0, state: ReminderState::Waiting, ..self.clone() }
    }

    /// # Errors
    /// The reminder is over.
    pub fn done(self) -> Result<Self, InvalidTransition> {
        self.end(ReminderState::Done)
    }

    /// # Errors
    /// The reminder is over.
    pub fn cancelled(self) -> Result<Self, InvalidTransition> {
        self.end(ReminderState::Cancelled)
    }

    fn end(self, state: ReminderState) -> Result<Self, InvalidTransition> {
        if self.state.is_over() { Err(InvalidTransition { from: self.state }) } else { Ok(Self { state, ..self }) }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use chrono::{NaiveTime, Weekday};
    use kernel::when::Pattern;

    use super::*;

    pub(crate) fn utc(text: &str) -> DateTime<Utc> {
        text.parse().expect("a time")
    }

    /// Ann's reminder for Ann, for a Friday at nine in Berlin.
    pub(crate) fn sample() -> Reminder {
        let ann = Person { id: "discord:42".into(), name: "Ann".to_owned() };
        Reminder {
            id: "0192f0c1d2e37a4b8c5d6e7f8091a2b3".into(),
            what: "pay the hosting bill".to_owned(),
            by: Some(ann.clone()),
            whom: ann,
            channel: "10".into(),
            private: false,
            persona: "kelly".into(),
            due: utc("2026-11-27T08:00:00Z"),
            repeat: None,
            zone: Tz::Europe__Berlin,
            state: ReminderState::Waiting,
            round: 0,
        }
    }

    pub(crate) fn weekly() -> Reminder {
        let repeat = Repetition {
            pattern: Pattern::Weeks { every: 1, days: vec![Weekday::Mon] },
            time: NaiveTime::from_hms_opt(8, 0, 0).expect("a time of day"),
            zone: Tz::Europe__Berlin,
            first: "2026-11-30".parse().expect("a date"),
            until: None,
        };
        Reminder { what: "water the plants".to_owned(), due: utc("2026-11-30T07:00:00Z"), repeat: Some(repeat), ..sample() }
    }

    #[test]
    fn a_reminder_is_told_once_and_may_be_put_off_until_it_is_done() {
        let told = sample().told(utc("2026-11-27T08:00:01Z")).expect("told");
        assert_eq!((told.state, told.round), (ReminderState::Told, 0));
        assert!(told.clone().told(told.due).is_err());
        let later = told.snoozed(utc("2026-11-27T09:00:00Z")).expect("put off");
        assert_eq!((later.state, later.round), (ReminderState::Waiting, 1));
        let done = later.done().expect("done");
        assert_eq!(done.clone().snoozed(done.due).expect_err("over").to_string(), "this reminder is done already");
        assert!(done.cancelled().is_err());
    }

    #[test]
    fn times_that_were_missed_are_told_once() {
        let told = weekly().told(utc("2026-12-22T12:00:00Z")).expect("told");
        assert_eq!((told.state, told.round, told.due), (ReminderState::Waiting, 1, utc("2026-12-28T07:00:00Z")));
    }

    #[test]
    fn a_repeated_one_ends_with_its_last_date() {
        let repeat = weekly().repeat.map(|repetition| Repetition { until: "2026-12-08".parse().ok(), ..repetition });
        let told = Reminder { repeat, ..weekly() }.told(utc("2026-11-30T07:00:01Z")).expect("told");
        assert_eq!((told.state, told.due, told.goes_on()), (ReminderState::Waiting, utc("2026-12-07T07:00:00Z"), true));
        let last = told.told(utc("2026-12-07T07:00:01Z")).expect("told");
        assert_eq!((last.state, last.goes_on()), (ReminderState::Told, false));
    }

    #[test]
    fn a_repeated_one_is_put_off_as_another() {
        let again = weekly().once_more("x".into(), utc("2026-11-30T08:00:00Z"));
        assert_eq!((again.repeat, again.round, again.id.as_str()), (None, 0, "x"));
    }
}
