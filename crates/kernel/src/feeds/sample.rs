use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

/// A feed's value at one time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Sample {
    /// The feed's key, not its name: personas that declare the same source share its samples.
    pub feed: String,
    pub name: String,
    /// Empty for counts.
    pub unit: String,
    /// The time of the data, which may be earlier than the read.
    pub at: DateTime<Utc>,
    pub number: f64,
}
