use std::borrow::Cow;
use std::time::Duration;

use chrono::{DateTime, Utc};
use chrono_tz::Tz;
use serde::{Deserialize, Serialize};

use crate::figure;
use crate::time::show_time;

/// The query for a feed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FeedQuery {
    pub now: DateTime<Utc>,
    pub since: DateTime<Utc>,
    pub until: DateTime<Utc>,
    /// The most items to return. [`Reading::total`] counts the rest too.
    pub limit: usize,
}

impl FeedQuery {
    /// The beginning of today in UTC, as in the ledger.
    pub fn today(&self) -> DateTime<Utc> {
        self.now.date_naive().and_time(chrono::NaiveTime::MIN).and_utc()
    }
}

/// The result of a feed. Can be stored in a report.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Reading {
    /// The source for display: `git repository river`.
    pub source: String,
    /// The time of the data. For local sources, the time of the query.
    pub as_of: DateTime<Utc>,
    /// Current values, independent of the range: all commits, the open work items. Used for samples, signals and predictions.
    pub values: Vec<Value>,
    /// Events in the range.
    pub items: Vec<FeedItem>,
    /// The number of items in the range, also beyond the limit.
    pub total: usize,
    /// A note that readers need: "this is no git repository".
    pub note: Option<String>,
    /// What a colleague would tell of the data, one sentence or list line each. The most important first.
    #[serde(default)]
    pub story: Vec<String>,
}

impl Reading {
    /// The value with this name.
    pub fn find_value(&self, name: &str) -> Option<&Value> {
        self.values.iter().find(|value| value.name == name)
    }

    /// Why there is nothing to read yet: no repository, no folder.
    pub fn find_absence(&self) -> Option<&str> {
        self.note.as_deref().filter(|_| self.values.is_empty() && self.items.is_empty())
    }

    /// Adds a note for readers.
    pub fn add_note(&mut self, more: &str) {
        self.note = Some(match self.note.take() {
            Some(note) => format!("{note}; {more}"),
            None => more.to_owned(),
        });
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FeedItem {
    pub at: Option<DateTime<Utc>>,
    /// The kind of item in the singular, for counting: `commit`.
    pub what: Cow<'static, str>,
    /// Who did it, if known.
    pub by: Option<String>,
    pub text: String,
    /// Where to look it up: a short commit hash, a file, a day of the ledger.
    pub reference: String,
    pub values: Vec<Value>,
}

impl FeedItem {
    /// The value with this name, or zero.
    pub fn value(&self, name: &str) -> f64 {
        self.values.iter().find(|value| value.name == name).map_or(0.0, |value| value.number)
    }
}

/// A number with its unit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Value {
    /// Fixed by the kind of feed, or chosen in the declaration.
    pub name: Cow<'static, str>,
    pub number: f64,
    /// Empty if the name implies it.
    pub unit: Cow<'static, str>,
}

impl Value {
    pub fn new(name: impl Into<Cow<'static, str>>, number: f64, unit: impl Into<Cow<'static, str>>) -> Self {
        Self { name: name.into(), number, unit: unit.into() }
    }

    /// A count.
    #[expect(clippy::cast_precision_loss, reason = "nothing here is counted beyond 2^53")]
    pub fn count(name: impl Into<Cow<'static, str>>, count: u64) -> Self {
        Self::new(name, count as f64, "")
    }
}

/// `queue 12 jobs`.
impl std::fmt::Display for Value {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", self.name, figure::with_unit(&self.number.to_string(), &self.unit))
    }
}

/// A document of a feed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Document {
    pub name: String,
    pub text: String,
    pub changed_at: Option<DateTime<Utc>>,
}

/// Why a feed has no data. Shown to the persona and in the report (FEED-2).
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
pub enum FeedError {
    #[error("it did not respond within {} s", .0.as_secs())]
    TimedOut(Duration),
    #[error("{0}")]
    Failed(String),
    /// It worked before, or its data is too old. For people, see [`Self::describe`].
    #[error("no data since {} ({reason})", since.to_rfc3339_opts(chrono::SecondsFormat::Secs, true))]
    NoDataSince { since: DateTime<Utc>, reason: String },
}

impl FeedError {
    /// For people, with times in their zone.
    pub fn describe(&self, zone: Tz) -> String {
        match self {
            Self::NoDataSince { since, reason } => format!("no data since {} ({reason})", show_time(*since, zone)),
            Self::TimedOut(_) | Self::Failed(_) => self.to_string(),
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct FeedReport {
    pub feed: String,
    pub outcome: Result<Reading, FeedError>,
}
