//! Deletes finished jobs, and counts waiting ones.

use chrono::{DateTime, Utc};

use super::JobStore;
use crate::db::{Result, sql};
use crate::jobs::JobId;

/// A job that has finished.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::jobs) struct FinishedJob {
    pub id: JobId,
    pub kind: String,
    pub finished_at: DateTime<Utc>,
}

/// Counts of waiting jobs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::jobs) struct Waiting {
    /// Jobs whose time has come.
    pub ready: u64,
    pub oldest: Option<DateTime<Utc>>,
}

impl JobStore {
    /// The finished jobs after `after`, in the order of their ids. Never the newest job, because its id must not be reused.
    pub(in crate::jobs) async fn list_finished(&self, after: JobId, limit: u32) -> Result<Vec<FinishedJob>> {
        let rows: Vec<(i64, String, DateTime<Utc>)> = sql!(
            self.0.db().read(),
            fetch_all,
            "SELECT id, kind, finished_at FROM jobs
             WHERE id > $1 AND finished_at IS NOT NULL AND id < (SELECT MAX(id) FROM jobs) ORDER BY id LIMIT $2",
            after.0,
            i64::from(limit)
        )?;
        Ok(rows.into_iter().map(|(id, kind, finished_at)| FinishedJob { id: JobId(id), kind, finished_at }).collect())
    }

    pub(in crate::jobs) async fn delete(&self, jobs: &[JobId]) -> Result<()> {
        let mut transaction = self.0.db().begin().await?;
        for job in jobs {
            sql!(transaction.on(), execute, "DELETE FROM job_steps WHERE job = $1", job.0)?;
            sql!(transaction.on(), execute, "DELETE FROM jobs WHERE id = $1 AND finished_at IS NOT NULL", job.0)?;
        }
        transaction.commit().await
    }

    pub(in crate::jobs) async fn count_waiting(&self, now: DateTime<Utc>) -> Result<Waiting> {
        let (ready, oldest, oldest_in_queue): (i64, Option<DateTime<Utc>>, Option<DateTime<Utc>>) = sql!(
            self.0.db().read(),
            fetch_one,
            "SELECT (SELECT COUNT(*) FROM jobs WHERE state = 'ready' AND queue IS NULL AND run_at <= $1)
                     + (SELECT COUNT(*) FROM jobs WHERE state = 'ready' AND queue IS NOT NULL AND run_at <= $1),
                 (SELECT MIN(created_at) FROM jobs WHERE state = 'ready' AND queue IS NULL AND run_at <= $1),
                 (SELECT MIN(created_at) FROM jobs WHERE state = 'ready' AND queue IS NOT NULL AND run_at <= $1)",
            now
        )?;
        let oldest = [oldest, oldest_in_queue].into_iter().flatten().min();
        Ok(Waiting { ready: ready.cast_unsigned(), oldest })
    }
}
