//! What a worker says it made, and what was found to be true of that.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use kernel::ids::{AskId, MessageId, OutboxId, PersonaSlug};

/// What came of a run, as its worker says. Nothing of it is believed before it is verified.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Product {
    /// What came out, in one sentence.
    pub summary: String,
    pub claims: Vec<Claim>,
    /// What to remember, in one sentence.
    pub lesson: Option<String>,
    /// `provider/model`; none when no model had part in it.
    pub model: Option<String>,
}

/// Something that can be looked up.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Claim {
    /// A file in the item's workspace, with `/` between its parts.
    File { path: String },
    /// A message was delivered.
    Message { outbox: OutboxId },
    /// A question was answered.
    Ask { ask: AskId },
    /// A person answered by button.
    Answer { by: String, text: String, at: DateTime<Utc> },
    /// A feed met a condition; the sample stands in the store.
    Value { feed: String, name: String, at: DateTime<Utc> },
    /// A feed gave data.
    Reading { feed: String, at: DateTime<Utc> },
}

/// Something that was found to be so.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Evidence {
    /// `form` in words: "Markdown, 3 headings, 410 words".
    File {
        path: String,
        sha256: String,
        bytes: u64,
        form: String,
    },
    /// A page that a file names was fetched in this run.
    Link {
        url: String,
        sha256: String,
        at: DateTime<Utc>,
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
    /// A command of the operator's ended with this code; only 0 proves anything.
    Test {
        command: String,
        exit_code: i32,
        at: DateTime<Utc>,
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
    /// Somebody other than the author looked at what code cannot judge.
    Review {
        by: Judge,
        note: String,
        at: DateTime<Utc>,
    },
}

/// Who judged.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Judge {
    Persona(PersonaSlug),
    /// By the name it is called by.
    Person(String),
}
