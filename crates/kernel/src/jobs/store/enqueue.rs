//! The job operations of features, in the features' own transactions.

use chrono::{DateTime, Utc};

use super::AT_ONCE;
use crate::db::{Backend, Result, StoreError, Transaction, bounded, document, sql};
use crate::jobs::{Job, JobId, NewJob};

/// The channel that notifies the workers of other processes of new jobs. It is only a hint.
pub(in crate::jobs) const CHANNEL: &str = "teamroom_jobs";

/// Enqueues a job. It exists once the transaction has committed, and a worker of this process starts it at once. Returns the open job with the same
/// unique key, if there is one.
pub async fn enqueue(transaction: &mut Transaction, job: &NewJob, now: DateTime<Utc>) -> Result<JobId> {
    if let Some(id) = enqueue_running(transaction, job, now).await? {
        return Ok(id);
    }
    let run_at = job.run_at.unwrap_or(AT_ONCE);
    loop {
        let inserted: Option<(i64,)> = sql!(
            transaction.on(),
            fetch_optional,
            "INSERT INTO jobs (kind, queue, unique_key, payload, priority, state, run_at, place_from, created_at)
             VALUES ($1, $2, $3, $4, $5, 'ready', $6, $6, $7)
             ON CONFLICT (unique_key) WHERE finished_at IS NULL AND unique_key IS NOT NULL DO NOTHING RETURNING id",
            job.kind.as_str(),
            job.queue.as_deref(),
            job.unique_key.as_deref(),
            job.payload.as_str(),
            job.priority.as_str(),
            run_at,
            now
        )?;
        if let Some((id,)) = inserted {
            announce(transaction).await?;
            return Ok(JobId(id));
        }
        let open: Option<(i64,)> = sql!(
            transaction.on(),
            fetch_optional,
            "SELECT id FROM jobs WHERE unique_key = $1 AND unique_key IS NOT NULL AND finished_at IS NULL",
            job.unique_key.as_deref()
        )?;
        // The open job may have finished in between.
        if let Some((id,)) = open {
            return Ok(JobId(id));
        }
    }
}

/// Enqueues many jobs without unique keys with one statement, and returns their ids in the same order. They wait for the worker's next look.
///
/// # Errors
/// As [`enqueue`].
pub async fn enqueue_all(transaction: &mut Transaction, jobs: &[NewJob], now: DateTime<Utc>) -> Result<Vec<JobId>> {
    const SQLITE: &str = "INSERT INTO jobs (kind, queue, payload, priority, state, run_at, place_from, created_at)
         SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3, 'ready', COALESCE(value ->> 4, $2), COALESCE(value ->> 4, $2), $3
         FROM json_each($1) WHERE TRUE ORDER BY key RETURNING id";
    const POSTGRES: &str = "INSERT INTO jobs (kind, queue, payload, priority, state, run_at, place_from, created_at)
         SELECT kind, queue, payload, priority, 'ready', COALESCE(run_at, $6), COALESCE(run_at, $6), $7
         FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::timestamptz[]) WITH ORDINALITY
             AS new (kind, queue, payload, priority, run_at, number)
         ORDER BY number RETURNING id";
    debug_assert!(jobs.iter().all(|job| job.unique_key.is_none()), "one by one");
    if jobs.is_empty() {
        return Ok(Vec::new());
    }
    let rows: Vec<(i64,)> = match transaction.on() {
        Backend::Sqlite(connection) => {
            let run_at = |job: &NewJob| job.run_at.map(|at| at.to_rfc3339_opts(chrono::SecondsFormat::AutoSi, false));
            let rows: Vec<_> = jobs.iter().map(|job| (&job.kind, &job.queue, &job.payload, &job.priority, run_at(job))).collect();
            sqlx::query_as(SQLITE).bind(document(&rows)).bind(AT_ONCE).bind(now).fetch_all(connection).await?
        }
        Backend::Postgres(connection) => {
            let texts = |of: fn(&NewJob) -> &String| jobs.iter().map(|job| of(job).as_str()).collect::<Vec<_>>();
            let statement = sqlx::query_as(POSTGRES).bind(texts(|job| &job.kind));
            let statement = statement.bind(jobs.iter().map(|job| job.queue.as_deref()).collect::<Vec<_>>());
            let statement = statement.bind(texts(|job| &job.payload)).bind(texts(|job| &job.priority));
            let statement = statement.bind(jobs.iter().map(|job| job.run_at).collect::<Vec<_>>()).bind(AT_ONCE).bind(now);
            bounded(statement.fetch_all(connection)).await?
        }
    };
    announce(transaction).await?;
    // RETURNING has no order. Ids are given in that of the rows.
    let mut ids: Vec<JobId> = rows.into_iter().map(|(id,)| JobId(id)).collect();
    ids.sort_unstable_by_key(|id| id.0);
    Ok(ids)
}

/// Enqueues a job that this process starts after the commit. None if it must wait for its time, its queue or a free place.
async fn enqueue_running(transaction: &mut Transaction, job: &NewJob, now: DateTime<Utc>) -> Result<Option<JobId>> {
    let reservation = if job.run_at.is_none() { transaction.handover().reserve(&job.kind) } else { None };
    let Some(reservation) = reservation else { return Ok(None) };
    let payload = serde_json::from_str(&job.payload).map_err(|error| StoreError::Other(error.to_string()))?;
    let inserted: Option<(i64,)> = sql!(
        transaction.on(),
        fetch_optional,
        "INSERT INTO jobs (kind, queue, unique_key, payload, state, run_at, place_from, created_at, token, holder, priority)
         SELECT $1, $2, $3, $4, 'running', $5, $5, $6, 1, $7, $8
         WHERE NOT EXISTS (SELECT 1 FROM jobs before WHERE before.queue = $2 AND before.finished_at IS NULL)
         ON CONFLICT DO NOTHING RETURNING id",
        job.kind.as_str(),
        job.queue.as_deref(),
        job.unique_key.as_deref(),
        job.payload.as_str(),
        AT_ONCE,
        now,
        reservation.worker.as_str(),
        job.priority.as_str()
    )?;
    let Some((id,)) = inserted else { return Ok(None) };
    let (kind, queue) = (job.kind.clone(), job.queue.clone());
    let job = Job { id: JobId(id), kind, queue, payload, attempts: 0, crashes: 0, suspicions: 0, token: 1, created_at: now };
    transaction.after_commit(move || reservation.start(job));
    Ok(Some(JobId(id)))
}

/// Ends an open job, even a running one. False when it has already ended.
pub async fn cancel(transaction: &mut Transaction, job: JobId, why: &str, now: DateTime<Utc>) -> Result<bool> {
    let cancelled = sql!(
        transaction.on(),
        execute,
        "UPDATE jobs SET state = 'cancelled', error = $2, finished_at = $3 WHERE id = $1 AND finished_at IS NULL",
        job.0,
        crate::db::plain(why).as_ref(),
        now
    )?;
    let handover = transaction.handover().clone();
    transaction.after_commit(move || handover.cancel(job));
    Ok(cancelled > 0)
}

/// Wakes a job that sleeps or waits for its time. A running job will not sleep beyond `time`. False when it has ended.
pub async fn wake_at(transaction: &mut Transaction, job: JobId, time: DateTime<Utc>) -> Result<bool> {
    let woken = sql!(
        transaction.on(),
        execute,
        "UPDATE jobs SET
             run_at = CASE WHEN state = 'ready' AND run_at > $2 THEN $2 ELSE run_at END,
             place_from = CASE WHEN state = 'ready' AND place_from > $2 THEN $2 ELSE place_from END,
             wake_at = CASE WHEN state = 'running' AND (wake_at IS NULL OR wake_at > $2) THEN $2 ELSE wake_at END
         WHERE id = $1 AND finished_at IS NULL",
        job.0,
        time
    )?;
    announce(transaction).await?;
    Ok(woken > 0)
}

/// Changes the priority of an open job.
pub async fn set_priority(transaction: &mut Transaction, job: JobId, priority: &str) -> Result<()> {
    sql!(transaction.on(), execute, "UPDATE jobs SET priority = $2 WHERE id = $1 AND finished_at IS NULL", job.0, priority)?;
    Ok(())
}

/// Retries a job that failed or was set aside, as if it were new. The results of its steps are kept. False when it is neither.
pub async fn run_again(transaction: &mut Transaction, job: JobId) -> Result<bool> {
    let again = sql!(
        transaction.on(),
        execute,
        "UPDATE jobs SET state = 'ready', run_at = $2, place_from = $2, attempts = 0, crashes = 0, suspicions = 0, error = NULL,
             finished_at = NULL
         WHERE id = $1 AND state IN ('failed', 'set_aside')",
        job.0,
        AT_ONCE
    )?;
    announce(transaction).await?;
    Ok(again > 0)
}

/// Notifies the workers once the transaction has committed.
async fn announce(transaction: &mut Transaction) -> Result<()> {
    let handover = transaction.handover().clone();
    if !handover.is_sole()
        && let Backend::Postgres(connection) = transaction.on()
    {
        bounded(sqlx::query("SELECT pg_notify($1, '')").bind(CHANNEL).execute(connection)).await?;
    }
    transaction.after_commit(move || handover.wake.notify_one());
    Ok(())
}
