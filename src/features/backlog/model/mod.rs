//! Work items: rows of the backlog.
//!
//! `status` has the allowed transitions, `execution` the kinds of work, `wait` the reasons to wait, `journal` the steps of a run,
//! `evidence` claims and proof, `rank` the order, `graph` dependencies, `layout` where they stand in a picture.

mod artefact;
pub mod criteria;
mod critique;
mod draft;
mod evidence;
mod execution;
pub mod graph;
pub mod layout;
mod proposal;
mod rank;
mod request;
mod review;
mod status;
mod usage;
mod wait;
mod working_hours;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

pub use kernel::actor::Actor as Owner;
use kernel::ids::{ChannelId, MeetingId, MessageId, OutboxId, PersonaSlug, UserId, WorkItemId};
use kernel::money::Money;

pub use artefact::{Artefact, ArtefactFacts, describe_size, media_type_of};
pub use critique::Critique;
pub use draft::{DueChange, ItemChanges, ItemDraft};
pub use evidence::{Claim, Evidence, Judge, Product};
pub use execution::{Execution, ExecutionKind, NoAnswer, WatchTerms};
pub use graph::GraphError;
pub use kernel::agent::JournalEntry;
pub use kernel::llm::ToolCall;
pub use proposal::{ProposedAction, RefusedAction};
pub use rank::Rank;
pub use request::PersonRequest;
pub use review::{FilePlace, Finding, Review, Scores};
pub use status::{InvalidWorkTransition, WorkStatus};
pub use usage::Usage;
pub use wait::{Blocker, Wait, name_of_helper};
pub use working_hours::WorkingHours;

/// A row of the backlog: an action item, later a mission or a step (WORK-1).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WorkItem {
    pub id: WorkItemId,
    pub kind: WorkKind,
    /// The title: what is to be done, in any words.
    pub what: String,
    pub how: String,
    pub why: String,
    /// The whole message of the person who asked for it. Empty if it was not asked for in a message.
    #[serde(default)]
    pub said: String,
    /// What was said before that, and what the persona that took it down adds. It may quote anybody.
    #[serde(default)]
    pub background: String,
    pub owner: Owner,
    pub urgency: Urgency,
    /// 0 is the most important, 4 the least.
    pub priority: u8,
    /// When it is to be done.
    #[serde(default)]
    pub due: Option<DateTime<Utc>>,
    /// Who reviews the result, if somebody was named.
    #[serde(default)]
    pub reviewer: Option<Owner>,
    /// Conditions for being done.
    pub criteria: Vec<String>,
    pub status: WorkStatus,
    /// Failed attempts: a crash, an error, or a rejected result.
    pub attempts: u32,
    /// None before planning.
    pub execution: Option<Execution>,
    /// The persona that executes it: the owner, or the coordinator for a person's item. None before planning.
    pub persona: Option<PersonaSlug>,
    /// The channel for messages about it.
    pub channel: Option<ChannelId>,
    /// The private place in which it was asked for. Lessons from it stay there. None: the whole team may be told.
    #[serde(default)]
    pub private_to: Option<ChannelId>,
    /// Why it is [`WorkStatus::Waiting`].
    pub wait: Option<Wait>,
    /// It may not be claimed before this time.
    pub not_before: Option<DateTime<Utc>>,
    /// Counts fresh starts. A crash or pause continues the same run; another attempt starts a new one.
    pub run: u32,
    /// What code or a reviewer has confirmed.
    pub evidence: Vec<Evidence>,
    pub parent: Option<WorkItemId>,
    pub depends_on: Vec<WorkItemId>,
    /// The name of the configured repository that it works in.
    #[serde(default)]
    pub repository: Option<String>,
    pub origin: Origin,
    /// The result, or why it ended without one.
    pub outcome: Option<String>,
    /// The cost of its model calls, as last recorded.
    pub cost: Money,
    pub created_at: DateTime<Utc>,
    pub updated_at: DateTime<Utc>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WorkKind {
    /// An action of a standup or a person.
    Action,
    /// What a directive asks for. Its parts are steps.
    Mission,
    /// A part of a mission. Its mission plans again if it cannot be done.
    Step,
}

impl WorkKind {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Action => "action",
            Self::Mission => "mission",
            Self::Step => "step",
        }
    }
}

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

/// The origin of an item.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    Meeting(MeetingOrigin),
    Person {
        id: UserId,
        name: String,
        message: Option<MessageId>,
    },
    CommandLine,
    KanbanPage,
    /// Added while this item was being worked on.
    WorkItem(WorkItemId),
}

/// The meeting that decided on an item.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "StoredMeeting")]
pub struct MeetingOrigin {
    pub id: MeetingId,
    /// The person who called it, with their name. They are asked about the item if nobody else is responsible.
    pub called_by: Option<(UserId, String)>,
}

/// Older rows have only the id.
#[derive(Deserialize)]
#[serde(untagged)]
enum StoredMeeting {
    Id(MeetingId),
    Whole { id: MeetingId, called_by: Option<(UserId, String)> },
}

impl From<StoredMeeting> for MeetingOrigin {
    fn from(stored: StoredMeeting) -> Self {
        match stored {
            StoredMeeting::Id(id) => id.into(),
            StoredMeeting::Whole { id, called_by } => Self { id, called_by },
        }
    }
}

impl From<MeetingId> for MeetingOrigin {
    fn from(id: MeetingId) -> Self {
        Self { id, called_by: None }
    }
}

impl Origin {
    /// Whether a person wrote its text. Text proposed by agents may quote anybody.
    pub fn is_of_a_person(&self) -> bool {
        match self {
            Self::Person { .. } | Self::CommandLine | Self::KanbanPage => true,
            Self::Meeting(_) | Self::WorkItem(_) => false,
        }
    }
}

impl WorkItem {
    /// A new item with only title, owner and origin.
    pub fn new(what: impl Into<String>, owner: Owner, origin: Origin, at: DateTime<Utc>) -> Self {
        Self {
            id: WorkItemId::generate(),
            kind: WorkKind::Action,
            what: what.into(),
            how: String::new(),
            why: String::new(),
            said: String::new(),
            background: String::new(),
            owner,
            urgency: Urgency::Backlog,
            priority: 2,
            due: None,
            reviewer: None,
            criteria: Vec::new(),
            status: WorkStatus::New,
            attempts: 0,
            execution: None,
            persona: None,
            channel: None,
            private_to: None,
            wait: None,
            not_before: None,
            run: 0,
            evidence: Vec::new(),
            parent: None,
            depends_on: Vec::new(),
            repository: None,
            origin,
            outcome: None,
            cost: Money::ZERO,
            created_at: at,
            updated_at: at,
        }
    }

    /// What, how and why, and the message that it comes from, all of it.
    pub fn describe_request(&self) -> String {
        let how = if says(&self.said, &self.how) { "" } else { self.how.trim() };
        let said = if says(&format!("{} {}", self.what, self.how), &self.said) { "" } else { self.said.trim() };
        let fields = [
            ("What", self.what.trim()),
            ("How", how),
            ("Why", self.why.trim()),
            ("The whole message that it comes from (other things in it are for others)", said),
        ];
        let fields = fields.into_iter().filter(|(_, text)| !text.is_empty());
        fields.map(|(name, text)| format!("{name}: {text}")).collect::<Vec<_>>().join("\n")
    }

    /// The whole task, with its criteria and background. Worker, reviewer and a colleague who is asked read this text.
    pub fn describe_task(&self) -> String {
        let criteria = self.criteria.iter().map(|criterion| format!("\nCriterion: {}", criterion.trim()));
        let due = self.due.map(|due| format!("\nDue: {}", due.format("%Y-%m-%d %H:%M UTC")));
        let reviewer = self.reviewer.as_ref().map(|reviewer| match reviewer {
            Owner::Persona(slug) => format!("\nReviewed by: {slug}"),
            Owner::Person { name, .. } => format!("\nReviewed by: {name}"),
        });
        let terms = due.into_iter().chain(reviewer).collect::<String>();
        let task = self.describe_request() + &criteria.collect::<String>() + &terms;
        if self.background.is_empty() { task } else { format!("{task}\n{}", self.background) }
    }

    /// The call that reads it, for a prompt.
    pub fn read_call(&self) -> String {
        format!("`item_read` with `{}`", self.short_id())
    }

    /// The id of the message that asks people about the item's current state. Each run has its own id.
    pub fn notice_id(&self) -> OutboxId {
        Self::notice_id_of(&self.id, self.run, self.status)
    }

    /// As [`Self::notice_id`], for any item.
    pub fn notice_id_of(item: &WorkItemId, run: u32, status: WorkStatus) -> OutboxId {
        OutboxId::new(format!("work-{item}-{run}-{}", status.as_str()))
    }

    /// The item and the run in an id that [`Self::notice_id_of`] made.
    pub fn parse_notice_id(id: &OutboxId) -> Option<(WorkItemId, u32)> {
        let mut parts = id.as_str().strip_prefix("work-")?.split('-');
        Some((parts.next()?.into(), parts.next()?.parse().ok()?))
    }

    /// The id of the message that reminds a person of what they were asked for, for the `number`th time.
    pub fn repeat_id_of(request: &PersonRequest) -> OutboxId {
        OutboxId::new(format!("work-{}-{}-again-{}-{}", request.item, request.run, request.person.bare(), request.reminders))
    }

    /// The id of the reminder that a run sends.
    pub fn reminder_id_of(item: &WorkItemId, run: u32) -> OutboxId {
        OutboxId::new(format!("work-{item}-{run}"))
    }

    /// The person whose word ends the item. None: an operator's word does.
    pub fn find_awaited(&self) -> Option<&Owner> {
        let whom = match &self.execution {
            Some(Execution::Remind { whom: Some(whom) } | Execution::Ask { whom, .. }) => whom,
            _ => &self.owner,
        };
        Some(whom).filter(|whom| matches!(whom, Owner::Person { .. }))
    }

    /// Whether people decide about its result: by a review, or because it was set aside.
    pub fn is_up_to_people(&self) -> bool {
        match self.status {
            WorkStatus::InReview => true,
            WorkStatus::Waiting => matches!(self.wait, Some(Wait::Decision { .. })),
            _ => false,
        }
    }

    /// The person whose word, help or decision it waits for now, if that is known.
    pub fn find_helper(&self) -> Option<&Owner> {
        match &self.wait {
            Some(Wait::Help { of } | Wait::Kind { of }) => of.as_ref(),
            _ => self.find_awaited(),
        }
    }

    /// The account of the person whose word or help it waits for now.
    pub fn find_asked(&self) -> Option<&UserId> {
        let whom = match &self.wait {
            Some(Wait::Answer { .. }) => self.find_awaited(),
            Some(Wait::Help { of }) => of.as_ref(),
            _ => None,
        };
        match whom {
            Some(Owner::Person { id, .. }) => Some(id),
            _ => None,
        }
    }

    /// Whether the result is this persona's: it executed the item, or gave the answer.
    pub fn is_made_by(&self, persona: &PersonaSlug) -> bool {
        self.persona.as_ref() == Some(persona)
            || matches!(&self.execution, Some(Execution::Ask { whom: Owner::Persona(whom), .. }) if whom == persona)
    }

    /// The short id for people: the end of the id. It is random, while the beginning is the time.
    pub fn short_id(&self) -> &str {
        short_id(&self.id)
    }
}

/// Whether all words of `part` stand in `whole`, in the same order.
fn says(whole: &str, part: &str) -> bool {
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    words(whole).contains(&words(part))
}

/// The last six characters of an id.
pub fn short_id(id: &WorkItemId) -> &str {
    let id = id.as_str();
    &id[id.floor_char_boundary(id.len().saturating_sub(6))..]
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_meeting_of_an_older_row_is_known_by_its_id_alone() {
        let older: Origin = serde_json::from_value(json!({"meeting": "m1"})).unwrap();
        assert_eq!(older, Origin::Meeting(MeetingId::from("m1").into()));
        let called_by = Some((UserId::from("discord:7"), "Ann".to_owned()));
        for origin in [older, Origin::Meeting(MeetingOrigin { id: "m2".into(), called_by })] {
            assert_eq!(serde_json::from_value::<Origin>(serde_json::to_value(&origin).unwrap()).unwrap(), origin);
        }
    }
}
