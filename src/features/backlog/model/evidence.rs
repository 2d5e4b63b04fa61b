//! Claims of a worker, and evidence found for them.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::features::backlog::model::Critique;
use kernel::ids::{AskId, MessageId, OutboxId, PersonaSlug};

/// The claimed result of a run. Not trusted before it is verified.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Product {
    /// The result in one sentence.
    pub summary: String,
    pub claims: Vec<Claim>,
    /// A lesson in one sentence.
    pub lesson: Option<String>,
    /// `provider/model`. None if no model was involved.
    pub model: Option<String>,
    /// The questions into which its author divided the matter.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub questions: Vec<String>,
    /// The author's own critique. Only steps of a mission have one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub critique: Option<Critique>,
    /// What nobody on the team can do about the item, as its author says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blocked: Option<String>,
}

impl Product {
    /// The paths of the claimed files.
    pub fn files(&self) -> Vec<&str> {
        let mut paths = Vec::new();
        for claim in &self.claims {
            if let Claim::File { path } = claim {
                paths.push(path.as_str());
            }
        }
        paths
    }
}

/// A verifiable claim.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Claim {
    /// A file in the item's workspace, with `/` as separator.
    File {
        path: String,
    },
    /// A commit on the item's branch of a repository.
    Branch {
        repository: String,
        branch: String,
        commit: String,
    },
    Message {
        outbox: OutboxId,
    },
    /// Stored by an earlier version. Proves nothing.
    Ask {
        ask: AskId,
    },
    /// A persona or a person answered.
    Answer {
        by: String,
        text: String,
        at: DateTime<Utc>,
    },
    /// A feed met a condition. The sample is stored.
    Value {
        feed: String,
        name: String,
        at: DateTime<Utc>,
    },
    /// A feed returned data.
    Reading {
        feed: String,
        at: DateTime<Utc>,
    },
    /// A feed did not meet a condition in time. The last sample is stored.
    NotMet {
        feed: String,
        name: String,
        at: DateTime<Utc>,
    },
}

/// A verified fact.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Evidence {
    /// `form` is text: "Markdown, 60 lines, 3 headings, 410 words".
    File {
        path: String,
        sha256: String,
        bytes: u64,
        form: String,
    },
    /// A branch of a repository has a change.
    Branch {
        repository: String,
        branch: String,
        commit: String,
        /// `git diff --stat` against the commit that it started from.
        diffstat: String,
        /// Changed tests, and files that decide how tests run: "tests/a.rs (deleted)".
        tests: Vec<String>,
    },
    /// A page cited by a file was fetched in this run.
    Link {
        url: String,
        sha256: String,
        at: DateTime<Utc>,
    },
    /// A file cited these pages, which were not fetched in this run. The citations were taken out of it.
    Uncited {
        path: String,
        pages: Vec<String>,
    },
    Delivered {
        outbox: OutboxId,
        message: MessageId,
        at: DateTime<Utc>,
    },
    Answer {
        by: String,
        text: String,
        at: DateTime<Utc>,
    },
    /// The operator's test command ended with this code. Only 0 counts.
    Test {
        command: String,
        exit_code: i32,
        at: DateTime<Utc>,
    },
    /// Tests that fail and are not held against a change: on its base they fail, too, or they failed once and passed when they were run again.
    NotHeld {
        tests: Vec<String>,
        on_base: bool,
    },
    Value {
        feed: String,
        name: String,
        value: f64,
        unit: String,
        at: DateTime<Utc>,
    },
    Reading {
        feed: String,
        at: DateTime<Utc>,
    },
    /// The last value of a feed that did not meet a condition in time.
    NotMet {
        feed: String,
        name: String,
        value: f64,
        unit: String,
        at: DateTime<Utc>,
    },
    /// How a criterion was shown: by this passage of the result.
    Criterion {
        criterion: String,
        shown: String,
        by: Judge,
        at: DateTime<Utc>,
    },
    /// Judged by somebody other than the author.
    Review {
        by: Judge,
        note: String,
        at: DateTime<Utc>,
    },
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Judge {
    Persona(PersonaSlug),
    /// The person's name.
    Person(String),
}

impl Evidence {
    /// What somebody answered: who, and the whole text.
    pub fn answer(&self) -> Option<(&str, &str)> {
        if let Self::Answer { by, text, .. } = self { Some((by, text)) } else { None }
    }

    /// Which tests are not held against a change, and why.
    pub fn describe_not_held(&self) -> Option<String> {
        let Self::NotHeld { tests, on_base } = self else { return None };
        let why = if *on_base {
            "fail without the change, too, and are not held against it"
        } else {
            "failed once and passed when they were run again, so they are not held against the change"
        };
        Some(format!("these tests {why}: {}", tests.join(", ")))
    }
}
