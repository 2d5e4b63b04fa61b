//! Lists the ready jobs, and claims one.

use chrono::{DateTime, Utc};

use super::{JobColumns, JobStore, WorkerId, small, unless_conflict};
use crate::db::{Backend, Result, bounded, sql};
use crate::jobs::admission::Candidate;
use crate::jobs::{Job, JobId};

#[derive(sqlx::FromRow)]
struct CandidateColumns {
    id: i64,
    kind: String,
    crashes: i64,
    suspicions: i64,
}

impl From<CandidateColumns> for Candidate {
    fn from(row: CandidateColumns) -> Self {
        Self { id: JobId(row.id), kind: row.kind, crashes: small(row.crashes), suspicions: small(row.suspicions) }
    }
}

/// The jobs that cannot be claimed yet.
pub(in crate::jobs) struct Next {
    /// The earliest time at which a job becomes due.
    pub timer: Option<DateTime<Utc>>,
    /// Whether a due job waits for another one of its queue.
    pub waits_in_queue: bool,
}

/// The claim of a job. Plain text instead of `sql!`, because the caller distinguishes its errors.
const CLAIM: &str = "UPDATE jobs SET state = 'running', holder = $2, token = token + 1, wake_at = NULL
     WHERE id = $1 AND state = 'ready' AND run_at <= $3
         AND NOT EXISTS (SELECT 1 FROM jobs busy WHERE busy.state = 'running' AND busy.queue = jobs.queue)
     RETURNING id, kind, queue, payload, attempts, crashes, suspicions, token, created_at";

impl JobStore {
    /// The jobs that can be claimed, in the order in which they run: the first of each queue, all suspects, and of the jobs without a queue the first
    /// of each kind. The query steps from one queue or kind to the next by the index, so that it skips the many jobs behind the first.
    pub(in crate::jobs) async fn list_candidates(&self, now: DateTime<Utc>) -> Result<Vec<Candidate>> {
        let rows: Vec<CandidateColumns> = sql!(
            self.0.db().read(),
            fetch_all,
            "WITH RECURSIVE queues (queue) AS (
                 SELECT (SELECT queue FROM jobs WHERE finished_at IS NULL AND queue IS NOT NULL ORDER BY queue LIMIT 1)
                 UNION ALL
                 SELECT (SELECT queue FROM jobs WHERE finished_at IS NULL AND queue IS NOT NULL AND jobs.queue > queues.queue
                     ORDER BY queue LIMIT 1)
                 FROM queues WHERE queues.queue IS NOT NULL),
             kinds (kind) AS (
                 SELECT (SELECT kind FROM jobs WHERE state = 'ready' AND queue IS NULL ORDER BY kind LIMIT 1)
                 UNION ALL
                 SELECT (SELECT kind FROM jobs WHERE state = 'ready' AND queue IS NULL AND jobs.kind > kinds.kind ORDER BY kind LIMIT 1)
                 FROM kinds WHERE kinds.kind IS NOT NULL)
             SELECT id, kind, crashes, suspicions FROM jobs
             WHERE state = 'ready' AND run_at <= $1
                 AND id IN (
                     SELECT (SELECT id FROM jobs WHERE finished_at IS NULL AND jobs.queue = queues.queue AND place_from <= $1
                         ORDER BY id LIMIT 1)
                     FROM queues WHERE queues.queue IS NOT NULL
                     UNION ALL
                     SELECT (SELECT id FROM jobs WHERE state = 'ready' AND queue IS NULL AND jobs.kind = kinds.kind AND run_at <= $1
                         ORDER BY run_at, id LIMIT 1)
                     FROM kinds WHERE kinds.kind IS NOT NULL
                     UNION ALL
                     SELECT id FROM jobs WHERE state = 'ready' AND suspicions > 0 AND queue IS NULL)
                 AND NOT EXISTS (SELECT 1 FROM jobs busy WHERE busy.state = 'running' AND busy.queue = jobs.queue)
             ORDER BY id",
            now
        )?;
        Ok(rows.into_iter().map(Candidate::from).collect())
    }

    /// The jobs that cannot be claimed yet.
    pub(in crate::jobs) async fn next(&self, now: DateTime<Utc>) -> Result<Next> {
        let (timer, waits_in_queue): (Option<DateTime<Utc>>, bool) = sql!(
            self.0.db().read(),
            fetch_one,
            "WITH RECURSIVE kinds (kind) AS (
                 SELECT (SELECT kind FROM jobs WHERE state = 'ready' AND queue IS NULL ORDER BY kind LIMIT 1)
                 UNION ALL
                 SELECT (SELECT kind FROM jobs WHERE state = 'ready' AND queue IS NULL AND jobs.kind > kinds.kind ORDER BY kind LIMIT 1)
                 FROM kinds WHERE kinds.kind IS NOT NULL),
             timers (run_at) AS (
                 SELECT (SELECT run_at FROM jobs WHERE state = 'ready' AND queue IS NULL AND jobs.kind = kinds.kind AND run_at > $1
                     ORDER BY run_at LIMIT 1)
                 FROM kinds WHERE kinds.kind IS NOT NULL
                 UNION ALL
                 SELECT (SELECT run_at FROM jobs WHERE state = 'ready' AND queue IS NOT NULL AND run_at > $1 ORDER BY run_at LIMIT 1))
             SELECT MIN(run_at), EXISTS (SELECT 1 FROM jobs WHERE state = 'ready' AND queue IS NOT NULL AND run_at <= $1) FROM timers",
            now
        )?;
        Ok(Next { timer, waits_in_queue })
    }

    /// Claims a job. None when another worker was faster, or another job of its queue runs.
    pub(in crate::jobs) async fn claim(&self, job: JobId, worker: &WorkerId, now: DateTime<Utc>) -> Result<Option<Job>> {
        let row: Option<JobColumns> = match self.0.db().write()? {
            Backend::Sqlite(pool) => {
                let query = sqlx::query_as(CLAIM).bind(job.0).bind(worker.as_str()).bind(now);
                unless_conflict(query.fetch_all(pool).await.map(|rows| rows.into_iter().next()))?
            }
            Backend::Postgres(pool) => {
                let query = sqlx::query_as(CLAIM).bind(job.0).bind(worker.as_str()).bind(now);
                unless_conflict(bounded(query.fetch_optional(pool)).await)?
            }
        };
        Ok(row.map(Job::from))
    }
}
