//! Feeds: the live data sources that a persona declares in its front matter (FEED-1).
//!
//! One file per kind; adding a kind is one file and one line in `KINDS`. A feed reads and says where each fact stands; it keeps
//! nothing, and it judges nothing: what is worth telling is decided in `persona`. What the team itself did comes through
//! [`ActivitySource`] and [`LedgerSource`], so that this folder does not know the store's tables.

mod activity;
mod files;
mod git;
mod ledger;
mod settings;
mod watched;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use chrono::{DateTime, Utc};

pub use activity::{ActivityLine, ActivitySource};
pub use ledger::{CostGroup, CostLine, LedgerSource};
pub use settings::FeedSpecError;

use crate::clock::SharedClock;
use crate::domain::persona::FeedSpec;
use settings::Settings;
use watched::Watched;

/// A live data source.
#[async_trait]
pub trait Feed: Send + Sync {
    /// As the persona declared it; shown in reports and citations.
    fn name(&self) -> &str;

    /// One of [`kinds`].
    fn kind(&self) -> &'static str;

    /// What there is between `asked.since` and `asked.until`, newest first.
    async fn read(&self, asked: &FeedQuery) -> Result<Reading, FeedError>;

    /// Whole texts that may be searched, for kinds that hold some.
    async fn documents(&self, _now: DateTime<Utc>) -> Result<Vec<Document>, FeedError> {
        Ok(Vec::new())
    }
}

/// What is wanted from a feed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FeedQuery {
    pub now: DateTime<Utc>,
    pub since: DateTime<Utc>,
    pub until: DateTime<Utc>,
    /// The most items to hand over; what lies beyond is counted in [`Reading::total`].
    pub limit: usize,
}

/// What a feed said.
#[derive(Debug, Clone, PartialEq)]
pub struct Reading {
    /// Where it comes from, for people: `git repository river`.
    pub source: String,
    /// How old the data is. A feed that asks nobody else is as fresh as the question.
    pub as_of: DateTime<Utc>,
    pub items: Vec<FeedItem>,
    /// All items of the range, also those beyond the limit.
    pub total: usize,
    /// What a reader must know to understand the items: "this is no git repository".
    pub note: Option<String>,
}

/// One fact of a feed.
#[derive(Debug, Clone, PartialEq)]
pub struct FeedItem {
    pub at: Option<DateTime<Utc>>,
    /// What such an item is called, in the singular, so that a reader can count: `commit`.
    pub what: &'static str,
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
#[derive(Debug, Clone, PartialEq)]
pub struct Value {
    pub name: &'static str,
    pub number: f64,
    pub unit: &'static str,
}

/// A text that a feed holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Document {
    pub name: String,
    pub text: String,
    pub changed_at: Option<DateTime<Utc>>,
}

/// Why a feed has nothing to show. Told to the persona and in the report, never papered over (FEED-2).
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
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

/// Reads all feeds side by side, so that it takes as long as the slowest.
pub async fn read_all(feeds: &[Box<dyn Feed>], asked: &FeedQuery) -> Vec<FeedReport> {
    let reports = feeds.iter().map(async |feed| FeedReport { feed: feed.name().to_owned(), outcome: feed.read(asked).await });
    futures_util::future::join_all(reports).await
}

/// What feeds are built from.
#[derive(Clone)]
pub struct FeedSources {
    /// The directory that relative paths start at.
    pub work: PathBuf,
    pub clock: SharedClock,
    pub activity: Arc<dyn ActivitySource>,
    pub ledger: Arc<dyn LedgerSource>,
}

type Build = fn(&mut Settings<'_>, &FeedSources) -> Result<Box<dyn Feed>, FeedSpecError>;

const KINDS: &[(&str, Build)] =
    &[(activity::KIND, activity::build), (files::KIND, files::build), (git::KIND, git::build), (ledger::KIND, ledger::build)];

/// The kinds of feed there are.
pub fn kinds() -> impl Iterator<Item = &'static str> {
    KINDS.iter().map(|(kind, _)| *kind)
}

/// Builds a feed as it was declared. It answers in time or says since when it has not.
///
/// # Errors
/// A sentence that names the feed, the key and what is allowed there.
pub fn build(spec: &FeedSpec, sources: &FeedSources) -> Result<Box<dyn Feed>, FeedSpecError> {
    let (_, build) = KINDS
        .iter()
        .find(|(kind, _)| *kind == spec.kind)
        .ok_or_else(|| FeedSpecError::UnknownKind { kind: spec.kind.clone(), known: kinds().collect::<Vec<_>>().join(", ") })?;
    let mut settings = Settings::new(spec);
    let limits = watched::Limits::read(&mut settings)?;
    let feed = build(&mut settings, sources)?;
    settings.finish()?;
    Ok(Box::new(Watched::new(feed, limits, sources.clock.clone())))
}

#[cfg(test)]
pub(crate) mod fixture;
#[cfg(test)]
mod tests;
