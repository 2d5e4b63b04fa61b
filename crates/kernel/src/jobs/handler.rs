//! The interface that a feature implements for each of its job kinds.

use std::collections::HashSet;
use std::time::Duration;

use async_trait::async_trait;
use chrono::{DateTime, Utc};

use super::{Job, JobContext, JobId, KindSettings};
use crate::db::{StoreError, Transaction};

/// Runs the jobs of one kind.
#[async_trait]
pub trait JobHandler: Send + Sync + 'static {
    fn kind(&self) -> &'static str;

    fn settings(&self) -> KindSettings {
        KindSettings::default()
    }

    /// The field of the payload that has the id for `teamroom trace`, such as `message`. None: the job is about nothing that has one.
    fn subject(&self) -> Option<&'static str> {
        None
    }

    /// The queues and jobs that must not run now, because people said so. Running ones are told to end. Asked at each look for jobs. A new job may
    /// start before the next look, which then ends it.
    async fn paused(&self) -> Result<Paused, StoreError> {
        Ok(Paused::default())
    }

    /// Runs a job, or resumes an interrupted one. Its steps contain the results of earlier runs.
    async fn run(&self, job: &JobContext) -> Result<(), JobError>;

    /// Reports to people that the job is no longer retried. Its writes are stored together with the job's end.
    async fn give_up(&self, _transaction: &mut Transaction, _job: &Job, _why: &Failure) -> Result<(), StoreError> {
        Ok(())
    }
}

/// What of a kind is paused.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Paused {
    pub all: bool,
    pub queues: HashSet<String>,
    /// Jobs whose run ends. A handler lets such a job sleep when it begins again, so that it does not keep its queue from running.
    pub jobs: HashSet<JobId>,
}

impl Paused {
    pub(super) fn includes(&self, queue: Option<&str>) -> bool {
        self.all || queue.is_some_and(|queue| self.queues.contains(queue))
    }
}

/// Why a job is no longer retried.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Failure {
    /// Its handler gave up, or the attempts are used up.
    #[error("{0}")]
    Failed(String),
    /// The job was set aside after this many crashes.
    #[error("its process died over it {0} times in a row")]
    Crashed(u32),
}

/// Why a run ended before the job was done.
#[derive(Debug, thiserror::Error)]
pub enum JobError {
    /// Retried after this delay, or after the backoff of its kind.
    #[error("{why}")]
    Retry { after: Option<Duration>, why: String },
    #[error("{0}")]
    Fail(String),
    /// No error. The job continues at this time.
    #[error("it sleeps until {0}")]
    Sleep(DateTime<Utc>),
    /// Another worker holds the job, or it was cancelled. Nothing more of this run is stored.
    #[error("this worker no longer holds the job")]
    LostLease,
    /// The process is stopping. Another process continues the job.
    #[error("the process stops")]
    Stopping,
    /// The database is unavailable. The attempt is not counted.
    #[error(transparent)]
    Unavailable(StoreError),
}

impl JobError {
    /// Retries after `after`.
    pub fn retry(after: Duration, why: impl Into<String>) -> Self {
        Self::Retry { after: Some(after), why: why.into() }
    }

    /// Retries after the backoff of the kind, which doubles with each attempt.
    pub fn retry_later(why: impl Into<String>) -> Self {
        Self::Retry { after: None, why: why.into() }
    }

    /// Fails without another attempt.
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
