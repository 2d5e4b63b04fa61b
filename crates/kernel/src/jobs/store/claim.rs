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
    queue: Option<String>,
    crashes: i64,
    suspicions: i64,
}

impl From<CandidateColumns> for Candidate {
    fn from(row: CandidateColumns) -> Self {
        Self { id: JobId(row.id), kind: row.kind, queue: row.queue, crashes: small(row.crashes), suspicions: small(row.suspicions) }
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
         AND ($4 IS NULL OR (SELECT COUNT(*) FROM jobs others WHERE others.state = 'running' AND others.kind = jobs.kind) < $4)
     RETURNING id, kind, queue, payload, attempts, crashes, suspicions, token, created_at";

/// The lock for claims of kinds with a limit in all processes. "claims" in ASCII.
const CLAIMS: i64 = i64::from_be_bytes(*b"\0\0claims");

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
                 FROM kinds WHERE kinds.kind IS NOT NULL),
             -- Materialized, because PostgreSQL would otherwise read it again for each of many jobs.
             heads (head) AS MATERIALIZED (
                 SELECT (SELECT id FROM jobs WHERE finished_at IS NULL AND jobs.queue = queues.queue AND place_from <= $1
                     ORDER BY priority, id LIMIT 1)
                 FROM queues WHERE queues.queue IS NOT NULL
                 UNION
                 SELECT (SELECT id FROM jobs WHERE state = 'ready' AND queue IS NULL AND jobs.kind = kinds.kind AND run_at <= $1
                     ORDER BY run_at, id LIMIT 1)
                 FROM kinds WHERE kinds.kind IS NOT NULL
                 UNION
                 SELECT id FROM jobs WHERE state = 'ready' AND suspicions > 0 AND queue IS NULL)
             SELECT id, kind, queue, crashes, suspicions FROM heads CROSS JOIN jobs
             WHERE jobs.id = heads.head AND state = 'ready' AND run_at <= $1
                 AND NOT EXISTS (SELECT 1 FROM jobs busy WHERE busy.state = 'running' AND busy.queue = jobs.queue)
             ORDER BY priority, id",
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

    /// The number of running jobs of a kind, in all processes.
    pub(in crate::jobs) async fn count_running(&self, kind: &str) -> Result<u32> {
        let (running,): (i64,) =
            sql!(self.0.db().read(), fetch_one, "SELECT COUNT(*) FROM jobs WHERE state = 'running' AND kind = $1", kind)?;
        Ok(small(running))
    }

    /// Claims a job. None when another worker was faster, another job of its queue runs, or `in_all` jobs of its kind run.
    pub(in crate::jobs) async fn claim(
        &self,
        job: JobId,
        worker: &WorkerId,
        in_all: Option<u32>,
        now: DateTime<Utc>,
    ) -> Result<Option<Job>> {
        let in_all_bound = in_all.map(i64::from);
        let row: Option<JobColumns> = match self.0.db().write()? {
            Backend::Sqlite(pool) => {
                let query = sqlx::query_as(CLAIM).bind(job.0).bind(worker.as_str()).bind(now).bind(in_all_bound);
                unless_conflict(query.fetch_all(pool).await.map(|rows| rows.into_iter().next()))?
            }
            Backend::Postgres(pool) if in_all.is_none() => {
                let query = sqlx::query_as(CLAIM).bind(job.0).bind(worker.as_str()).bind(now).bind(in_all_bound);
                unless_conflict(bounded(query.fetch_optional(pool)).await)?
            }
            Backend::Postgres(_) => {
                // One claim after the other, or two workers could both see the last free place.
                let mut transaction = self.0.db().begin().await?;
                transaction.serialize(CLAIMS).await?;
                let Backend::Postgres(on) = transaction.on() else { return Ok(None) };
                let query = sqlx::query_as(CLAIM).bind(job.0).bind(worker.as_str()).bind(now).bind(in_all_bound);
                let row = unless_conflict(bounded(query.fetch_optional(on)).await)?;
                transaction.commit().await?;
                row
            }
        };
        Ok(row.map(Job::from))
    }
}
