//! Feeds: live data sources declared in a persona's front matter (FEED-1).
//!
//! `kinds` has one file per kind. To add one, add a file and a line in `KINDS`. `feed` has the common parts: name, sample key, time-out and
//! maximum age. A feed only reads; which values matter is decided elsewhere. The team's own data comes through [`ActivitySource`],
//! [`BacklogSource`] and [`LedgerSource`], so this folder does not depend on the store's tables.

pub mod condition;
mod feed;
mod kinds;
mod reading;
mod sample;
mod services;
mod settings;
mod store;
mod web;

use std::path::PathBuf;
use std::sync::Arc;

use chrono_tz::Tz;

pub use feed::Feed;
pub use kinds::{ActivityLine, ActivitySource, Backlog, BacklogSource, LedgerSource, WorkLine, kinds};
pub use reading::{Document, FeedError, FeedItem, FeedQuery, FeedReport, Reading, Value};
pub use sample::Sample;
pub use services::{FeedSettings, Services};
pub use settings::FeedSpecError;
pub use store::retention;
pub use web::Web;

use crate::persona::FeedSpec;
use crate::time::SharedClock;
use settings::Settings;

/// Reads all feeds concurrently. Takes as long as the slowest.
pub async fn read_all(feeds: &[Feed], asked: &FeedQuery) -> Vec<FeedReport> {
    let reports = feeds.iter().map(async |feed| FeedReport { feed: feed.name().to_owned(), outcome: feed.read(asked).await });
    futures_util::future::join_all(reports).await
}

/// What feeds are built from.
#[derive(Clone)]
pub struct FeedSources {
    /// The base of relative paths.
    pub work: PathBuf,
    pub clock: SharedClock,
    /// The zone in which people read times.
    pub zone: Tz,
    pub web: Web,
    pub activity: Arc<dyn ActivitySource>,
    pub backlog: Arc<dyn BacklogSource>,
    pub ledger: Arc<dyn LedgerSource>,
    pub services: Services,
}

/// Builds a declared feed.
///
/// # Errors
/// A sentence with the feed, the key and the allowed values.
pub fn build(spec: &FeedSpec, sources: &FeedSources) -> Result<Feed, FeedSpecError> {
    let mut settings = Settings::new(spec);
    let build = kinds::find_build(spec)?;
    let limits = feed::Limits::read(&mut settings)?;
    let source = build(&mut settings, sources)?;
    settings.finish()?;
    Ok(Feed::new(spec, source, limits, sources.clock.clone(), sources.zone))
}

/// Builds the feeds of a team. The same declaration in several personas becomes one feed, which is read once.
pub struct FeedBuilder {
    sources: FeedSources,
    built: Vec<(FeedSpec, Feed)>,
}

impl FeedBuilder {
    pub fn new(sources: FeedSources) -> Self {
        Self { sources, built: Vec::new() }
    }

    /// The feed for a declaration.
    ///
    /// # Errors
    /// As [`build`].
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
