//! The kinds of feed: one file each, and one line each in `KINDS`.
//!
//! A kind only reads. Time-outs, ages, names and keys are handled by [`super::feed`].

mod activity;
mod backlog;
mod files;
mod git;
mod github;
mod http_json;
mod ledger;
mod rss;
mod search;

use async_trait::async_trait;
use chrono::{DateTime, Utc};

pub use activity::{ActivityLine, ActivitySource};
pub use backlog::{Backlog, BacklogSource, WorkLine};
pub use ledger::LedgerSource;

use crate::feeds::settings::Settings;
use crate::feeds::{Document, FeedError, FeedQuery, FeedSources, FeedSpecError, Reading};
use crate::persona::FeedSpec;

/// A source of one kind.
#[async_trait]
pub trait Source: Send + Sync {
    /// The items between `asked.since` and `asked.until`, newest first.
    async fn read(&self, asked: &FeedQuery) -> Result<Reading, FeedError>;

    /// Earlier values that the source itself knows, oldest first.
    async fn history(&self, _value: &str, _since: DateTime<Utc>, _until: DateTime<Utc>) -> Result<Vec<(DateTime<Utc>, f64)>, FeedError> {
        Ok(Vec::new())
    }

    /// Whether a value can never fall.
    fn only_rises(&self, _value: &str) -> bool {
        false
    }

    /// Whether it is on this machine, so that it can be read for each question.
    fn is_local(&self) -> bool {
        false
    }

    /// Whether an item is new when it is first seen, whatever its time. A standup then asks for all its items.
    fn counts_when_seen(&self) -> bool {
        false
    }

    /// Searchable documents, for kinds that have some.
    async fn documents(&self, _now: DateTime<Utc>) -> Result<Vec<Document>, FeedError> {
        Ok(Vec::new())
    }

    /// The names of all documents, also of those that are not searched because they are too large or too many.
    async fn list_documents(&self) -> Result<Vec<String>, FeedError> {
        Ok(Vec::new())
    }

    /// The text of a document that [`Self::list_documents`] names.
    async fn open_document(&self, name: &str) -> Result<String, FeedError> {
        Err(FeedError::Failed(format!("there is no document {name}")))
    }
}

pub(super) type Build = fn(&mut Settings<'_>, &FeedSources) -> Result<Box<dyn Source>, FeedSpecError>;

const KINDS: &[(&str, Build)] = &[
    ("activity", activity::build),
    ("backlog", backlog::build),
    ("files", files::build),
    ("git", git::build),
    ("github", github::build),
    ("http_json", http_json::build),
    ("ledger", ledger::build),
    ("rss", rss::build),
    ("search", search::build),
];

/// The names of all kinds.
pub fn kinds() -> impl Iterator<Item = &'static str> {
    KINDS.iter().map(|(kind, _)| *kind)
}

/// The constructor of a declared kind.
pub(super) fn find_build(spec: &FeedSpec) -> Result<Build, FeedSpecError> {
    let found = KINDS.iter().find(|(kind, _)| *kind == spec.kind).map(|(_, build)| *build);
    found.ok_or_else(|| FeedSpecError::UnknownKind { kind: spec.kind.clone(), known: kinds().collect::<Vec<_>>().join(", ") })
}
