//! What happened in a run, step by step: a run that was interrupted goes on behind its last entry and pays for nothing twice.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// One step. The rule of effects: `Began` is stored before a call that changes something is made, so that a crash in between is known.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum JournalEntry {
    /// The prompt that a run begins with. `tainted`: it holds text from outside (TRUST-1).
    Asked { system: String, message: String, tainted: bool },
    /// What the model said.
    Replied { text: String, calls: Vec<JournalCall>, model: String },
    /// A call that changes something is about to be made.
    Began { call: String },
    /// What came of a call. `outside`: the text is from outside. `refused`: policy or the tool said no, and the text says why.
    Returned { call: String, text: String, outside: bool, refused: bool, trace: Option<Trace> },
}

impl JournalEntry {
    /// Whether text from outside came into the run with it.
    pub fn is_outside(&self) -> bool {
        match self {
            Self::Asked { tainted, .. } => *tainted,
            Self::Returned { outside, .. } => *outside,
            Self::Replied { .. } | Self::Began { .. } => false,
        }
    }
}

/// A call as the model wants it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct JournalCall {
    pub id: String,
    pub name: String,
    pub arguments: Value,
}

/// What a call left behind that can be checked later.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Trace {
    /// `url` as asked for, `from` where the text came from in the end, `links` those that the page names.
    Fetched {
        url: String,
        from: String,
        sha256: String,
        at: DateTime<Utc>,
        links: Vec<String>,
    },
    /// Addresses that a search gave.
    Found {
        urls: Vec<String>,
    },
    Wrote {
        path: String,
        sha256: String,
        bytes: u64,
    },
    /// A row was written: the kind and its id.
    Stored {
        kind: String,
        id: String,
    },
}
