//! A worker that a test or a benchmark moves step by step.

use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, Utc};
use tokio_util::sync::CancellationToken;

use super::store::{JobStore, Return, SeenWorker, WorkerId};
use super::{JobContext, JobError, Paused, RetentionRule};
use crate::db::{Database, Result};
use crate::time::ManualClock;

/// Applies a rule of retention once, as its job does. Returns how much it deleted.
pub async fn apply_rule(rule: &RetentionRule, database: &Database, now: DateTime<Utc>) -> Result<u64, JobError> {
    rule.apply_at(now, database, || Ok(())).await
}

/// A worker without a loop.
pub struct ManualWorker {
    store: JobStore,
    id: WorkerId,
}

impl ManualWorker {
    pub async fn start(database: Database, now: DateTime<Utc>) -> Result<Self> {
        let worker = Self { store: JobStore(database), id: WorkerId::generate() };
        worker.store.add_worker(&worker.id, now).await?;
        Ok(worker)
    }

    /// Claims the next job of a kind, unless its queue is paused or `in_all` run already. It rests when its time has not come.
    pub async fn claim(&self, kind: &str, in_all: u32, paused: &Paused, now: DateTime<Utc>) -> Result<Option<JobContext>> {
        for job in self.store.list_candidates(now).await? {
            if job.kind != kind || paused.includes(job.queue.as_deref()) {
                continue;
            }
            if let Some(job) = self.store.claim(job.id, &self.id, Some(in_all), now).await? {
                let (cancel, stop) = (CancellationToken::new(), CancellationToken::new());
                return Ok(Some(JobContext::new(job, self.store.clone(), Arc::new(ManualClock::new(now)), cancel, stop)));
            }
        }
        Ok(None)
    }

    /// Ends a run whose job sleeps.
    pub async fn put_to_sleep(&self, job: &JobContext, until: DateTime<Utc>) -> Result<bool> {
        self.store.put_back(job.job(), &Return::Sleep { until }).await
    }

    /// Gives its jobs to other workers, as if they had found its process dead.
    pub async fn die(&self, now: DateTime<Utc>) -> Result<()> {
        let none = WorkerId::generate();
        let seen = self.store.list_other_workers(&none).await?.into_iter().find(|worker| worker.id == self.id);
        let dead = seen.unwrap_or_else(|| SeenWorker { id: self.id.clone(), beat: None });
        self.store.take_back(&dead, |_, _| Duration::ZERO, now).await?;
        Ok(())
    }
}
