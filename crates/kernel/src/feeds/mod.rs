//! Feeds: the live data sources that a persona declares in its front matter (FEED-1).
//!
//! `kinds` has one file per kind; adding one is one file and one line in `KINDS`. `feed` is what they have in common: a name, a key for
//! samples, a time-out, an age beyond which data is stale. A feed reads and says where each fact stands; it keeps nothing but the age of
//! what it saw last, and it judges nothing: what is worth telling is decided in `persona`. What the team itself did comes through
//! [`ActivitySource`], [`BacklogSource`] and [`LedgerSource`], so that this folder does not know the store's tables.

pub mod condition;
mod feed;
mod kinds;
mod reading;
mod sample;
mod settings;
mod store;
mod web;

use std::path::PathBuf;
use std::sync::Arc;

pub use feed::Feed;
pub use kinds::{ActivityLine, ActivitySource, Backlog, BacklogSource, LedgerSource, WorkLine, kinds};
pub use reading::{Document, FeedError, FeedItem, FeedQuery, FeedReport, Reading, Value};
pub use sample::Sample;
pub use settings::FeedSpecError;
pub use store::retention;
pub use web::Web;

use crate::persona::FeedSpec;
use crate::time::SharedClock;
use settings::Settings;

/// Reads all feeds side by side, so that it takes as long as the slowest.
pub async fn read_all(feeds: &[Feed], asked: &FeedQuery) -> Vec<FeedReport> {
    let reports = feeds.iter().map(async |feed| FeedReport { feed: feed.name().to_owned(), outcome: feed.read(asked).await });
    futures_util::future::join_all(reports).await
}

/// What feeds are built from.
#[derive(Clone)]
pub struct FeedSources {
    /// The directory that relative paths start at.
    pub work: PathBuf,
    pub clock: SharedClock,
    pub web: Web,
    pub activity: Arc<dyn ActivitySource>,
    pub backlog: Arc<dyn BacklogSource>,
    pub ledger: Arc<dyn LedgerSource>,
}

/// Builds a feed as it was declared. It answers in time or says since when it has not.
///
/// # Errors
/// A sentence that names the feed, the key and what is allowed there.
pub fn build(spec: &FeedSpec, sources: &FeedSources) -> Result<Feed, FeedSpecError> {
    let mut settings = Settings::new(spec);
    let build = kinds::find_build(spec)?;
    let limits = feed::Limits::read(&mut settings)?;
    let source = build(&mut settings, sources)?;
    settings.finish()?;
    Ok(Feed::new(spec, source, limits, sources.clock.clone()))
}

/// Builds the feeds of a whole team: a declaration that several personas share becomes one feed, which is read once for all of them.
pub struct FeedBuilder {
    sources: FeedSources,
    built: Vec<(FeedSpec, Feed)>,
}

impl FeedBuilder {
    pub fn new(sources: FeedSources) -> Self {
        Self { sources, built: Vec::new() }
    }

    /// The feed of this declaration.
    ///
    /// # Errors
    /// As of [`build`].
    pub fn build(&mut self, spec: &FeedSpec) -> Result<Feed, FeedSpecError> {
        if let Some((_, feed)) = self.built.iter().find(|(known, _)| known == spec) {
            return Ok(feed.clone());
        }
        let feed = build(spec, &self.sources)?;
        self.built.push((spec.clone(), feed.clone()));
        Ok(feed)
    }
}

#[cfg(test)]
#[cfg(test)]
mod tests;
