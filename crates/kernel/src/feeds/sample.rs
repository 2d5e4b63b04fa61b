//! Numbers of feeds over time.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

/// One number of a feed as it was at one time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Sample {
    /// The key of the declaration, not its name: personas that declare one source share its samples.
    pub feed: String,
    pub name: String,
    /// Empty for plain counts.
    pub unit: String,
    /// The data's own time, which may be before it was read.
    pub at: DateTime<Utc>,
    pub number: f64,
}
