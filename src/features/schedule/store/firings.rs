//! Firings: one row per job and instant, written together with the effect of the job.

use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, Utc};

use crate::features::schedule::model::{Firing, FiringState, JobAction, JobName};
use crate::store::Store;
use kernel::db::{Applied, Document, Effect, Readable, Result, Transaction, Word, count, document, plain, sql};
use kernel::events::{Audience, Event, Topic, record};
use kernel::jobs::{self, NewJob, RetentionRule};
use serde::{Deserialize, Serialize};

/// The events of the schedule. The subject is the name of the job.
pub const SCHEDULE: Topic = Topic::new("schedule");

/// An instant of a job to fire.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewFiring {
    pub job: JobName,
    pub instant: DateTime<Utc>,
    pub action: JobAction,
    /// The number of instants before this one that were missed and are not made up for.
    pub passed_over: u64,
}

/// The rows that a firing stores in its transaction, beside its own.
#[derive(Debug, Clone)]
pub enum FiringEffect {
    Apply(Arc<dyn Effect>),
    /// The job that carries the action out. The row stays open until that job has ended.
    Later,
    /// The action cannot be carried out, for this reason.
    Refuse(String),
}

/// Deletes firings that are older than `kept`.
pub fn retention(kept: Duration) -> RetentionRule {
    RetentionRule::new("firings", &["firings"], kept, |database, before, limit| {
        Box::pin(async move { Store::from(database).delete_firings_before(before, limit).await })
    })
}

/// The input for the job of an open firing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FiringJob {
    pub job: JobName,
    pub instant: DateTime<Utc>,
    pub action: JobAction,
}

impl FiringJob {
    pub const KIND: &str = "schedule.firing";

    /// One job per firing, and one running job per action.
    pub fn into_job(self) -> NewJob {
        let (queue, key) =
            (format!("schedule.{}", self.action.name()), format!("schedule.{}.{}", self.job, self.instant.timestamp_micros()));
        NewJob::new(Self::KIND, &self).queue(queue).unique(key)
    }
}

impl From<&NewFiring> for FiringJob {
    fn from(firing: &NewFiring) -> Self {
        Self { job: firing.job.clone(), instant: firing.instant, action: firing.action.clone() }
    }
}

impl From<&Firing> for FiringJob {
    fn from(firing: &Firing) -> Self {
        Self { job: firing.job.clone(), instant: firing.instant, action: firing.action.clone() }
    }
}

/// The result of firing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fired {
    Now,
    /// The instant has already fired.
    Before,
    /// The firing is stored as refused, with this reason.
    Refused(String),
}

#[derive(sqlx::FromRow)]
struct FiringColumns {
    job: String,
    instant: DateTime<Utc>,
    #[sqlx(try_from = "String")]
    action: Document<JobAction>,
    #[sqlx(try_from = "String")]
    state: Word<FiringState>,
    note: Option<String>,
    #[sqlx(try_from = "i64")]
    passed_over: u64,
    at: DateTime<Utc>,
}

impl FiringColumns {
    /// None: the row is from a version with other job names.
    fn into_firing(self) -> Option<Firing> {
        Some(Firing {
            job: self.job.parse().ok()?,
            instant: self.instant,
            action: self.action.0,
            state: self.state.0,
            note: self.note,
            passed_over: self.passed_over,
            at: self.at,
        })
    }
}

impl Store {
    /// Fires an instant unless it has fired: writes its row and its effect, or neither.
    pub async fn fire(&self, firing: &NewFiring, effect: &FiringEffect, now: DateTime<Utc>) -> Result<Fired> {
        let mut transaction = self.db().begin().await?;
        // A missed instant may fire again: the clock was ahead and has been corrected, so the instant is now in time.
        let inserted = sql!(
            transaction.on(),
            execute,
            "INSERT INTO firings (job, instant, action, state, note, passed_over, at) VALUES ($1, $2, $3, 'open', NULL, $4, $5)
             ON CONFLICT (job, instant) DO UPDATE SET action = excluded.action, state = excluded.state, note = NULL,
                 passed_over = excluded.passed_over, at = excluded.at
             WHERE firings.state = 'missed'",
            firing.job.as_str(),
            firing.instant,
            document(&firing.action),
            count(firing.passed_over),
            now
        )?;
        if inserted == 0 {
            return Ok(Fired::Before);
        }
        let fired = event(&firing.job, firing.instant, "fired", now).with("action", firing.action.name());
        record(&mut transaction, &fired).await?;
        let refused = match effect {
            FiringEffect::Apply(effect) => match effect.apply(&mut transaction, now).await? {
                Applied::Done => None,
                Applied::Refused(reason) => Some(reason),
            },
            FiringEffect::Later => {
                jobs::enqueue(&mut transaction, &FiringJob::from(firing).into_job(), now).await?;
                None
            }
            FiringEffect::Refuse(reason) => Some(reason.clone()),
        };
        match (&refused, effect) {
            (Some(reason), _) => {
                end_firing(&mut transaction, &firing.job, firing.instant, FiringState::Refused, Some(reason), now).await?;
            }
            (None, FiringEffect::Later) => {}
            (None, _) => {
                end_firing(&mut transaction, &firing.job, firing.instant, FiringState::Done, None, now).await?;
            }
        }
        transaction.commit().await?;
        Ok(refused.map_or(Fired::Now, Fired::Refused))
    }

    /// Records that an instant came too late to be made up for. False when it already has a row.
    pub async fn pass_over(&self, firing: &NewFiring, now: DateTime<Utc>) -> Result<bool> {
        let mut transaction = self.db().begin().await?;
        let inserted = sql!(
            transaction.on(),
            execute,
            "INSERT INTO firings (job, instant, action, state, note, passed_over, at) VALUES ($1, $2, $3, 'missed', NULL, $4, $5)
             ON CONFLICT (job, instant) DO NOTHING",
            firing.job.as_str(),
            firing.instant,
            document(&firing.action),
            count(firing.passed_over),
            now
        )?;
        if inserted > 0 {
            let missed = event(&firing.job, firing.instant, FiringState::Missed.as_str(), now);
            record(&mut transaction, &missed).await?;
            transaction.commit().await?;
        }
        Ok(inserted > 0)
    }

    /// The firings whose action has not ended, the earliest first.
    pub async fn list_open_firings(&self) -> Result<Vec<Firing>> {
        let rows: Vec<Readable<FiringColumns>> =
            sql!(self.db().read(), fetch_all, "SELECT * FROM firings WHERE state = 'open' ORDER BY instant, job")?;
        Ok(self.db().keep_readable("firings", rows).into_iter().filter_map(FiringColumns::into_firing).collect())
    }

    /// The latest instants of a job that have a row, the newest first.
    pub async fn list_firings(&self, job: &JobName, limit: u32) -> Result<Vec<Firing>> {
        let rows: Vec<Readable<FiringColumns>> = sql!(
            self.db().read(),
            fetch_all,
            "SELECT * FROM firings WHERE job = $1 ORDER BY instant DESC LIMIT $2",
            job.as_str(),
            i64::from(limit)
        )?;
        Ok(self.db().keep_readable("firings", rows).into_iter().filter_map(FiringColumns::into_firing).collect())
    }

    /// Deletes up to `limit` ended firings of instants before `at`, and returns how many.
    pub async fn delete_firings_before(&self, at: DateTime<Utc>, limit: u32) -> Result<u64> {
        sql!(
            self.db().write()?,
            execute,
            "DELETE FROM firings WHERE (job, instant) IN (
                 SELECT job, instant FROM firings WHERE job IN (SELECT job FROM considered) AND instant < $1 AND state <> 'open' LIMIT $2)",
            at,
            i64::from(limit)
        )
    }
}

/// Records the end of an open firing. False, without any write, when it is not open.
pub async fn end_firing(
    transaction: &mut Transaction,
    job: &JobName,
    instant: DateTime<Utc>,
    state: FiringState,
    note: Option<&str>,
    at: DateTime<Utc>,
) -> Result<bool> {
    let ended = sql!(
        transaction.on(),
        execute,
        "UPDATE firings SET state = $3, note = $4 WHERE job = $1 AND instant = $2 AND state = 'open'",
        job.as_str(),
        instant,
        state.as_str(),
        note.map(plain)
    )?;
    if ended > 0 {
        record(transaction, &event(job, instant, state.as_str(), at).with("note", note.map(plain))).await?;
    }
    Ok(ended > 0)
}

fn event(job: &JobName, instant: DateTime<Utc>, kind: &'static str, at: DateTime<Utc>) -> Event {
    Event::new(SCHEDULE, job.as_str(), kind, at).seen_by(Audience::Team).with("instant", instant.to_rfc3339())
}
