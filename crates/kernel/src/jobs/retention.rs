//! Deletes jobs that finished long ago, with their steps.

use std::collections::HashMap;
use std::time::Duration;

use async_trait::async_trait;
use chrono::{DateTime, Utc};

use super::store::{FinishedJob, JobStore, enqueue};
use super::{JobContext, JobError, JobHandler, JobId, KindSettings, NewJob};
use crate::db::{Database, StoreError};

const KIND: &str = "jobs.retention";

const EVERY: Duration = Duration::from_hours(1);

/// How many jobs are looked at in one piece, so that no transaction is long.
const PIECE: u32 = 200;

pub(super) struct Retention {
    store: JobStore,
    kept: HashMap<String, Duration>,
}

impl Retention {
    pub(super) fn new(store: JobStore, kept: HashMap<String, Duration>) -> Self {
        Self { store, kept }
    }

    pub(super) async fn enqueue(database: &Database, now: DateTime<Utc>) -> Result<(), StoreError> {
        let mut transaction = database.db().begin().await?;
        enqueue(&mut transaction, &NewJob::new(KIND, &()).unique(KIND), now).await?;
        transaction.commit().await
    }

    fn is_over(&self, job: &FinishedJob, now: DateTime<Utc>) -> bool {
        let kept = self.kept.get(&job.kind).copied().unwrap_or(KindSettings::default().retention);
        job.finished_at + kept <= now
    }
}

#[async_trait]
impl JobHandler for Retention {
    fn kind(&self) -> &'static str {
        KIND
    }

    fn settings(&self) -> KindSettings {
        KindSettings { parallel: 1, max_attempts: u32::MAX, ..KindSettings::default() }
    }

    async fn run(&self, job: &JobContext) -> Result<(), JobError> {
        let now = job.now();
        let mut after = JobId(0);
        loop {
            job.check()?;
            let finished = self.store.list_finished(after, PIECE).await?;
            let Some(last) = finished.last() else { break };
            after = last.id;
            let over: Vec<_> = finished.iter().filter(|job| self.is_over(job, now)).map(|job| job.id).collect();
            if !over.is_empty() {
                self.store.delete(&over).await?;
            }
        }
        Err(JobError::Sleep(now + EVERY))
    }
}
