//! The stored steps of an agent run. An interrupted run resumes after its last entry, so no model call is paid twice.

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use serde::{Deserialize, Deserializer, Serialize};

use crate::agent::AnswerVerdict;
use crate::db::StoreError;
use crate::ids::PersonaSlug;
use crate::llm::ToolCall;
use crate::tools::{CallStatus, Trace};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum JournalEntry {
    /// The prompt. `tainted`: it contains text from outside (TRUST-1). `remarks`: see [`Prompt`](crate::agent::Prompt).
    Asked {
        system: String,
        message: String,
        tainted: bool,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        remarks: Vec<String>,
    },
    /// The model's reply. `model` is empty if code wrote it.
    Replied { text: String, calls: Vec<ToolCall>, model: String },
    /// A call with side effects is about to be made. Stored before the call, so that a restart knows that it may have happened.
    /// `own_words`: what it is, if the person's own words asked for it. See [`own_words`](crate::agent::run).
    Began {
        call: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        own_words: Option<String>,
    },
    /// The result of a call. `outside`: the text comes from outside.
    Returned {
        call: String,
        text: String,
        outside: bool,
        #[serde(alias = "refused", deserialize_with = "read_status")]
        status: CallStatus,
        trace: Option<Trace>,
    },
    /// The task was changed while the run was under way. `text` tells the model how.
    Told { text: String },
    /// The last reply claimed something that was not done. The model is told so once.
    SentBack { why: String },
    /// The verdict on the last reply. `model` is empty if code gave it.
    Judged { verdict: AnswerVerdict, model: String },
    /// An entry of the persona that grades the result of the run. Not part of the run itself.
    Graded { by: PersonaSlug, round: u32, entry: Box<JournalEntry> },
    /// An entry of a colleague that answers a question of the run. `call` is the number of the call that asks it. Not part of the run itself.
    Consulted { colleague: PersonaSlug, call: usize, entry: Box<JournalEntry> },
}

impl JournalEntry {
    /// Whether the entry brought text from outside into the run.
    pub fn is_outside(&self) -> bool {
        match self {
            Self::Asked { tainted, .. } => *tainted,
            Self::Returned { outside, .. } => *outside,
            Self::Replied { .. }
            | Self::Began { .. }
            | Self::Told { .. }
            | Self::SentBack { .. }
            | Self::Judged { .. }
            | Self::Graded { .. }
            | Self::Consulted { .. } => false,
        }
    }
}

/// Entries of the first version have `refused: true` or `refused: false`.
fn read_status<'de, D: Deserializer<'de>>(deserializer: D) -> Result<CallStatus, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Stored {
        Status(CallStatus),
        Refused(bool),
    }
    Ok(match Stored::deserialize(deserializer)? {
        Stored::Status(status) => status,
        Stored::Refused(true) => CallStatus::Refused,
        Stored::Refused(false) => CallStatus::Ok,
    })
}

/// Storage for the entries of one run.
#[async_trait]
pub trait Journal: Send + Sync {
    /// All entries in order.
    async fn read(&self) -> Result<Vec<(JournalEntry, DateTime<Utc>)>, StoreError>;

    /// Stores the next entries, all or none. Returns false and stores nothing if another worker owns the run.
    async fn append(&self, entries: &[JournalEntry], at: DateTime<Utc>) -> Result<bool, StoreError>;
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn entries_of_the_first_version_are_read() {
        for (refused, expected) in [(true, CallStatus::Refused), (false, CallStatus::Ok)] {
            let stored = json!({"returned": {"call": "a", "text": "", "outside": false, "refused": refused, "trace": null}});
            let read: JournalEntry = serde_json::from_value(stored).expect("an entry");
            assert!(matches!(&read, JournalEntry::Returned { status, .. } if *status == expected), "{read:?}");
            let again = serde_json::to_value(&read).expect("plain data");
            assert_eq!(serde_json::from_value::<JournalEntry>(again).expect("an entry"), read);
        }
    }
}
