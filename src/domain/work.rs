//! A work item: one row of the backlog, whatever its size.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use super::ids::{MeetingId, MessageId, PersonaSlug, UserId, WorkItemId};
use super::usage::Money;

/// One row of the backlog: an action item, later a mission, a step, or a level above them (WORK-1).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WorkItem {
    pub id: WorkItemId,
    pub kind: WorkKind,
    /// What is to be done; begins with a verb.
    pub what: String,
    pub how: String,
    pub why: String,
    pub owner: Owner,
    pub urgency: Urgency,
    /// 0 is the most important, 4 the least.
    pub priority: u8,
    /// What must be true when it is done.
    pub criteria: Vec<String>,
    pub status: WorkStatus,
    pub attempts: u32,
    pub parent: Option<WorkItemId>,
    pub depends_on: Vec<WorkItemId>,
    pub origin: Origin,
    /// What came of it, or why it ended without.
    pub outcome: Option<String>,
    pub cost: Money,
    pub created_at: DateTime<Utc>,
    pub updated_at: DateTime<Utc>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WorkKind {
    /// An action of a standup, or of a person.
    Action,
}

impl WorkKind {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Action => "action",
        }
    }
}

/// Who is to do it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Owner {
    Persona(PersonaSlug),
    Person { id: UserId, name: String },
}

/// How soon.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Urgency {
    Now,
    Today,
    ThisWeek,
    Backlog,
}

impl Urgency {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Now => "now",
            Self::Today => "today",
            Self::ThisWeek => "this_week",
            Self::Backlog => "backlog",
        }
    }
}

/// Where it came from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    Meeting(MeetingId),
    Person { id: UserId, name: String, message: Option<MessageId> },
    CommandLine,
}

/// Where a work item stands (WORK-2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WorkStatus {
    /// Noted; the planner has not looked at it.
    New,
    /// May be claimed.
    Ready,
    /// Waits for other items.
    Blocked,
    InProgress,
    InReview,
    /// For a person.
    Waiting,
    Done,
    Failed,
    Cancelled,
}

impl WorkStatus {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::New => "new",
            Self::Ready => "ready",
            Self::Blocked => "blocked",
            Self::InProgress => "in_progress",
            Self::InReview => "in_review",
            Self::Waiting => "waiting",
            Self::Done => "done",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
        }
    }

    pub fn is_over(self) -> bool {
        matches!(self, Self::Done | Self::Failed | Self::Cancelled)
    }

    /// The status after `next`, if an item may go there from here. The one place that says which transitions there are.
    pub fn advance(self, next: Self) -> Result<Self, InvalidWorkTransition> {
        use WorkStatus::{Blocked, Cancelled, Done, Failed, InProgress, InReview, New, Ready, Waiting};
        let allowed = match self {
            New => matches!(next, Ready | Blocked | Waiting | Cancelled | Failed),
            Ready => matches!(next, Blocked | InProgress | Waiting | Cancelled | Failed),
            Blocked => matches!(next, Ready | Waiting | Cancelled | Failed),
            // `Ready` again when its worker died or it is to be tried once more.
            InProgress => matches!(next, Ready | InReview | Waiting | Done | Failed | Cancelled),
            InReview => matches!(next, Ready | Waiting | Done | Failed | Cancelled),
            Waiting => matches!(next, Ready | Blocked | Done | Failed | Cancelled),
            // A person may ask for another try.
            Failed | Cancelled => next == Ready,
            Done => false,
        };
        if allowed { Ok(next) } else { Err(InvalidWorkTransition { from: self, to: next }) }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a work item that is {} cannot become {}", from.as_str(), to.as_str())]
pub struct InvalidWorkTransition {
    pub from: WorkStatus,
    pub to: WorkStatus,
}

/// An action as somebody proposed it, before code has looked at it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct ProposedAction {
    /// What is to be done; begins with a verb.
    pub what: String,
    /// How to go about it, in one sentence.
    pub how: String,
    /// Why it is worth doing, in one sentence.
    pub why: String,
    /// The name of a persona or of a person on the team.
    pub owner: String,
    pub urgency: Urgency,
}

/// A proposed action that does not become an item, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RefusedAction {
    pub what: String,
    pub reason: String,
}
