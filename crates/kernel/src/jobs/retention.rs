//! Deletes old rows: one job applies the rules of all features, every hour and in small batches.

use std::collections::HashMap;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use async_trait::async_trait;
use chrono::{DateTime, TimeDelta, Utc};

use super::store::{FinishedJob, JobStore, enqueue};
use super::{JobContext, JobError, JobHandler, JobId, KindSettings, NewJob};
use crate::catch_panic::catch_panic;
use crate::db::{Database, Result};

const KIND: &str = "retention";

const EVERY: Duration = Duration::from_hours(1);

/// The delay of the very first deletion. A process starts with urgent work, and a job that runs beside another is never blamed alone for a crash.
const FIRST: Duration = Duration::from_mins(1);

/// Rows per batch, so that every transaction is short.
pub(super) const PIECE: u32 = 200;

type Deleting = Pin<Box<dyn Future<Output = Result<u64>> + Send>>;

/// A rule of a feature that deletes old rows.
pub struct RetentionRule {
    name: &'static str,
    tables: &'static [&'static str],
    kept: Duration,
    delete: Box<dyn Fn(Database, DateTime<Utc>, u32) -> Deleting + Send + Sync>,
}

impl RetentionRule {
    /// `delete` deletes up to a number of rows that are older than a time, in one transaction, and returns how many. It keeps rows that open work
    /// refers to. It is called again until a batch is not full.
    pub fn new(
        name: &'static str,
        tables: &'static [&'static str],
        kept: Duration,
        delete: impl Fn(Database, DateTime<Utc>, u32) -> Deleting + Send + Sync + 'static,
    ) -> Self {
        Self { name, tables, kept, delete: Box::new(delete) }
    }

    /// The tables from which it deletes rows.
    pub fn tables(&self) -> &'static [&'static str] {
        self.tables
    }

    /// Deletes everything that is old at `now`, and says how much. `may_go_on` is called before each batch.
    pub(super) async fn apply_at(
        &self,
        now: DateTime<Utc>,
        database: &Database,
        may_go_on: impl Fn() -> Result<(), JobError>,
    ) -> Result<u64, JobError> {
        let kept = TimeDelta::from_std(self.kept).unwrap_or(TimeDelta::MAX);
        let Some(before) = now.checked_sub_signed(kept) else { return Ok(0) };
        let mut all = 0;
        loop {
            may_go_on()?;
            let deleted = (self.delete)(database.clone(), before, PIECE).await?;
            all += deleted;
            if deleted < u64::from(PIECE) {
                return Ok(all);
            }
        }
    }

    async fn apply(&self, job: &JobContext) -> Result<(), JobError> {
        let all = self.apply_at(job.now(), job.database(), || job.check()).await?;
        if all > 0 {
            metrics::counter!("teamroom_rows_deleted_total", "rule" => self.name).increment(all);
            tracing::info!(rule = self.name, rows = all, "old rows were deleted");
        }
        Ok(())
    }
}

impl fmt::Debug for RetentionRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RetentionRule").field("name", &self.name).field("kept", &self.kept).finish_non_exhaustive()
    }
}

pub(super) struct Retention {
    rules: Vec<RetentionRule>,
}

impl Retention {
    pub(super) fn new(rules: Vec<RetentionRule>) -> Self {
        Self { rules }
    }

    pub(super) async fn enqueue(database: &Database, now: DateTime<Utc>) -> Result<()> {
        let mut transaction = database.db().begin().await?;
        enqueue(&mut transaction, &NewJob::new(KIND, &()).unique(KIND).at(now + FIRST), now).await?;
        transaction.commit().await
    }
}

#[async_trait]
impl JobHandler for Retention {
    fn kind(&self) -> &'static str {
        KIND
    }

    fn settings(&self) -> KindSettings {
        KindSettings { parallel: 1, time_limit: Duration::from_hours(1), max_attempts: u32::MAX, ..KindSettings::default() }
    }

    async fn run(&self, job: &JobContext) -> Result<(), JobError> {
        let began_at = job.now();
        let mut failed = None;
        for rule in &self.rules {
            job.check()?;
            // A failing rule does not prevent the others.
            if let Err(error) = catch_panic(async { Ok(rule.apply(job).await?) }).await {
                tracing::warn!(rule = rule.name, error = format!("{error:#}"), "old rows could not be deleted");
                failed = Some(error);
            }
        }
        Err(failed.map_or(JobError::Sleep(began_at + EVERY), JobError::from))
    }
}

/// Deletes old finished jobs with their steps. The age depends on their kind.
pub(super) fn finished_jobs(kept: HashMap<String, Duration>) -> RetentionRule {
    let kept = std::sync::Arc::new(kept);
    RetentionRule::new("jobs", &["jobs", "job_steps"], Duration::ZERO, move |database, now, limit| {
        let kept = kept.clone();
        Box::pin(async move { delete_finished(&JobStore(database), &kept, now, limit).await })
    })
}

async fn delete_finished(store: &JobStore, kept: &HashMap<String, Duration>, now: DateTime<Utc>, limit: u32) -> Result<u64> {
    let is_over = |job: &FinishedJob| {
        let kept = kept.get(&job.kind).copied().unwrap_or(KindSettings::default().retention);
        job.finished_at + kept <= now
    };
    let (mut over, mut after) = (Vec::new(), JobId(0));
    while over.len() < limit as usize {
        let finished = store.list_finished(after, limit).await?;
        let Some(last) = finished.last() else { break };
        after = last.id;
        over.extend(finished.iter().filter(|job| is_over(job)).map(|job| job.id));
    }
    over.truncate(limit as usize);
    if !over.is_empty() {
        store.delete(&over).await?;
    }
    Ok(over.len() as u64)
}
