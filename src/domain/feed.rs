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

/// What became of a number since an earlier time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Change {
    /// The feed as people know it.
    pub feed: String,
    pub name: String,
    pub unit: String,
    /// None where nothing comparable was known then.
    pub before: Option<(DateTime<Utc>, f64)>,
    pub now: (DateTime<Utc>, f64),
}

impl Change {
    /// The change of a feed's number from the sample that was the newest then. A sample in another unit is no comparison, nor is one
    /// that is newer than what the feed says now: the data went back in time.
    pub fn between(feed: &str, before: Option<&Sample>, now: &Sample) -> Self {
        let before = before.filter(|before| before.unit == now.unit && before.at <= now.at);
        Self {
            feed: feed.to_owned(),
            name: now.name.clone(),
            unit: now.unit.clone(),
            before: before.map(|before| (before.at, before.number)),
            now: (now.at, now.number),
        }
    }

    /// How much it rose; negative where it fell.
    pub fn difference(&self) -> Option<f64> {
        self.before.map(|(_, before)| self.now.1 - before)
    }
}

#[cfg(test)]
mod tests {
    use chrono::TimeDelta;

    use super::*;

    fn sample(minutes: i64, unit: &str, number: f64) -> Sample {
        let at = DateTime::UNIX_EPOCH + TimeDelta::minutes(minutes);
        Sample { feed: "git".into(), name: "latency".into(), unit: unit.into(), at, number }
    }

    #[test]
    fn a_change_compares_only_what_is_comparable() {
        let now = sample(60, "ms", 120.0);
        let difference = |before: Option<Sample>| Change::between("service", before.as_ref(), &now).difference();
        assert_eq!(difference(Some(sample(0, "ms", 100.0))), Some(20.0));
        assert_eq!(difference(Some(sample(60, "ms", 120.0))), Some(0.0));
        assert_eq!(difference(None), None);
        assert_eq!(difference(Some(sample(0, "s", 0.1))), None, "another unit");
        assert_eq!(difference(Some(sample(61, "ms", 100.0))), None, "newer than what is said now");
    }
}
