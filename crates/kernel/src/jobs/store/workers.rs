//! The processes that run jobs: their heartbeats, and the recovery of jobs of a dead process.

use std::time::Duration;

use chrono::{DateTime, Utc};

use super::{AT_ONCE, JobStore, small};
use crate::db::{Result, Transaction, sql};
use crate::jobs::JobId;
use crate::jobs::blame::{Blame, Died, judge};

/// A process that runs jobs. A restarted process is another worker.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(in crate::jobs) struct WorkerId(String);

impl WorkerId {
    pub(in crate::jobs) fn generate() -> Self {
        Self(uuid::Uuid::now_v7().simple().to_string())
    }

    pub(in crate::jobs) fn as_str(&self) -> &str {
        &self.0
    }
}

/// A snapshot of another worker. It is dead if the snapshot stays the same for long enough.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::jobs) struct SeenWorker {
    pub id: WorkerId,
    /// The number of its heartbeats. None if it holds jobs without being a worker.
    pub beat: Option<i64>,
}

#[derive(sqlx::FromRow)]
struct DiedColumns {
    id: i64,
    kind: String,
    token: i64,
    crashes: i64,
    suspicions: i64,
    progressed: bool,
}

impl JobStore {
    /// Sends the heartbeat of a worker. False when it was declared dead and holds nothing any more.
    pub(in crate::jobs) async fn beat(&self, worker: &WorkerId) -> Result<bool> {
        let beat = sql!(self.0.db().write()?, execute, "UPDATE job_workers SET beat = beat + 1 WHERE id = $1", worker.as_str())?;
        Ok(beat > 0)
    }

    pub(in crate::jobs) async fn add_worker(&self, worker: &WorkerId, now: DateTime<Utc>) -> Result<()> {
        sql!(
            self.0.db().write()?,
            execute,
            "INSERT INTO job_workers (id, beat, started_at) VALUES ($1, 0, $2) ON CONFLICT (id) DO NOTHING",
            worker.as_str(),
            now
        )?;
        Ok(())
    }

    /// Removes a worker that holds nothing.
    pub(in crate::jobs) async fn remove_worker(&self, worker: &WorkerId) -> Result<()> {
        sql!(self.0.db().write()?, execute, "DELETE FROM job_workers WHERE id = $1", worker.as_str())?;
        Ok(())
    }

    pub(in crate::jobs) async fn list_other_workers(&self, own: &WorkerId) -> Result<Vec<SeenWorker>> {
        let rows: Vec<(String, Option<i64>)> = sql!(
            self.0.db().read(),
            fetch_all,
            "SELECT id, beat FROM job_workers WHERE id <> $1
             UNION
             SELECT holder, (SELECT beat FROM job_workers WHERE job_workers.id = jobs.holder) FROM jobs
             WHERE state = 'running' AND holder <> $1",
            own.as_str()
        )?;
        Ok(rows.into_iter().map(|(id, beat)| SeenWorker { id: WorkerId(id), beat }).collect())
    }

    /// The jobs that a worker holds, according to the database.
    pub(in crate::jobs) async fn list_held(&self, worker: &WorkerId) -> Result<Vec<(JobId, i64)>> {
        let rows: Vec<(i64, i64)> =
            sql!(self.0.db().read(), fetch_all, "SELECT id, token FROM jobs WHERE state = 'running' AND holder = $1", worker.as_str())?;
        Ok(rows.into_iter().map(|(id, token)| (JobId(id), token)).collect())
    }

    /// Releases a job that its own worker holds without running it.
    pub(in crate::jobs) async fn release(&self, job: JobId, token: i64) -> Result<()> {
        sql!(
            self.0.db().write()?,
            execute,
            "UPDATE jobs SET state = 'ready', run_at = $3 WHERE id = $1 AND token = $2 AND state = 'running'",
            job.0,
            token,
            AT_ONCE
        )?;
        Ok(())
    }

    /// Takes back the jobs of a dead worker. `pause` gives the delay of a kind's job after a number of crashes. While a job waits for that, the others
    /// of its queue go first. None, without any write, when the worker has sent a heartbeat since, or another one was faster.
    pub(in crate::jobs) async fn take_back(
        &self,
        dead: &SeenWorker,
        pause: impl Fn(&str, u32) -> Duration,
        now: DateTime<Utc>,
    ) -> Result<Option<Vec<Blame>>> {
        let mut transaction = self.0.db().begin().await?;
        if !self.bury(&mut transaction, dead).await? {
            return Ok(None);
        }
        let mut rows: Vec<DiedColumns> = sql!(
            transaction.on(),
            fetch_all,
            "SELECT id, kind, token, crashes, suspicions,
                 EXISTS (SELECT 1 FROM job_steps WHERE job_steps.job = jobs.id AND job_steps.token = jobs.token) AS progressed
             FROM jobs WHERE state = 'running' AND holder = $1",
            dead.id.as_str()
        )?;
        // Always in the same order, so that no two transactions wait for each other.
        rows.sort_unstable_by_key(|row| row.id);
        let died: Vec<Died> = rows
            .iter()
            .map(|row| Died {
                id: JobId(row.id),
                crashes: small(row.crashes),
                suspicions: small(row.suspicions),
                progressed: row.progressed,
            })
            .collect();
        let judged = judge(&died);
        for (row, blame) in rows.iter().zip(&judged) {
            let rest = pause(&row.kind, blame.crashes);
            sql!(
                transaction.on(),
                execute,
                "UPDATE jobs SET state = 'ready', crashes = $2, suspicions = $3, run_at = $4,
                     place_from = CASE WHEN $4 > place_from THEN $4 ELSE place_from END
                 WHERE id = $1 AND state = 'running' AND token = $5",
                blame.id.0,
                i64::from(blame.crashes),
                i64::from(blame.suspicions),
                if rest.is_zero() { AT_ONCE } else { now + rest },
                row.token
            )?;
        }
        transaction.commit().await?;
        Ok(Some(judged))
    }

    /// False when the worker differs from its snapshot.
    async fn bury(&self, transaction: &mut Transaction, dead: &SeenWorker) -> Result<bool> {
        let Some(beat) = dead.beat else {
            // Its jobs are locked one after the other, so no other worker takes them back at the same time.
            transaction.serialize(ORPHANS).await?;
            let there: Option<(i64,)> =
                sql!(transaction.on(), fetch_optional, "SELECT beat FROM job_workers WHERE id = $1", dead.id.as_str())?;
            return Ok(there.is_none());
        };
        let buried = sql!(transaction.on(), execute, "DELETE FROM job_workers WHERE id = $1 AND beat = $2", dead.id.as_str(), beat)?;
        Ok(buried > 0)
    }
}

/// The lock for taking back jobs without a worker. "jobs" in ASCII.
const ORPHANS: i64 = i64::from_be_bytes(*b"\0\0\0\0jobs");
