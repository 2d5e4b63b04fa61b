//! A meeting: a coordinated run of turns with a facilitator and a written result.

use std::borrow::Cow;
use std::fmt;
use std::time::Duration;

use chrono::{DateTime, NaiveDate, Utc};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::features::meeting::signal::Signal;
use kernel::chat::message::Channel;
use kernel::db::StoreError;
use kernel::ids::{MeetingId, MessageId, PersonaSlug, UserId};
use kernel::money::{Money, TokenUsage};
use kernel::persona::roster::Roster;
use kernel::text::flatten;

/// A meeting, from the moment somebody called it. One at a time is open in a channel.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Meeting {
    pub id: MeetingId,
    pub kind: MeetingKind,
    pub channel: Channel,
    /// The date it is held for, in the team's time zone.
    pub day: NaiveDate,
    pub facilitator: PersonaSlug,
    pub called_by: CalledBy,
    pub called_at: DateTime<Utc>,
    /// When it is brought to its end, whoever has not spoken yet.
    pub deadline: DateTime<Utc>,
    pub state: MeetingState,
    /// Somebody asked to come to the end: those who have not spoken are passed over.
    pub wrap: bool,
    /// Nobody is given the floor until somebody resumes it.
    pub paused: Option<Paused>,
    /// What it may cost. Once that is spent it comes to its end.
    pub budget: Option<Money>,
    /// What this kind of meeting keeps about itself, such as a topic. Only its agenda knows the type.
    pub payload: Option<serde_json::Value>,
    /// How often its result was begun. A closing that took the process down with it is not tried for ever.
    pub closings: u32,
    /// Why it failed or was cancelled.
    pub reason: Option<String>,
    pub ended_at: Option<DateTime<Utc>>,
}

impl Meeting {
    /// A meeting that is called at `called_at` and lasts no longer than `longest`.
    pub fn called(
        kind: MeetingKind,
        (channel, day): (Channel, NaiveDate),
        facilitator: PersonaSlug,
        called_by: CalledBy,
        (called_at, longest): (DateTime<Utc>, Duration),
    ) -> Self {
        Self {
            id: MeetingId::generate(),
            kind,
            channel,
            day,
            facilitator,
            called_by,
            called_at,
            deadline: called_at + longest,
            state: MeetingState::Called,
            wrap: false,
            paused: None,
            budget: None,
            payload: None,
            closings: 0,
            reason: None,
            ended_at: None,
        }
    }

    /// The payload as its agenda wrote it.
    ///
    /// # Errors
    /// There is none, or it is another kind's.
    pub fn read_payload<T: DeserializeOwned>(&self) -> Result<T, StoreError> {
        let corrupt = |why: String| StoreError::Corrupt(format!("the payload of the {} {}: {why}", self.kind, self.id));
        let payload = self.payload.as_ref().ok_or_else(|| corrupt("it has none".to_owned()))?;
        T::deserialize(payload).map_err(|error| corrupt(error.to_string()))
    }

    /// For people: `standup that Ann called at 10:30 UTC`.
    pub fn describe(&self) -> String {
        format!("{} that {} called at {}", self.kind, self.called_by.describe(), self.called_at.format("%H:%M UTC"))
    }
}

impl CalledBy {
    /// For people: `Ann`, `the job standup`. A name in it formats nothing and calls nobody.
    pub fn describe(&self) -> String {
        match self {
            Self::Person { name, .. } => flatten(name, 40),
            Self::Schedule { job } => format!("the job {job}"),
            Self::CommandLine => "the command line".into(),
        }
    }
}

/// What sort of meeting it is: the name of an [`Agenda`](crate::features::meeting::agenda::Agenda), in the singular and in lower case.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct MeetingKind(Cow<'static, str>);

impl MeetingKind {
    pub const fn new(name: &'static str) -> Self {
        Self(Cow::Borrowed(name))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for MeetingKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A pause of a meeting.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Paused {
    /// Who wanted it, for people.
    pub by: String,
    pub at: DateTime<Utc>,
}

/// Who takes part.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Participant {
    Persona(PersonaSlug),
    /// Is asked for a report, and gives it in a message.
    Person {
        id: UserId,
        name: String,
    },
    /// Has no account here: an expert from a file, an agent of another team. The agenda has it speak, and posts for it.
    Guest {
        id: String,
        name: String,
    },
}

impl Participant {
    /// Whether the meeting waits for a message of theirs, in place of having them speak.
    pub fn is_awaited(&self) -> bool {
        matches!(self, Self::Person { .. })
    }

    pub fn name<'a>(&'a self, roster: &'a Roster) -> &'a str {
        match self {
            Self::Persona(slug) => roster.name_of(slug),
            Self::Person { name, .. } | Self::Guest { name, .. } => name,
        }
    }
}

/// Who wanted it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CalledBy {
    Person {
        id: UserId,
        name: String,
        /// The message that said so; none where a command did.
        message: Option<MessageId>,
    },
    Schedule {
        job: String,
    },
    CommandLine,
}

/// Where a meeting stands. `Called → Running → Closing → Done`, and from each of the first three `Cancelled` or `Failed`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MeetingState {
    /// Wanted; nothing was said yet.
    Called,
    /// Opened: its seats are there, and they speak.
    Running,
    /// All have spoken or were passed over; the result is being made.
    Closing,
    Done,
    Cancelled,
    Failed,
}

impl MeetingState {
    pub fn is_over(self) -> bool {
        matches!(self, Self::Done | Self::Cancelled | Self::Failed)
    }

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Called => "called",
            Self::Running => "running",
            Self::Closing => "closing",
            Self::Done => "done",
            Self::Cancelled => "cancelled",
            Self::Failed => "failed",
        }
    }
}

/// A place in the speaking order of one round.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Seat {
    pub meeting: MeetingId,
    pub round: u32,
    /// From 0, in speaking order.
    pub position: u32,
    pub who: Participant,
    pub state: SeatState,
    /// How often the turn was begun.
    pub attempts: u32,
    /// What was said.
    pub contribution: Option<Contribution>,
    /// Why nothing was: the reason of a skipped seat.
    pub reason: Option<String>,
    /// When the turn was begun first; a person's time counts from then.
    pub started_at: Option<DateTime<Utc>>,
    pub ended_at: Option<DateTime<Utc>>,
}

impl Seat {
    /// A seat whose turn has not come.
    pub fn waiting(meeting: &MeetingId, round: u32, position: u32, who: Participant) -> Self {
        Self {
            meeting: meeting.clone(),
            round,
            position,
            who,
            state: SeatState::Waiting,
            attempts: 0,
            contribution: None,
            reason: None,
            started_at: None,
            ended_at: None,
        }
    }
}

/// Where a seat stands. `Waiting → Speaking → Spoke | Quiet | Skipped`; a crash leaves it `Speaking`, and it is begun again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SeatState {
    Waiting,
    Speaking,
    Spoke,
    /// "Nothing to report", which is a good report.
    Quiet,
    Skipped,
}

impl SeatState {
    pub fn is_over(self) -> bool {
        !matches!(self, Self::Waiting | Self::Speaking)
    }

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Speaking => "speaking",
            Self::Spoke => "spoke",
            Self::Quiet => "quiet",
            Self::Skipped => "skipped",
        }
    }
}

/// What a participant said.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Contribution {
    /// As posted: without signals, within the speaker's cap.
    pub text: String,
    pub signals: Vec<Signal>,
    /// `provider/model`; none when no model wrote it.
    pub model: Option<String>,
    pub usage: TokenUsage,
    /// The model was cut off by the time limit; this is what it had written.
    pub partial: bool,
    /// What was wrong with the form of the answer, for operators.
    pub problems: Vec<String>,
}
