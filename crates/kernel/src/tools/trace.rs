//! What tool calls leave behind.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

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
