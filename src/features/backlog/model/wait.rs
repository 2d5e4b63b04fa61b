use chrono::{DateTime, NaiveDate, Utc};
use serde::{Deserialize, Serialize};

use kernel::actor::Actor as Owner;
use kernel::ids::{ApprovalId, WorkItemId};
use kernel::money::Refused;

use crate::features::backlog::model::short_id;

/// Why an item is [`WorkStatus::Waiting`](super::WorkStatus::Waiting). Ended by a person or the planner, never by the item's worker.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Wait {
    /// For the person who was reminded or asked.
    Answer { of: String },
    /// For a person who knows what the asked personas did not.
    Help { of: Option<Owner> },
    /// For approval of a call.
    Approval { approval: ApprovalId },
    /// For budget. A daily limit ends with the day.
    Budget { refused: Refused, day: Option<NaiveDate> },
    /// For a person to say whether it is wanted, although it looks like an open item.
    Duplicate { of: WorkItemId, what: String },
    /// For a person to say which kind of work it is.
    Kind { of: Option<Owner> },
    /// For a language model to be configured.
    Model,
    /// For its mission to plan again.
    Replan {
        #[serde(default)]
        blocker: Blocker,
        why: String,
    },
    /// For its mission to be resumed.
    Paused,
    /// For a person's decision: it crashed the process or was rejected too often.
    Decision { why: String },
}

/// What keeps an item from being done (WORK-21).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Blocker {
    /// Nothing shows that its result is right.
    MissingEvidence,
    /// A person has to say or decide something.
    NeedsInput,
    /// Something outside of the item: a model, a feed, money, its mission.
    Outside,
    /// A tool does not do what it is for.
    FailingTool,
    /// Another try gives the same result.
    #[default]
    NoProgress,
}

impl Blocker {
    /// In a few words, for people and prompts.
    pub fn describe(self) -> &'static str {
        match self {
            Self::MissingEvidence => "missing evidence",
            Self::NeedsInput => "an answer of a person",
            Self::Outside => "something outside of the work",
            Self::FailingTool => "a failing tool",
            Self::NoProgress => "no progress",
        }
    }

    /// What another way must do about the blocker.
    pub fn remedy(self) -> &'static str {
        match self {
            Self::MissingEvidence => {
                "The other way needs sources or files that code can find, or criteria that can be shown with what there is."
            }
            Self::NeedsInput => "The other way must not depend on that answer, or must state what it assumes instead.",
            Self::Outside => "The other way must do without it.",
            Self::FailingTool => "The other way must not use that tool.",
            Self::NoProgress => "The other way must differ in what is done, not only in its words, or be smaller.",
        }
    }
}

/// The name of the person who is asked for help.
pub fn name_of_helper(of: Option<&Owner>) -> &str {
    match of {
        Some(Owner::Person { name, .. }) => name,
        _ => "a person",
    }
}

impl Wait {
    /// The wait for a refused reservation.
    pub fn for_budget(refused: Refused, at: DateTime<Utc>) -> Self {
        let day = refused.limit.ends_with_the_day().then(|| at.date_naive());
        Self::Budget { refused, day }
    }

    /// The wait for a person's decision about what nobody on the team can do.
    pub fn blocked(why: &str) -> Self {
        Self::Decision { why: format!("nobody on the team can do this: {why}") }
    }

    /// The blocker that the wait stands for.
    pub fn blocker(&self) -> Blocker {
        match self {
            Self::Replan { blocker, .. } => *blocker,
            Self::Budget { .. } | Self::Model | Self::Paused => Blocker::Outside,
            Self::Answer { .. }
            | Self::Help { .. }
            | Self::Approval { .. }
            | Self::Duplicate { .. }
            | Self::Kind { .. }
            | Self::Decision { .. } => Blocker::NeedsInput,
        }
    }

    /// Whether people can end it alone. One that waits for another plan goes on by itself, one of a paused mission when that is resumed, and those
    /// that wait for a model together.
    pub fn is_for_people(&self) -> bool {
        !matches!(self, Self::Model | Self::Replan { .. } | Self::Paused)
    }

    /// The reason in a few words, for people.
    pub fn describe(&self) -> String {
        match self {
            Self::Answer { of } => format!("for an answer from {of}"),
            Self::Help { of } => format!("for help from {}", name_of_helper(of.as_ref())),
            Self::Approval { .. } => "for approval".into(),
            Self::Budget { refused, .. } => format!("for a higher budget: {refused}"),
            Self::Duplicate { of, what } => format!("for a decision: it looks like \"{what}\" (#{})", short_id(of)),
            Self::Kind { of } => format!("for {} to say which kind of work it is", name_of_helper(of.as_ref())),
            Self::Model => "for a language model to be connected".into(),
            Self::Replan { why, .. } => format!("for another plan: {why}"),
            Self::Paused => "for its mission to be resumed".into(),
            Self::Decision { why } => format!("for a decision: {why}"),
        }
    }
}
