use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::domain::feed::{Change, Sample};
use crate::domain::ids::PersonaSlug;
use crate::feeds::{FeedError, Reading};
use crate::store::{Store, StoreError};

/// What all feeds of the team said at one time; kept with the report that rests on it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SharedPage {
    pub at: DateTime<Utc>,
    /// Each feed once.
    pub entries: Vec<PageEntry>,
}

/// One feed of the page.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PageEntry {
    /// Whose feed it is.
    pub personas: Vec<PersonaSlug>,
    /// Its declared name.
    pub feed: String,
    /// One of the kinds of feed.
    pub kind: String,
    pub outcome: Result<Reading, FeedError>,
    /// The values of the reading, as they are to be recorded.
    pub samples: Vec<Sample>,
}

impl SharedPage {
    /// All numbers of the page.
    pub fn samples(&self) -> Vec<Sample> {
        self.entries.iter().flat_map(|entry| entry.samples.iter().cloned()).collect()
    }

    /// What became of each number since `then`, the instant of the last report: compared with the newest sample at or before it.
    ///
    /// # Errors
    /// The store cannot be read.
    pub async fn list_changes(&self, store: &Store, then: DateTime<Utc>) -> Result<Vec<Change>, StoreError> {
        let mut changes = Vec::new();
        for (entry, now) in self.entries.iter().flat_map(|entry| entry.samples.iter().map(move |sample| (entry, sample))) {
            let before = store.find_sample_before(&now.feed, &now.name, then).await?;
            changes.push(Change::between(&entry.feed, before.as_ref(), now));
        }
        Ok(changes)
    }
}
