//! What a job is, and how a kind of job is run.

use std::fmt;
use std::time::Duration;

use chrono::{DateTime, Utc};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::config::{Section, millis, mins, secs, settings};
use crate::db::document;

/// A job, for good: an id is never used again.
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
    /// Its handler gave up, or it was tried often enough.
    Failed,
    /// Its process died over it too often. A person decides.
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

/// A job to be enqueued.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewJob {
    pub(super) kind: String,
    pub(super) queue: Option<String>,
    pub(super) unique_key: Option<String>,
    pub(super) payload: String,
    pub(super) run_at: Option<DateTime<Utc>>,
}

impl NewJob {
    pub fn new(kind: impl Into<String>, payload: &impl Serialize) -> Self {
        Self { kind: kind.into(), queue: None, unique_key: None, payload: document(payload), run_at: None }
    }

    /// Jobs of one queue run one at a time, in the order in which they were enqueued.
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

    /// Not before `time`. Until then it lets others of its queue go first.
    #[must_use]
    pub fn at(mut self, time: DateTime<Utc>) -> Self {
        self.run_at = Some(time);
        self
    }
}

/// A job as it was claimed.
#[derive(Debug, Clone, PartialEq)]
pub struct Job {
    pub id: JobId,
    pub kind: String,
    pub queue: Option<String>,
    pub payload: serde_json::Value,
    /// How many tries failed before this one.
    pub attempts: u32,
    /// How often in a row its process died while it ran alone.
    pub crashes: u32,
    /// How often in a row its process died while it ran, alone or not.
    pub suspicions: u32,
    /// Rises with each claim: a write with an older one is refused.
    pub token: i64,
    pub created_at: DateTime<Utc>,
}

impl Job {
    pub fn read_payload<T: DeserializeOwned>(&self) -> serde_json::Result<T> {
        T::deserialize(&self.payload)
    }
}

/// A job as it stands, for people and tests.
#[derive(Debug, Clone, PartialEq)]
pub struct JobRecord {
    pub job: Job,
    pub state: JobState,
    pub run_at: DateTime<Utc>,
    pub error: Option<String>,
    pub finished_at: Option<DateTime<Utc>>,
}

/// How jobs of one kind are run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KindSettings {
    /// The most that run at a time in one process.
    pub parallel: u32,
    /// The longest that one run may take.
    pub time_limit: Duration,
    /// After so many failed tries there is none more.
    pub max_attempts: u32,
    /// After the first failed try the second comes after this time; each further one after twice the time before.
    pub first_retry: Duration,
    /// While it waits for another try, the others of its queue wait too.
    pub keeps_place: bool,
    /// After its process died over it so often, it is set aside.
    pub max_crashes: u32,
    /// How long it is kept after it has finished.
    pub retention: Duration,
}

impl Default for KindSettings {
    fn default() -> Self {
        Self {
            parallel: 8,
            time_limit: Duration::from_mins(10),
            max_attempts: 5,
            first_retry: Duration::from_secs(5),
            keeps_place: true,
            max_crashes: 3,
            retention: Duration::from_hours(7 * 24),
        }
    }
}

/// The longest wait between two tries.
const LONGEST_RETRY: Duration = Duration::from_hours(1);

impl KindSettings {
    /// How long to wait after try number `attempt`, which failed.
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
