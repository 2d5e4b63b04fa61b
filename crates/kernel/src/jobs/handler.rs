//! What a feature gives for each kind of job it has.

use std::time::Duration;

use async_trait::async_trait;
use chrono::{DateTime, Utc};

use super::{Job, JobContext, KindSettings};
use crate::db::{StoreError, Transaction};

/// Runs the jobs of one kind.
#[async_trait]
pub trait JobHandler: Send + Sync + 'static {
    fn kind(&self) -> &'static str;

    fn settings(&self) -> KindSettings {
        KindSettings::default()
    }

    /// Runs a job, or goes on with one that was interrupted: what it did before is in its steps.
    async fn run(&self, job: &JobContext) -> Result<(), JobError>;

    /// Tells a person that nothing more is tried. What it writes is stored together with the job's end.
    async fn give_up(&self, _transaction: &mut Transaction, _job: &Job, _why: &Failure) -> Result<(), StoreError> {
        Ok(())
    }
}

/// Why a job is not tried any more.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Failure {
    /// Its handler gave up, or it was tried often enough.
    #[error("{0}")]
    Failed(String),
    /// The job is set aside.
    #[error("its process died over it {0} times in a row")]
    Crashed(u32),
}

/// Why a run ended before its job is done.
#[derive(Debug, thiserror::Error)]
pub enum JobError {
    /// Tried again, after the kind's own time if none is said.
    #[error("{why}")]
    Retry { after: Option<Duration>, why: String },
    #[error("{0}")]
    Fail(String),
    /// Nothing is wrong; it goes on then.
    #[error("it sleeps until {0}")]
    Sleep(DateTime<Utc>),
    /// Somebody else has the job by now, or it was cancelled. Nothing more of this run is stored.
    #[error("this worker no longer holds the job")]
    LostLease,
    /// The process stops; another one goes on.
    #[error("the process stops")]
    Stopping,
    /// Nobody's fault; no try is counted.
    #[error(transparent)]
    Unavailable(StoreError),
}

impl JobError {
    /// Another try after `after`.
    pub fn retry(after: Duration, why: impl Into<String>) -> Self {
        Self::Retry { after: Some(after), why: why.into() }
    }

    /// Another try after the kind's own time, which doubles from try to try.
    pub fn retry_later(why: impl Into<String>) -> Self {
        Self::Retry { after: None, why: why.into() }
    }

    /// No other try.
    pub fn fail(why: impl Into<String>) -> Self {
        Self::Fail(why.into())
    }
}

impl From<StoreError> for JobError {
    fn from(error: StoreError) -> Self {
        if error.is_retryable() { Self::Unavailable(error) } else { Self::retry_later(error.to_string()) }
    }
}

impl From<anyhow::Error> for JobError {
    fn from(error: anyhow::Error) -> Self {
        let error = match error.downcast::<Self>() {
            Ok(error) => return error,
            Err(error) => error,
        };
        match error.downcast::<StoreError>() {
            Ok(error) => error.into(),
            Err(error) => Self::retry_later(format!("{error:#}")),
        }
    }
}
