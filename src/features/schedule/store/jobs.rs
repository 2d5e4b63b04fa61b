//! Jobs that people added, pauses, and the mark of each job: the time up to which its instants were processed.

use std::collections::HashMap;

use chrono::{DateTime, Utc};

use crate::features::schedule::model::{Job, JobName};
use crate::store::Store;
use kernel::db::{Document, Result, Transaction, document, plain, sql};

/// A job does not run until somebody resumes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pause {
    /// The name of the person who paused it.
    pub by: String,
    pub at: DateTime<Utc>,
}

impl Store {
    /// Adds a job, whose instants count from `at`. False, without any write, when the name is taken.
    pub async fn add_job(&self, job: &Job, by: &str, at: DateTime<Utc>) -> Result<bool> {
        let mut transaction = self.db().begin().await?;
        let added = sql!(
            transaction.on(),
            execute,
            "INSERT INTO schedules (name, job, added_by, added_at) VALUES ($1, $2, $3, $4) ON CONFLICT (name) DO NOTHING",
            job.name.as_str(),
            document(job),
            plain(by),
            at
        )?;
        if added > 0 {
            reset_considered(&mut transaction, job, at).await?;
            transaction.commit().await?;
        }
        Ok(added > 0)
    }

    /// Removes a job that was added, and its pause. Its firings are kept. False when no job has this name.
    pub async fn remove_job(&self, job: &JobName) -> Result<bool> {
        let mut transaction = self.db().begin().await?;
        let removed = sql!(transaction.on(), execute, "DELETE FROM schedules WHERE name = $1", job.as_str())?;
        if removed > 0 {
            sql!(transaction.on(), execute, "DELETE FROM schedule_pauses WHERE job = $1", job.as_str())?;
            transaction.commit().await?;
        }
        Ok(removed > 0)
    }

    /// The jobs that were added, by name.
    pub async fn list_jobs(&self) -> Result<Vec<Job>> {
        let rows: Vec<(String,)> = sql!(self.db().read(), fetch_all, "SELECT job FROM schedules ORDER BY name")?;
        rows.into_iter().map(|(job,)| Document::read(job)).collect()
    }

    /// Pauses a job. False when it is already paused.
    pub async fn pause_job(&self, job: &JobName, by: &str, at: DateTime<Utc>) -> Result<bool> {
        let paused = sql!(
            self.db().write()?,
            execute,
            "INSERT INTO schedule_pauses (job, by, at) VALUES ($1, $2, $3) ON CONFLICT (job) DO NOTHING",
            job.as_str(),
            plain(by),
            at
        )?;
        Ok(paused > 0)
    }

    /// Ends a pause. Instants during the pause count as processed. False when the job was not paused.
    pub async fn resume_job(&self, job: &Job, at: DateTime<Utc>) -> Result<bool> {
        let mut transaction = self.db().begin().await?;
        let resumed = sql!(transaction.on(), execute, "DELETE FROM schedule_pauses WHERE job = $1", job.name.as_str())?;
        if resumed > 0 {
            reset_considered(&mut transaction, job, at).await?;
            transaction.commit().await?;
        }
        Ok(resumed > 0)
    }

    /// Which jobs are paused.
    pub async fn list_paused_jobs(&self) -> Result<HashMap<JobName, Pause>> {
        let rows: Vec<(String, String, DateTime<Utc>)> = sql!(self.db().read(), fetch_all, "SELECT job, by, at FROM schedule_pauses")?;
        Ok(rows.into_iter().filter_map(|(job, by, at)| Some((job.parse().ok()?, Pause { by, at }))).collect())
    }

    /// The time up to which the instants of a job were processed. None: no mark exists for this timetable.
    pub async fn find_considered(&self, job: &Job) -> Result<Option<DateTime<Utc>>> {
        let row: Option<(DateTime<Utc>,)> = sql!(
            self.db().read(),
            fetch_optional,
            "SELECT until FROM considered WHERE job = $1 AND timetable = $2",
            job.name.as_str(),
            job.timetable.key()
        )?;
        Ok(row.map(|(until,)| until))
    }

    /// Moves the mark of a job to `until`. An earlier time has no effect, so two processes may call this in any order.
    pub async fn record_considered(&self, job: &Job, until: DateTime<Utc>) -> Result<()> {
        sql!(
            self.db().write()?,
            execute,
            "INSERT INTO considered (job, timetable, until) VALUES ($1, $2, $3)
             ON CONFLICT (job, timetable) DO UPDATE SET until = excluded.until WHERE considered.until < excluded.until",
            job.name.as_str(),
            job.timetable.key(),
            until
        )?;
        Ok(())
    }

    /// Sets the mark of a job to `now`, whatever it was.
    pub async fn reset_considered(&self, job: &Job, now: DateTime<Utc>) -> Result<()> {
        let mut transaction = self.db().begin().await?;
        reset_considered(&mut transaction, job, now).await?;
        transaction.commit().await
    }
}

/// Sets the mark of a job to `now`, and drops its marks for other timetables. A timetable that is used again later therefore has no missed instants.
async fn reset_considered(transaction: &mut Transaction, job: &Job, now: DateTime<Utc>) -> Result<()> {
    sql!(transaction.on(), execute, "DELETE FROM considered WHERE job = $1 AND timetable <> $2", job.name.as_str(), job.timetable.key())?;
    sql!(
        transaction.on(),
        execute,
        "INSERT INTO considered (job, timetable, until) VALUES ($1, $2, $3)
         ON CONFLICT (job, timetable) DO UPDATE SET until = excluded.until",
        job.name.as_str(),
        job.timetable.key(),
        now
    )?;
    Ok(())
}
