use std::borrow::Cow;
use std::time::Duration;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

/// What is wanted from a feed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FeedQuery {
    pub now: DateTime<Utc>,
    pub since: DateTime<Utc>,
    pub until: DateTime<Utc>,
    /// The most items to hand over; what lies beyond is counted in [`Reading::total`].
    pub limit: usize,
}

impl FeedQuery {
    /// The beginning of today, in UTC as in the ledger.
    pub fn today(&self) -> DateTime<Utc> {
        self.now.date_naive().and_time(chrono::NaiveTime::MIN).and_utc()
    }
}

/// What a feed said. It can be kept with a report as it is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Reading {
    /// Where it comes from, for people: `git repository river`.
    pub source: String,
    /// How old the data is. A feed that asks nobody else is as fresh as the question.
    pub as_of: DateTime<Utc>,
    /// The feed's gauges as they stand, whatever the range: all commits, the open work items. Samples, signals and predictions rest
    /// on them.
    pub values: Vec<Value>,
    /// What happened in the range.
    pub items: Vec<FeedItem>,
    /// All items of the range, also those beyond the limit.
    pub total: usize,
    /// What a reader must know to understand the items: "this is no git repository".
    pub note: Option<String>,
}

impl Reading {
    /// The gauge of that name.
    pub fn find_value(&self, name: &str) -> Option<&Value> {
        self.values.iter().find(|value| value.name == name)
    }

    /// Says one thing more that a reader must know.
    pub fn add_note(&mut self, more: &str) {
        self.note = Some(match self.note.take() {
            Some(note) => format!("{note}; {more}"),
            None => more.to_owned(),
        });
    }
}

/// One fact of a feed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FeedItem {
    pub at: Option<DateTime<Utc>>,
    /// What such an item is called, in the singular, so that a reader can count: `commit`.
    pub what: Cow<'static, str>,
    /// Who did it, where somebody did.
    pub by: Option<String>,
    pub text: String,
    /// Where it can be looked up: a short commit hash, a file, a day of the ledger.
    pub reference: String,
    pub values: Vec<Value>,
}

impl FeedItem {
    /// The value of that name; zero where the item has none.
    pub fn value(&self, name: &str) -> f64 {
        self.values.iter().find(|value| value.name == name).map_or(0.0, |value| value.number)
    }
}

/// A number with its unit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Value {
    /// Fixed by the kind of feed, or chosen by who declared it.
    pub name: Cow<'static, str>,
    pub number: f64,
    /// Empty where the name says it.
    pub unit: Cow<'static, str>,
}

impl Value {
    pub fn new(name: impl Into<Cow<'static, str>>, number: f64, unit: impl Into<Cow<'static, str>>) -> Self {
        Self { name: name.into(), number, unit: unit.into() }
    }

    /// Something that was counted.
    #[expect(clippy::cast_precision_loss, reason = "nothing here is counted beyond 2^53")]
    pub fn count(name: impl Into<Cow<'static, str>>, count: u64) -> Self {
        Self::new(name, count as f64, "")
    }
}

/// `queue 12 jobs`.
impl std::fmt::Display for Value {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", self.name, self.number)?;
        if self.unit.is_empty() { Ok(()) } else { write!(f, " {}", self.unit) }
    }
}

/// A text that a feed holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Document {
    pub name: String,
    pub text: String,
    pub changed_at: Option<DateTime<Utc>>,
}

/// Why a feed has nothing to show. Told to the persona and in the report, never papered over (FEED-2).
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
pub enum FeedError {
    #[error("it did not answer within {} s", .0.as_secs())]
    TimedOut(Duration),
    #[error("{0}")]
    Failed(String),
    /// It worked before, or it works and its data is too old.
    #[error("no data since {} ({reason})", since.format("%Y-%m-%d %H:%M UTC"))]
    NoDataSince { since: DateTime<Utc>, reason: String },
}

/// How reading one feed ended.
#[derive(Debug, Clone, PartialEq)]
pub struct FeedReport {
    pub feed: String,
    pub outcome: Result<Reading, FeedError>,
}
