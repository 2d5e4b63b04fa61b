use std::sync::{Mutex, PoisonError};

use async_trait::async_trait;
use chrono::{DateTime, TimeDelta, Utc};

use crate::features::backlog::executor::Assignment;
use crate::store::Store;
use kernel::agent::{Journal, JournalEntry};
use kernel::db::StoreError;

/// The journal of an item's run. Only its job may write.
pub(super) struct ItemJournal<'a> {
    pub(super) store: &'a Store,
    assignment: &'a Assignment<'a>,
    times: Mutex<Times>,
}

/// When the journal was last written to.
#[derive(Default, Clone, Copy)]
struct Times {
    entry: Option<DateTime<Utc>>,
    reply: Option<DateTime<Utc>>,
}

impl<'a> ItemJournal<'a> {
    pub(super) fn new(store: &'a Store, assignment: &'a Assignment<'a>) -> Self {
        Self { store, assignment, times: Mutex::default() }
    }

    /// The time of the last entry. None before the first.
    pub(super) fn last(&self) -> Option<DateTime<Utc>> {
        self.times().entry
    }

    /// The time of the last reply of the model. None before the first.
    pub(super) fn replied_at(&self) -> Option<DateTime<Utc>> {
        self.times().reply
    }

    /// How long the journal had not grown before `then`. Includes restarts, so failed attempts need no counter.
    pub(super) fn idle_before(&self, then: DateTime<Utc>) -> TimeDelta {
        self.last().map_or(TimeDelta::zero(), |last| (then - last).max(TimeDelta::zero()))
    }

    fn times(&self) -> Times {
        *self.times.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn note<'e>(&self, entries: impl IntoIterator<Item = (&'e JournalEntry, DateTime<Utc>)>) {
        let mut times = self.times.lock().unwrap_or_else(PoisonError::into_inner);
        for (entry, at) in entries {
            times.entry = Some(at);
            if matches!(entry, JournalEntry::Replied { .. }) {
                times.reply = Some(at);
            }
        }
    }
}

#[async_trait]
impl Journal for ItemJournal<'_> {
    async fn read(&self) -> Result<Vec<(JournalEntry, DateTime<Utc>)>, StoreError> {
        let item = self.assignment.item;
        let entries = self.store.list_journal(&item.id, item.run).await?;
        self.note(entries.iter().map(|(entry, at)| (entry, *at)));
        Ok(entries)
    }

    async fn append(&self, entries: &[JournalEntry], at: DateTime<Utc>) -> Result<bool, StoreError> {
        let stored = self.store.append_journal(self.assignment.job, self.assignment.item, entries, at).await?;
        if stored {
            self.note(entries.iter().map(|entry| (entry, at)));
        }
        Ok(stored)
    }
}
