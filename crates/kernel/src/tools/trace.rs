use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

/// A verifiable trace of a call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Trace {
    /// `url` as requested, `from` after redirects, `links` as found on the page.
    Fetched {
        url: String,
        from: String,
        sha256: String,
        at: DateTime<Utc>,
        links: Vec<String>,
    },
    /// Addresses found by a search.
    Found {
        urls: Vec<String>,
    },
    Wrote {
        path: String,
        sha256: String,
        bytes: u64,
    },
    /// A stored row: kind and id.
    Stored {
        kind: String,
        id: String,
    },
    /// A stored row, or a command that was carried out, with the sentence that tells people what was done.
    Confirmed {
        id: String,
        words: String,
    },
}
