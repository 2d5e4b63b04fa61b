use std::sync::{Mutex, MutexGuard};

use async_trait::async_trait;
use chrono::{DateTime, Utc};

use kernel::agent::{Journal, JournalEntry};
use kernel::db::StoreError;
use kernel::jobs::{JobContext, JobError};

type Entry = (JournalEntry, DateTime<Utc>);

/// Stores the steps of a turn as steps of its job, so that a run after a crash repeats no call of a tool. Stores nothing before the first such call:
/// an answer without tools is a single model call.
pub(super) struct TurnJournal<'a> {
    job: &'a JobContext,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// Entries that are not stored yet.
    held: Vec<Entry>,
    stored: usize,
}

impl<'a> TurnJournal<'a> {
    pub(super) fn new(job: &'a JobContext) -> Self {
        Self { job, state: Mutex::default() }
    }

    /// Whether the job has steps of this turn.
    pub(super) fn is_stored(&self) -> bool {
        self.state().stored > 0
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("no code panics while it holds the journal")
    }

    async fn find(&self, number: usize) -> Result<Option<Entry>, JobError> {
        self.job.find_step(&name(number)).await
    }
}

fn name(number: usize) -> String {
    format!("entry {number}")
}

fn begins_to_act(entry: &JournalEntry) -> bool {
    matches!(entry, JournalEntry::Replied { calls, .. } if !calls.is_empty())
}

#[async_trait]
impl Journal for TurnJournal<'_> {
    async fn read(&self) -> Result<Vec<Entry>, StoreError> {
        let mut entries = Vec::new();
        loop {
            match self.find(entries.len()).await {
                Ok(Some(entry)) => entries.push(entry),
                Ok(None) => break,
                Err(JobError::Unavailable(error)) => return Err(error),
                Err(error) => {
                    // Another version wrote this entry, so the turn begins again.
                    tracing::warn!(%error, "the steps of a turn cannot be read");
                    entries.clear();
                    break;
                }
            }
        }
        self.state().stored = entries.len();
        Ok(entries)
    }

    async fn append(&self, entries: &[JournalEntry], at: DateTime<Utc>) -> Result<bool, StoreError> {
        let (waiting, first) = {
            let mut state = self.state();
            state.held.extend(entries.iter().map(|entry| (entry.clone(), at)));
            if state.stored == 0 && !state.held.iter().any(|(entry, _)| begins_to_act(entry)) {
                return Ok(true);
            }
            (std::mem::take(&mut state.held), state.stored)
        };
        match self.store(&waiting, first).await {
            Ok(()) => {
                self.state().stored = first + waiting.len();
                Ok(true)
            }
            Err(JobError::Unavailable(error)) => Err(error),
            Err(error) => {
                tracing::info!(job = self.job.job().id.0, %error, "a turn is not this worker's any more");
                Ok(false)
            }
        }
    }
}

impl TurnJournal<'_> {
    async fn store(&self, entries: &[Entry], first: usize) -> Result<(), JobError> {
        let mut transaction = self.job.begin().await?;
        for (number, entry) in (first..).zip(entries) {
            self.job.record_step(&mut transaction, &name(number), entry).await?;
        }
        Ok(transaction.commit().await?)
    }
}
