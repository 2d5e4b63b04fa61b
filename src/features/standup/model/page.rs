//! The shared page of a standup: the data of all feeds, read once (STAND-3).

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::features::standup::model::checkin::PersonSaid;
use crate::features::standup::model::report::ValueChange;
use kernel::feeds::condition::Expectation;
use kernel::ids::PersonaSlug;

/// The kinds of feeds whose text is written by others than the team.
const FROM_OUTSIDE: [&str; 4] = ["github", "http_json", "rss", "search"];

/// The data of all participants' feeds at one time. Stored with the meeting, so that a restart uses the same data.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SharedPage {
    pub read_at: DateTime<Utc>,
    /// The start of the listed items: the last report, or a day ago.
    pub since: DateTime<Utc>,
    /// Whether the channel has no earlier report to compare with.
    #[serde(default)]
    pub is_first: bool,
    pub feeds: Vec<PageFeed>,
    /// Changed values since the last report.
    pub changes: Vec<ValueChange>,
    /// What people wrote before the standup. Absent in pages of earlier versions.
    #[serde(default)]
    pub people: Vec<PersonSaid>,
}

impl SharedPage {
    /// Whether the page contains text that somebody outside the team may have written.
    pub fn has_text_from_outside(&self) -> bool {
        let has_text = |reading: &PageReading| !reading.items.is_empty() || !reading.story.is_empty() || reading.note.is_some();
        self.feeds.iter().any(|feed| FROM_OUTSIDE.contains(&feed.kind.as_str()) && feed.outcome.as_ref().is_ok_and(has_text))
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PageFeed {
    pub feed: String,
    /// The kind of feed: `git`, `http_json`, …
    pub kind: String,
    /// The personas that declare it.
    pub of: Vec<PersonaSlug>,
    /// The data, or why there is none (for people).
    pub outcome: Result<PageReading, String>,
    /// The operator's expectations of its values.
    #[serde(default)]
    pub expect: Vec<Expectation>,
}

/// The data of a feed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PageReading {
    /// For people: `git repository river`.
    pub source: String,
    pub as_of: DateTime<Utc>,
    /// Newest first.
    pub items: Vec<PageItem>,
    /// All items since the last report, including those not listed.
    pub total: usize,
    pub values: Vec<PageValue>,
    pub note: Option<String>,
    /// A short description of the data, as a colleague would give it.
    #[serde(default)]
    pub story: Vec<String>,
    /// What identifies all entries of news, also those that are not new.
    #[serde(default)]
    pub seen: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PageItem {
    pub at: Option<DateTime<Utc>>,
    /// The kind of item in the singular: `commit`.
    pub what: String,
    pub by: Option<String>,
    pub text: String,
    /// The source of the item.
    pub reference: String,
}

/// A feed's value with its unit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PageValue {
    pub name: String,
    pub number: f64,
    pub unit: String,
}

/// Feeds about the team itself. They move with everything the team does.
const OWN: [&str; 3] = ["activity", "backlog", "ledger"];

/// Feeds that carry news.
const NEWS: [&str; 2] = ["rss", SEARCH];
const SEARCH: &str = "search";

impl PageFeed {
    pub fn is_own(&self) -> bool {
        OWN.contains(&self.kind.as_str())
    }

    pub fn is_news(&self) -> bool {
        NEWS.contains(&self.kind.as_str())
    }

    /// Whether the data has a description by people of what its items are about.
    pub fn is_search(&self) -> bool {
        self.kind == SEARCH
    }

    /// The reason why there is nothing to read yet: no repository, no folder.
    pub fn find_absence(&self) -> Option<&str> {
        let reading = self.reading()?;
        reading.note.as_deref().filter(|_| reading.values.is_empty() && reading.items.is_empty())
    }

    /// The data, if it was read.
    pub fn reading(&self) -> Option<&PageReading> {
        self.outcome.as_ref().ok()
    }
}

impl SharedPage {
    /// The value of a feed, by the names of both.
    pub fn find_value(&self, feed: &str, name: &str) -> Option<&PageValue> {
        let readings = self.feeds.iter().filter(|page| page.feed == feed).filter_map(|page| page.outcome.as_ref().ok());
        readings.flat_map(|reading| &reading.values).find(|value| value.name == name)
    }

    /// All feeds but those that have nothing to read yet.
    pub fn list_with_material(&self) -> impl Iterator<Item = &PageFeed> {
        self.feeds.iter().filter(|feed| feed.find_absence().is_none())
    }

    /// The feeds of a persona.
    pub fn feeds_of<'a>(&'a self, persona: &'a PersonaSlug) -> impl Iterator<Item = &'a PageFeed> {
        self.feeds.iter().filter(move |feed| feed.of.contains(persona))
    }
}
