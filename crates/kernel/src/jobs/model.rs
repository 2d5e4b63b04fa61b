//! Jobs, and the settings of job kinds.

use std::fmt;
use std::time::Duration;

use chrono::{DateTime, Utc};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::config::{Section, millis, mins, secs, settings};
use crate::db::document;

/// A job id. It is never used again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct JobId(pub i64);

impl fmt::Display for JobId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum JobState {
    /// Waits for its time, its queue, or a worker.
    Ready,
    Running,
    Done,
    /// Its handler gave up, or the attempts are used up.
    Failed,
    /// Its process died too often while running it. A person decides.
    SetAside,
    Cancelled,
}

impl JobState {
    pub fn name(self) -> &'static str {
        match self {
            Self::Ready => "ready",
            Self::Running => "running",
            Self::Done => "done",
            Self::Failed => "failed",
            Self::SetAside => "set_aside",
            Self::Cancelled => "cancelled",
        }
    }
}

/// A job to enqueue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewJob {
    pub(super) kind: String,
    pub(super) queue: Option<String>,
    pub(super) unique_key: Option<String>,
    pub(super) payload: String,
    pub(super) priority: String,
    pub(super) run_at: Option<DateTime<Utc>>,
}

impl NewJob {
    pub fn new(kind: impl Into<String>, payload: &impl Serialize) -> Self {
        Self { kind: kind.into(), queue: None, unique_key: None, payload: document(payload), priority: String::new(), run_at: None }
    }

    /// Jobs of one queue run one at a time, by their priority, and in the order in which they were enqueued.
    #[must_use]
    pub fn queue(mut self, queue: impl Into<String>) -> Self {
        self.queue = Some(queue.into());
        self
    }

    /// While a job with this key is open, enqueueing another one does nothing.
    #[must_use]
    pub fn unique(mut self, key: impl Into<String>) -> Self {
        self.unique_key = Some(key.into());
        self
    }

    /// The smallest text goes first, within its queue and among the first jobs of the queues. A job without a priority goes before those with one.
    #[must_use]
    pub fn priority(mut self, priority: impl Into<String>) -> Self {
        self.priority = priority.into();
        self
    }

    /// Starts at `time` at the earliest. Until then other jobs of its queue may run first.
    #[must_use]
    pub fn at(mut self, time: DateTime<Utc>) -> Self {
        self.run_at = Some(time);
        self
    }
}

/// A claimed job.
#[derive(Debug, Clone, PartialEq)]
pub struct Job {
    pub id: JobId,
    pub kind: String,
    pub queue: Option<String>,
    pub payload: serde_json::Value,
    /// The number of failed attempts before this one.
    pub attempts: u32,
    /// The number of consecutive times that its process died while it ran alone.
    pub crashes: u32,
    /// The number of consecutive times that its process died while it ran, alone or not.
    pub suspicions: u32,
    /// Increases with each claim. A write with an older token is refused.
    pub token: i64,
    pub created_at: DateTime<Utc>,
}

impl Job {
    pub fn read_payload<T: DeserializeOwned>(&self) -> serde_json::Result<T> {
        T::deserialize(&self.payload)
    }
}

/// The current state of a job, for people and tests.
#[derive(Debug, Clone, PartialEq)]
pub struct JobRecord {
    pub job: Job,
    pub state: JobState,
    pub run_at: DateTime<Utc>,
    pub error: Option<String>,
    pub finished_at: Option<DateTime<Utc>>,
}

/// The settings of a job kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KindSettings {
    /// Maximum number of parallel runs in one process.
    pub parallel: u32,
    /// Maximum number of parallel runs in all processes together.
    pub parallel_in_all: Option<u32>,
    /// Maximum duration of a run.
    pub time_limit: Duration,
    /// Maximum number of attempts.
    pub max_attempts: u32,
    /// The delay after the first failed attempt. It doubles with each further one.
    pub first_retry: Duration,
    /// While it waits for a retry, the other jobs of its queue wait too.
    pub keeps_place: bool,
    /// After this many crashes of its process, it is set aside.
    pub max_crashes: u32,
    /// How long a finished job is kept.
    pub retention: Duration,
}

impl Default for KindSettings {
    fn default() -> Self {
        Self {
            parallel: 8,
            parallel_in_all: None,
            time_limit: Duration::from_mins(10),
            max_attempts: 5,
            first_retry: Duration::from_secs(5),
            keeps_place: true,
            max_crashes: 3,
            retention: Duration::from_hours(7 * 24),
        }
    }
}

/// The longest delay between two attempts.
const LONGEST_RETRY: Duration = Duration::from_hours(1);

impl KindSettings {
    /// The delay after attempt number `attempt` has failed.
    pub fn backoff(&self, attempt: u32) -> Duration {
        doubled(self.first_retry, attempt).min(LONGEST_RETRY)
    }
}

/// `first`, doubled for each number after one.
pub(super) fn doubled(first: Duration, number: u32) -> Duration {
    first.saturating_mul(2_u32.saturating_pow(number.saturating_sub(1)))
}

settings! {
    /// `[jobs]`: how a process runs jobs.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub struct JobsSettings {
        parallel: u32 = 256, only "at least 1", |parallel| *parallel > 0, "The most jobs that run at a time in one process.";
        heartbeat: Duration = secs(2), in millis(100)..=secs(60), "How often a process shows that it lives.";
        lease: Duration = secs(7), in secs(1)..=mins(10), "A process that has shown nothing for this long is dead; others take over its jobs.";
        poll: Duration = secs(2), in millis(100)..=mins(1), "How often to look for jobs that no signal announced.";
        crash_pause: Duration = mins(1), in secs(0)..=mins(10), "How long a job rests whose process died over it twice: a burst of kills from outside is over before the third try.";
        /// How long a job that may have killed its process runs alone; doubled each time that leaves open whether it did.
        alone_for: Duration = secs(2);
    }
}

impl JobsSettings {
    /// Reads the section. A lease must outlast one missed heartbeat.
    pub fn read_checked(section: &mut Section<'_>) -> Self {
        let settings = Self::read(section);
        if settings.lease < settings.heartbeat * 2 {
            section.refuse("lease", "must be at least twice `heartbeat`");
        }
        settings
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_up_to_the_longest() {
        let settings = KindSettings::default();
        assert_eq!([1, 2, 3].map(|attempt| settings.backoff(attempt).as_secs()), [5, 10, 20]);
        assert_eq!(settings.backoff(u32::MAX), LONGEST_RETRY);
    }
}
