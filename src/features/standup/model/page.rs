//! The shared page of a standup: what every feed said, read once and in front of everybody (STAND-3).

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::features::standup::model::report::ValueChange;
use kernel::ids::PersonaSlug;

/// All feeds of all participants at one time. Stored with the meeting, so that a restart goes on with the same facts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SharedPage {
    pub read_at: DateTime<Utc>,
    /// Since when items are listed: the last report, or a day ago.
    pub since: DateTime<Utc>,
    pub feeds: Vec<PageFeed>,
    /// What changed since then, as numbers.
    pub changes: Vec<ValueChange>,
}

/// One feed of the page.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PageFeed {
    pub feed: String,
    /// One of the kinds of feed: `git`, `http_json`, …
    pub kind: String,
    /// The personas that declare it.
    pub of: Vec<PersonaSlug>,
    /// Why there is nothing, in words for people, where there is nothing.
    pub outcome: Result<PageReading, String>,
}

/// What a feed said.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PageReading {
    /// Where it comes from, for people: `git repository river`.
    pub source: String,
    pub as_of: DateTime<Utc>,
    /// Newest first.
    pub items: Vec<PageItem>,
    /// All items since the last report, also those not listed.
    pub total: usize,
    pub values: Vec<PageValue>,
    pub note: Option<String>,
}

/// One fact of a feed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PageItem {
    pub at: Option<DateTime<Utc>>,
    /// What such an item is called, in the singular: `commit`.
    pub what: String,
    pub by: Option<String>,
    pub text: String,
    /// Where it can be looked up.
    pub reference: String,
}

/// A named value of a feed with its unit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PageValue {
    pub name: String,
    pub number: f64,
    pub unit: String,
}

impl SharedPage {
    /// The value of that name of the feed of that name.
    pub fn find_value(&self, feed: &str, name: &str) -> Option<&PageValue> {
        let readings = self.feeds.iter().filter(|page| page.feed == feed).filter_map(|page| page.outcome.as_ref().ok());
        readings.flat_map(|reading| &reading.values).find(|value| value.name == name)
    }

    /// The feeds that a persona declares.
    pub fn feeds_of<'a>(&'a self, persona: &'a PersonaSlug) -> impl Iterator<Item = &'a PageFeed> {
        self.feeds.iter().filter(move |feed| feed.of.contains(persona))
    }
}
