//! A meeting: a coordinated run of turns with a facilitator and a written result.

use std::time::Duration;

use chrono::{DateTime, NaiveDate, Utc};
use chrono_tz::Tz;
use serde::{Deserialize, Serialize};

use super::ids::{MeetingId, MessageId, PersonaSlug, UserId};
use super::message::Channel;
use super::signal::{Signal, flatten};
use super::usage::TokenUsage;

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
    /// How often its result was begun. A closing that took the process down with it is not tried for ever.
    pub closings: u32,
    /// Why it failed or was cancelled.
    pub reason: Option<String>,
    pub ended_at: Option<DateTime<Utc>>,
}

/// On what terms the team holds its standups.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StandupTerms {
    pub facilitator: PersonaSlug,
    pub zone: Tz,
    /// The longest it may last.
    pub session: Duration,
}

impl StandupTerms {
    /// A standup that somebody calls at `now`, for the day that it is then in the team's zone.
    pub fn call(&self, channel: Channel, called_by: CalledBy, now: DateTime<Utc>) -> Meeting {
        Meeting {
            id: MeetingId::generate(),
            kind: MeetingKind::Standup,
            channel,
            day: now.with_timezone(&self.zone).date_naive(),
            facilitator: self.facilitator.clone(),
            called_by,
            called_at: now,
            deadline: now + self.session,
            state: MeetingState::Called,
            wrap: false,
            closings: 0,
            reason: None,
            ended_at: None,
        }
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

/// What sort of meeting it is. Board meetings and overwatches come later.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MeetingKind {
    Standup,
}

impl MeetingKind {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Standup => "standup",
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

/// Somebody who takes part.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Participant {
    Persona(PersonaSlug),
    /// A person, asked by mention, whose next message in the channel is the report.
    Person {
        id: UserId,
        name: String,
    },
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
