//! How a work item is executed (WORK-6).

use chrono::{DateTime, Utc};
use chrono_tz::Tz;
use serde::{Deserialize, Serialize};

use crate::features::backlog::model::Owner;
use kernel::agent::AnswerVerdict;
use kernel::feeds::condition::{Comparison, SettlingRule};
use kernel::figure;
use kernel::ids::PersonaSlug;
use kernel::time::show_time;

/// The kind of execution with its parameters.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Execution {
    /// Tells a person. Only that person can say that it is done.
    Remind {
        /// The person it is for. None: the owner.
        #[serde(default)]
        whom: Option<Owner>,
    },
    /// Finds out something. The result is a document with sources.
    Research,
    Write,
    Build,
    /// Asks somebody. The result is the answer.
    Ask {
        whom: Owner,
        question: String,
        /// The personas that were asked before, and did not know.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        unanswered: Vec<NoAnswer>,
    },
    /// Waits until a feed meets a condition.
    Watch(WatchTerms),
}

/// A persona's reply that is no answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NoAnswer {
    pub by: PersonaSlug,
    pub verdict: AnswerVerdict,
    /// The reply in one line.
    pub said: String,
}

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

/// What to watch for, and how long.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WatchTerms {
    pub feed: String,
    /// The condition. None: any data of the feed.
    #[serde(default)]
    pub rule: Option<SettlingRule>,
    /// The time to give up.
    pub until: DateTime<Utc>,
}

impl Execution {
    /// A question that nobody was asked yet.
    pub fn ask(whom: Owner, question: String) -> Self {
        Self::Ask { whom, question, unanswered: Vec::new() }
    }

    /// Only a person's word ends it.
    pub fn is_for_a_person(&self) -> bool {
        matches!(self, Self::Remind { .. } | Self::Ask { whom: Owner::Person { .. }, .. })
    }

    /// Asks again from the beginning, starting with the persona that was asked first.
    pub fn start_over(&mut self) {
        if let Self::Ask { whom, unanswered, .. } = self
            && let Some(first) = std::mem::take(unanswered).into_iter().next()
        {
            *whom = Owner::Persona(first.by);
        }
    }

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
    /// The kinds that a person chooses from, with their labels. Watching needs terms.
    pub const CHOSEN: [(Self, &str); 5] = [
        (Self::Research, "Find something out"),
        (Self::Write, "Write a document"),
        (Self::Build, "Build files"),
        (Self::Ask, "Ask the owner"),
        (Self::Remind, "Remind me"),
    ];

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

    /// Whether it needs a language model.
    pub fn needs_model(self) -> bool {
        matches!(self, Self::Research | Self::Write | Self::Build)
    }
}

impl WatchTerms {
    /// `checkout p95 <= 400 ms`, `the feed prices gives data`.
    pub fn describe(&self) -> String {
        self.rule.as_ref().map_or_else(|| format!("the feed {} gives data", self.feed), SettlingRule::describe)
    }

    /// `checkout p95 did not go below 400 ms by Fri 27 Nov, 09:00`, in the team's zone. None without a condition.
    pub fn describe_missed(&self, zone: Tz) -> Option<String> {
        let rule = self.rule.as_ref()?;
        let verb = match rule.comparison {
            Comparison::Above => "go above",
            Comparison::AtLeast => "reach",
            Comparison::Below => "go below",
            Comparison::AtMost => "come down to",
            Comparison::Equals => "become",
        };
        let threshold = figure::amount(rule.threshold, &rule.value, &rule.unit);
        let until = show_time(self.until, zone);
        Some(format!("{} {} did not {verb} {threshold} by {until}", self.feed, rule.value))
    }
}
