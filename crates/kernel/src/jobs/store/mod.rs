//! The jobs in the database. Another database engine would implement this interface.
//!
//! Features use [`enqueue()`], [`cancel`], [`wake_at`], [`set_priority`] and [`run_again`] in their own transactions. The rest is for the worker. Each operation that
//! ends a job or writes for it names its token, and returns whether the job is still held under it.

mod claim;
mod enqueue;
mod finish;
mod retention;
mod steps;
mod workers;

use chrono::{DateTime, Utc};

use super::model::JobRecord;
use super::{Job, JobId, JobState};
use crate::db::{Database, Document, Result, StoreError, Word, sql};

pub(super) use enqueue::CHANNEL;
pub use enqueue::{cancel, enqueue, enqueue_all, run_again, set_priority, wake_at};
pub(super) use finish::Return;
pub(super) use retention::FinishedJob;
pub use steps::{forget_steps, read_steps};
pub(super) use workers::{SeenWorker, WorkerId};

/// The due time of a job that starts at once, so that it depends on no clock.
pub(super) const AT_ONCE: DateTime<Utc> = DateTime::UNIX_EPOCH;

#[derive(Clone)]
pub(in crate::jobs) struct JobStore(pub Database);

#[derive(sqlx::FromRow)]
struct JobColumns {
    id: i64,
    kind: String,
    queue: Option<String>,
    #[sqlx(try_from = "String")]
    payload: Document<serde_json::Value>,
    attempts: i64,
    crashes: i64,
    suspicions: i64,
    token: i64,
    created_at: DateTime<Utc>,
}

impl From<JobColumns> for Job {
    fn from(row: JobColumns) -> Self {
        Self {
            id: JobId(row.id),
            kind: row.kind,
            queue: row.queue,
            payload: row.payload.0,
            attempts: small(row.attempts),
            crashes: small(row.crashes),
            suspicions: small(row.suspicions),
            token: row.token,
            created_at: row.created_at,
        }
    }
}

/// Converts a count from a column.
fn small(number: i64) -> u32 {
    u32::try_from(number).unwrap_or(if number < 0 { 0 } else { u32::MAX })
}

#[derive(sqlx::FromRow)]
struct RecordColumns {
    #[sqlx(flatten)]
    job: JobColumns,
    #[sqlx(try_from = "String")]
    state: Word<JobState>,
    run_at: DateTime<Utc>,
    error: Option<String>,
    finished_at: Option<DateTime<Utc>>,
}

/// The current state of a job.
pub async fn find(database: &Database, id: JobId) -> Result<Option<JobRecord>> {
    let row: Option<RecordColumns> = sql!(
        database.db().read(),
        fetch_optional,
        "SELECT id, kind, queue, payload, attempts, crashes, suspicions, token, created_at, state, run_at, error, finished_at
         FROM jobs WHERE id = $1",
        id.0
    )?;
    Ok(row.map(|row| JobRecord {
        job: row.job.into(),
        state: row.state.0,
        run_at: row.run_at,
        error: row.error,
        finished_at: row.finished_at,
    }))
}

/// Whether an error means that another worker was faster.
fn is_conflict(error: &sqlx::Error) -> bool {
    error.as_database_error().is_some_and(sqlx::error::DatabaseError::is_unique_violation)
}

/// `None` when another worker was faster.
fn unless_conflict<T>(result: sqlx::Result<Option<T>>) -> Result<Option<T>> {
    match result {
        Err(error) if is_conflict(&error) => Ok(None),
        other => other.map_err(StoreError::from),
    }
}
