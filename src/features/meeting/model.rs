use std::borrow::Cow;
use std::fmt;
use std::time::Duration;

use chrono::{DateTime, NaiveDate, Utc};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::features::meeting::signal::Signal;
use kernel::chat::message::Channel;
use kernel::db::StoreError;
use kernel::ids::{MeetingId, MessageId, OutboxId, PersonaSlug, UserId};
use kernel::money::{Money, TokenUsage};
use kernel::persona::roster::Roster;
use kernel::text::flatten;

/// A meeting. Each channel has at most one open meeting of a kind.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Meeting {
    pub id: MeetingId,
    pub kind: MeetingKind,
    pub channel: Channel,
    /// The meeting's date in the team's time zone.
    pub day: NaiveDate,
    pub facilitator: PersonaSlug,
    pub called_by: CalledBy,
    pub called_at: DateTime<Utc>,
    /// The time at which it is closed, even if some have not spoken.
    pub deadline: DateTime<Utc>,
    pub state: MeetingState,
    /// The meeting was asked to end. Those who have not spoken are skipped.
    pub wrap: bool,
    /// Paused: no turn starts until it is resumed.
    pub paused: Option<Paused>,
    /// The budget. Once it is used up, the meeting closes.
    pub budget: Option<Money>,
    /// Data of this kind of meeting, such as a topic. Only the agenda knows its type.
    pub payload: Option<serde_json::Value>,
    /// How often the closing was started. Limits retries after crashes.
    pub closings: u32,
    /// Why it failed or was cancelled.
    pub reason: Option<String>,
    pub ended_at: Option<DateTime<Utc>>,
}

impl Meeting {
    /// A meeting called at `called_at` that lasts at most `longest`.
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

    /// The agenda's payload.
    ///
    /// # Errors
    /// It is missing or has another type.
    pub fn read_payload<T: DeserializeOwned>(&self) -> Result<T, StoreError> {
        let corrupt = |why: String| StoreError::Corrupt(format!("the payload of the {} {}: {why}", self.kind, self.id));
        let payload = self.payload.as_ref().ok_or_else(|| corrupt("it has none".to_owned()))?;
        T::deserialize(payload).map_err(|error| corrupt(error.to_string()))
    }

    /// For people: `standup that Ann called`.
    pub fn describe(&self) -> String {
        format!("{} that {} called", self.kind, self.called_by.describe())
    }
}

impl CalledBy {
    /// For people: `Ann`, `the job standup`. Names are escaped and ping nobody.
    pub fn describe(&self) -> String {
        match self {
            Self::Person { name, .. } => flatten(name, 40),
            Self::Schedule { job } => format!("the job {job}"),
            Self::CommandLine => "the command line".into(),
        }
    }
}

/// The kind of meeting: the name of an [`Agenda`](crate::features::meeting::agenda::Agenda), singular and in lower case.
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

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Paused {
    /// Who paused it, for people.
    pub by: String,
    pub at: DateTime<Utc>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Participant {
    Persona(PersonaSlug),
    /// Asked for a report and answers with a message.
    Person {
        id: UserId,
        name: String,
    },
    /// A speaker without an account: an expert from a file, or an agent of another team. The agenda runs it and posts for it.
    Guest {
        id: String,
        name: String,
    },
}

impl Participant {
    /// Whether the meeting waits for this participant's message.
    pub fn is_awaited(&self) -> bool {
        matches!(self, Self::Person { .. })
    }

    pub fn id(&self) -> &str {
        match self {
            Self::Persona(slug) => slug.as_str(),
            Self::Person { id, .. } => id.as_str(),
            Self::Guest { id, .. } => id.as_str(),
        }
    }

    pub fn name<'a>(&'a self, roster: &'a Roster) -> &'a str {
        match self {
            Self::Persona(slug) => roster.name_of(slug),
            Self::Person { name, .. } | Self::Guest { name, .. } => name,
        }
    }
}

/// Who called the meeting.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CalledBy {
    Person {
        id: UserId,
        name: String,
        /// The message that called it. None for a command.
        message: Option<MessageId>,
    },
    Schedule {
        job: String,
    },
    CommandLine,
}

/// The state of a meeting. `Called → Running → Closing → Done`; each of the first three may become `Cancelled` or `Failed`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MeetingState {
    /// Called, nothing posted yet.
    Called,
    /// Open, participants are speaking.
    Running,
    /// All have spoken or were skipped. The result is being created.
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

/// The result of a meeting, for people who look back at it. The seats contain what was said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MeetingResult {
    /// What it was about, in a line.
    pub title: String,
    /// What was decided and written, as plain text.
    pub text: String,
    /// The message on which its thread hangs. None: it has none.
    pub opening: Option<OutboxId>,
}

/// A participant's place in the order of a round.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Seat {
    pub meeting: MeetingId,
    pub round: u32,
    /// From 0, in speaking order.
    pub position: u32,
    pub who: Participant,
    pub state: SeatState,
    /// How often the turn was started.
    pub attempts: u32,
    /// What was said.
    pub contribution: Option<Contribution>,
    /// Why a seat was skipped.
    pub reason: Option<String>,
    /// The first start of the turn. A person's time limit counts from here.
    pub started_at: Option<DateTime<Utc>>,
    pub ended_at: Option<DateTime<Utc>>,
}

impl Seat {
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

/// The state of a seat. `Waiting → Speaking → Spoke | Quiet | Skipped`. After a crash it is still `Speaking` and starts again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SeatState {
    Waiting,
    Speaking,
    Spoke,
    /// "Nothing to report", a valid report.
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

impl Contribution {
    /// Maximum length of a person's report in characters, equal to the highest limit for personas.
    pub const LONGEST_OF_PERSON: usize = 1200;
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Contribution {
    /// As posted: without signals and within the length limit.
    pub text: String,
    pub signals: Vec<Signal>,
    /// `provider/model`. None if code wrote it.
    pub model: Option<String>,
    pub usage: TokenUsage,
    /// Cut off by the time limit.
    pub partial: bool,
    /// Format errors in the answer, for operators.
    pub problems: Vec<String>,
    /// Further data of this kind of meeting. Only the agenda knows its type.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub details: Option<serde_json::Value>,
}
