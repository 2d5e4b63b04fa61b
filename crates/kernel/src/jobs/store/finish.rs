//! How a run ends.

use chrono::{DateTime, Utc};

use super::{AT_ONCE, JobStore};
use crate::db::{Backend, Result, Transaction, bounded, plain, sql};
use crate::jobs::{Job, JobState};

/// How an unfinished job returns to the queue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::jobs) enum Return {
    /// Continues as soon as a worker is free.
    Released,
    /// No error. Continues at this time, or when it is woken.
    Sleep { until: DateTime<Utc> },
    /// The database was unavailable.
    PutOff { until: DateTime<Utc> },
    /// The attempt failed.
    Retry { at: DateTime<Utc>, why: String, keeps_place: bool },
}

impl JobStore {
    /// Checks that a job is held under its token, and locks it until the transaction ends. False when it is not held.
    pub(in crate::jobs) async fn hold(&self, transaction: &mut Transaction, job: &Job) -> Result<bool> {
        const HOLD: &str = "SELECT 1 FROM jobs WHERE id = $1 AND token = $2 AND state = 'running'";
        const HOLD_LOCKED: &str = "SELECT 1 FROM jobs WHERE id = $1 AND token = $2 AND state = 'running' FOR UPDATE";
        let held: Option<i32> = match transaction.on() {
            // SQLite allows no other writer while this transaction is open.
            Backend::Sqlite(on) => sqlx::query_scalar(HOLD).bind(job.id.0).bind(job.token).fetch_optional(on).await?,
            Backend::Postgres(on) => bounded(sqlx::query_scalar(HOLD_LOCKED).bind(job.id.0).bind(job.token).fetch_optional(on)).await?,
        };
        Ok(held.is_some())
    }

    /// Ends a job for good. False, without any write, when it is no longer held under its token.
    pub(in crate::jobs) async fn finish(
        &self,
        transaction: &mut Transaction,
        job: &Job,
        state: JobState,
        error: Option<&str>,
        now: DateTime<Utc>,
    ) -> Result<bool> {
        let error = error.map(plain);
        let finished = sql!(
            transaction.on(),
            execute,
            "UPDATE jobs SET state = $3, error = $4, finished_at = $5 WHERE id = $1 AND token = $2 AND state = 'running'",
            job.id.0,
            job.token,
            state.name(),
            error.as_deref(),
            now
        )?;
        Ok(finished > 0)
    }

    /// Like [`Self::finish`] for a job that is done, without a transaction.
    pub(in crate::jobs) async fn finish_done(&self, job: &Job, now: DateTime<Utc>) -> Result<bool> {
        let finished = sql!(
            self.0.db().write()?,
            execute,
            "UPDATE jobs SET state = 'done', error = NULL, finished_at = $3 WHERE id = $1 AND token = $2 AND state = 'running'",
            job.id.0,
            job.token,
            now
        )?;
        Ok(finished > 0)
    }

    /// Releases a job. Its process has survived it, so its crash record is cleared. False, without any write, when it is no longer held under its
    /// token.
    pub(in crate::jobs) async fn put_back(&self, job: &Job, how: &Return) -> Result<bool> {
        let (at, sleeps, keeps_place, error) = match how {
            Return::Released => (AT_ONCE, false, true, None),
            Return::Sleep { until } => (*until, true, false, None),
            Return::PutOff { until } => (*until, false, true, None),
            Return::Retry { at, why, keeps_place } => (*at, false, *keeps_place, Some(plain(why))),
        };
        let attempts = job.attempts + u32::from(error.is_some());
        let put_back = sql!(
            self.0.db().write()?,
            execute,
            "UPDATE jobs SET state = 'ready', attempts = $3, error = $4, crashes = 0, suspicions = 0,
                 run_at = CASE WHEN $6 AND wake_at < $5 THEN wake_at ELSE $5 END,
                 place_from = CASE WHEN $7 THEN place_from WHEN $6 AND wake_at < $5 THEN wake_at ELSE $5 END
             WHERE id = $1 AND token = $2 AND state = 'running'",
            job.id.0,
            job.token,
            i64::from(attempts),
            error.as_deref(),
            at,
            sleeps,
            keeps_place
        )?;
        Ok(put_back > 0)
    }
}
