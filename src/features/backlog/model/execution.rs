//! How a work item is carried out (WORK-6).

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::features::backlog::model::Owner;
use kernel::feeds::condition::SettlingRule;

/// What is to happen, with everything that code needs for it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Execution {
    /// The owner is told. Unless telling was all that was wanted, it waits for an answer.
    Remind { answer: bool },
    /// Something is found out; the result is a document with its sources.
    Research,
    /// A document.
    Write,
    /// Files in the item's workspace.
    Build,
    /// Somebody is asked; the result is the answer.
    Ask { whom: Owner, question: String },
    /// Until a feed meets a condition.
    Watch(WatchTerms),
}

/// The kinds of execution alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ExecutionKind {
    Remind,
    Research,
    Write,
    Build,
    Ask,
    Watch,
}

/// What is watched for, and how long.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WatchTerms {
    /// The declared name of a feed.
    pub feed: String,
    /// What a value of it is to be; none: the feed is to give data at all.
    #[serde(default)]
    pub rule: Option<SettlingRule>,
    /// When it is given up.
    pub until: DateTime<Utc>,
}

impl Execution {
    pub fn kind(&self) -> ExecutionKind {
        match self {
            Self::Remind { .. } => ExecutionKind::Remind,
            Self::Research => ExecutionKind::Research,
            Self::Write => ExecutionKind::Write,
            Self::Build => ExecutionKind::Build,
            Self::Ask { .. } => ExecutionKind::Ask,
            Self::Watch(_) => ExecutionKind::Watch,
        }
    }
}

impl ExecutionKind {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Remind => "remind",
            Self::Research => "research",
            Self::Write => "write",
            Self::Build => "build",
            Self::Ask => "ask",
            Self::Watch => "watch",
        }
    }

    /// Whether a language model has to write the result.
    pub fn needs_model(self) -> bool {
        matches!(self, Self::Research | Self::Write | Self::Build)
    }
}

impl WatchTerms {
    /// `checkout p95 <= 400 ms`, `the feed prices gives data`.
    pub fn describe(&self) -> String {
        self.rule.as_ref().map_or_else(|| format!("the feed {} gives data", self.feed), SettlingRule::describe)
    }
}
