//! The results of a job's steps.

use std::collections::HashMap;

use chrono::{DateTime, Utc};
use serde::de::DeserializeOwned;

use super::JobStore;
use crate::db::{Backend, Result, Transaction, bounded, sql};
use crate::jobs::{Job, JobId};

/// Stores a step if the job is held under its token. PostgreSQL must lock the job, or another worker could take it back at the same moment.
const RECORD: &str = "INSERT INTO job_steps (job, name, result, token, at)
     SELECT id, $3, $4, token, $5 FROM jobs WHERE id = $1 AND token = $2 AND state = 'running'
     ON CONFLICT (job, name) DO UPDATE SET result = excluded.result, token = excluded.token, at = excluded.at";
const RECORD_LOCKED: &str = "INSERT INTO job_steps (job, name, result, token, at)
     SELECT id, $3, $4, token, $5 FROM jobs WHERE id = $1 AND token = $2 AND state = 'running' FOR UPDATE
     ON CONFLICT (job, name) DO UPDATE SET result = excluded.result, token = excluded.token, at = excluded.at";

/// Runs the statement of the database engine, on a pool or in a transaction.
macro_rules! record {
    ($on:expr, $job:expr, $name:expr, $result:expr, $now:expr) => {
        match $on {
            Backend::Sqlite(on) => {
                sqlx::query(RECORD).bind($job.id.0).bind($job.token).bind($name).bind($result).bind($now).execute(on).await?.rows_affected()
            }
            Backend::Postgres(on) => {
                let query = sqlx::query(RECORD_LOCKED).bind($job.id.0).bind($job.token).bind($name).bind($result).bind($now);
                bounded(query.execute(on)).await?.rows_affected()
            }
        }
    };
}

/// Deletes the results of a job's steps, because the data that they are based on is outdated or was deleted.
pub async fn forget_steps(transaction: &mut Transaction, job: JobId) -> Result<()> {
    sql!(transaction.on(), execute, "DELETE FROM job_steps WHERE job = $1", job.0)?;
    Ok(())
}

/// The results of a job's steps of one kind, in the order in which they were stored. Those that cannot be read are left out.
pub async fn read_steps<T: DeserializeOwned>(transaction: &mut Transaction, job: JobId) -> Result<Vec<T>> {
    let rows: Vec<(String,)> =
        sql!(transaction.on(), fetch_all, "SELECT result FROM job_steps WHERE job = $1 ORDER BY at, LENGTH(name), name", job.0)?;
    Ok(rows.into_iter().filter_map(|(result,)| serde_json::from_str(&result).ok()).collect())
}

impl JobStore {
    pub(in crate::jobs) async fn list_steps(&self, job: JobId) -> Result<HashMap<String, String>> {
        let rows: Vec<(String, String)> = sql!(self.0.db().read(), fetch_all, "SELECT name, result FROM job_steps WHERE job = $1", job.0)?;
        Ok(rows.into_iter().collect())
    }

    /// False, without any write, when the job is no longer held under its token.
    pub(in crate::jobs) async fn record_step(&self, job: &Job, name: &str, result: &str, now: DateTime<Utc>) -> Result<bool> {
        Ok(record!(self.0.db().write()?, job, name, result, now) > 0)
    }

    pub(in crate::jobs) async fn record_step_in(
        &self,
        transaction: &mut Transaction,
        job: &Job,
        name: &str,
        result: &str,
        now: DateTime<Utc>,
    ) -> Result<bool> {
        Ok(record!(transaction.on(), job, name, result, now) > 0)
    }
}
