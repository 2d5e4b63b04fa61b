//! A work item: one row of the backlog, whatever its size.
//!
//! What it is and where it came from stands here; `status` says which way it may go, `execution` how it is carried out, `wait` what it waits
//! for, `lease` who works on it, `journal` what was done in a run, `evidence` what is claimed of it and what was proven, `rank` what comes
//! first, `graph` what waits for what.

mod draft;
mod evidence;
mod execution;
pub mod graph;
mod lease;
mod proposal;
mod rank;
mod status;
mod wait;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

pub use kernel::actor::Actor as Owner;
use kernel::ids::{ChannelId, MeetingId, MessageId, OutboxId, PersonaSlug, UserId, WorkItemId};
use kernel::money::Money;

pub use draft::{ItemChanges, ItemDraft};
pub use evidence::{Claim, Evidence, Judge, Product};
pub use execution::{Execution, ExecutionKind, WatchTerms};
pub use graph::GraphError;
pub use kernel::agent::JournalEntry;
pub use kernel::llm::ToolCall;
pub use lease::{Lease, WorkerId};
pub use proposal::{ProposedAction, RefusedAction};
pub use rank::Rank;
pub use status::{InvalidWorkTransition, WorkStatus};
pub use wait::Wait;

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
    /// How often it was tried in vain: a crash, an error, work that was not proven.
    pub attempts: u32,
    /// How it is carried out; none until the planner has looked at it.
    pub execution: Option<Execution>,
    /// Who carries it out: the persona that owns it, for a person's item the coordinator. None until the planner has looked at it.
    pub persona: Option<PersonaSlug>,
    /// Where people hear of it.
    pub channel: Option<ChannelId>,
    /// Why it is [`WorkStatus::Waiting`].
    pub wait: Option<Wait>,
    /// Not to be claimed before this time.
    pub not_before: Option<DateTime<Utc>>,
    /// Counts the beginnings from nothing. A crash or a pause goes on with the same run, another try begins the next.
    pub run: u32,
    /// What was proven of it, by code or by whoever judged it.
    pub evidence: Vec<Evidence>,
    pub parent: Option<WorkItemId>,
    pub depends_on: Vec<WorkItemId>,
    pub origin: Origin,
    /// What came of it, or why it ended without.
    pub outcome: Option<String>,
    /// What its model calls cost, as it was last recorded.
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
    Person {
        id: UserId,
        name: String,
        message: Option<MessageId>,
    },
    CommandLine,
    /// Came up while this one was worked on.
    WorkItem(WorkItemId),
}

impl Origin {
    /// Whether its words are a person's own. What agents propose may quote anybody.
    pub fn is_of_a_person(&self) -> bool {
        match self {
            Self::Person { .. } | Self::CommandLine => true,
            Self::Meeting(_) | Self::WorkItem(_) => false,
        }
    }
}

impl WorkItem {
    /// An item that nobody has looked at, with nothing but what it is, whose, and where from.
    pub fn new(what: impl Into<String>, owner: Owner, origin: Origin, at: DateTime<Utc>) -> Self {
        Self {
            id: WorkItemId::generate(),
            kind: WorkKind::Action,
            what: what.into(),
            how: String::new(),
            why: String::new(),
            owner,
            urgency: Urgency::Backlog,
            priority: 2,
            criteria: Vec::new(),
            status: WorkStatus::New,
            attempts: 0,
            execution: None,
            persona: None,
            channel: None,
            wait: None,
            not_before: None,
            run: 0,
            evidence: Vec::new(),
            parent: None,
            depends_on: Vec::new(),
            origin,
            outcome: None,
            cost: Money::ZERO,
            created_at: at,
            updated_at: at,
        }
    }

    /// The id of what people are told or asked about it as it stands, once: another run is another question.
    pub fn notice_id(&self) -> OutboxId {
        Self::notice_id_of(&self.id, self.run, self.status)
    }

    /// The same of any item.
    pub fn notice_id_of(item: &WorkItemId, run: u32, status: WorkStatus) -> OutboxId {
        OutboxId::new(format!("work-{item}-{run}-{}", status.as_str()))
    }

    /// The id of the reminder that a run sends.
    pub fn reminder_id_of(item: &WorkItemId, run: u32) -> OutboxId {
        OutboxId::new(format!("work-{item}-{run}"))
    }

    /// How people name it: the end of its id, which is random, where its beginning is the time.
    pub fn short_id(&self) -> &str {
        short_id(&self.id)
    }
}

/// The last six characters of an id.
pub fn short_id(id: &WorkItemId) -> &str {
    let id = id.as_str();
    &id[id.floor_char_boundary(id.len().saturating_sub(6))..]
}
