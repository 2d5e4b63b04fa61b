//! The context that a handler gets while it runs a job.

use std::collections::{HashMap, HashSet};
use std::future::Future;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use chrono::{DateTime, Utc};
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio_util::sync::CancellationToken;

use super::handover::Handover;
use super::store::JobStore;
use super::{Job, JobError, JobState};
use crate::db::{Database, StoreError, Transaction};
use crate::time::SharedClock;

/// The name under which a run notes the steps that are stored elsewhere. No step of a feature has this name.
const OWN_STEPS: &str = "";

/// A running job. Cheap to clone.
#[derive(Clone)]
pub struct JobContext {
    inner: Arc<Inner>,
}

struct Inner {
    job: Job,
    store: JobStore,
    clock: SharedClock,
    /// Cancelled to end the run: the lease is lost, the time limit is reached, or the process stops at once.
    cancel: CancellationToken,
    /// Cancelled when the process stops gracefully: no new step begins.
    stop: CancellationToken,
    steps: Mutex<Steps>,
    progress: Progress,
    finished: AtomicBool,
    handover: Arc<Handover>,
}

/// Whether a step was stored since the claim.
#[derive(Debug, Clone, Default)]
pub(super) struct Progress(Arc<AtomicBool>);

impl Progress {
    pub(super) fn made(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

#[derive(Default)]
struct Steps {
    /// The results of earlier runs. None until they are read.
    stored: Option<HashMap<String, String>>,
    /// The steps of this run.
    named: HashSet<String>,
}

impl JobContext {
    pub(super) fn new(job: Job, store: JobStore, clock: SharedClock, cancel: CancellationToken, stop: CancellationToken) -> Self {
        // A job that is claimed for the first time has no steps.
        let stored = (job.token == 1).then(HashMap::new);
        let handover = store.0.db().handover().clone();
        let steps = Mutex::new(Steps { stored, named: HashSet::new() });
        let inner =
            Inner { job, store, clock, cancel, stop, steps, progress: Progress::default(), finished: AtomicBool::new(false), handover };
        Self { inner: Arc::new(inner) }
    }

    pub fn job(&self) -> &Job {
        &self.inner.job
    }

    pub fn database(&self) -> &Database {
        &self.inner.store.0
    }

    pub fn now(&self) -> DateTime<Utc> {
        self.inner.clock.now()
    }

    /// The payload of the job.
    ///
    /// # Errors
    /// Fails the job: another version enqueued it, or with another kind.
    pub fn payload<T: DeserializeOwned>(&self) -> Result<T, JobError> {
        self.job().read_payload().map_err(|error| JobError::fail(format!("its payload cannot be read: {error}")))
    }

    /// Cancelled to end the run: the job was cancelled or taken back, the time limit is reached, or the process stops.
    pub fn cancelled(&self) -> &CancellationToken {
        &self.inner.cancel
    }

    /// Cancelled when the process stops gracefully, for a handler that waits. [`Self::check`] then fails.
    pub fn stopping(&self) -> &CancellationToken {
        &self.inner.stop
    }

    /// Opens a transaction. The job keeps its lease until the transaction ends.
    ///
    /// # Errors
    /// `LostLease` when this run no longer holds the job.
    pub async fn begin(&self) -> Result<Transaction, JobError> {
        let mut transaction = self.database().db().begin().await?;
        if self.hold(&mut transaction).await? { Ok(transaction) } else { Err(JobError::LostLease) }
    }

    /// As [`Self::begin`], for a step that the feature stores in its own tables. Once the transaction has committed, the run counts as progress: the
    /// job is not blamed if the process dies.
    pub async fn begin_step(&self) -> Result<Transaction, JobError> {
        if self.inner.progress.made() {
            return self.begin().await;
        }
        let mut transaction = self.database().db().begin().await?;
        if !self.inner.store.record_step_in(&mut transaction, self.job(), OWN_STEPS, "null", self.now()).await? {
            return Err(JobError::LostLease);
        }
        let context = self.clone();
        transaction.after_commit(move || context.made_progress());
        Ok(transaction)
    }

    /// Checks that this run still holds the job, which then keeps its lease until the transaction ends. For a transaction that has to take other
    /// locks first.
    pub async fn hold(&self, transaction: &mut Transaction) -> Result<bool, StoreError> {
        self.inner.store.hold(transaction, self.job()).await
    }

    /// Ends the job as done, and commits. False, without any write, when this run no longer holds the job.
    pub async fn finish_with(&self, mut transaction: Transaction) -> Result<bool, StoreError> {
        if !self.inner.store.finish(&mut transaction, self.job(), JobState::Done, None, self.now()).await? {
            return Ok(false);
        }
        transaction.commit().await?;
        self.inner.finished.store(true, Ordering::Relaxed);
        Ok(true)
    }

    /// Opens the last transaction of the job. Only [`FinalTransaction::finish`] checks the lease, which saves one statement compared with
    /// [`Self::begin`].
    pub async fn begin_final(&self) -> Result<FinalTransaction<'_>, JobError> {
        Ok(FinalTransaction { transaction: self.database().db().begin().await?, job: self })
    }

    /// Runs `step` once. Its result is stored, and a run after a crash gets the stored result. The step runs again if the process dies before its
    /// result is stored, so its effects must be idempotent. Each step of a job has a unique name.
    pub async fn step<T, F>(&self, name: &str, step: impl FnOnce() -> F + Send) -> Result<T, JobError>
    where
        T: Serialize + DeserializeOwned,
        F: Future<Output = Result<T, JobError>> + Send,
    {
        self.name_step(name)?;
        if let Some(stored) = self.find_step(name).await? {
            return Ok(stored);
        }
        self.check()?;
        let result = step().await?;
        let text = write(name, &result)?;
        if !self.inner.store.record_step(self.job(), name, &text, self.now()).await? {
            return Err(JobError::LostLease);
        }
        self.made_progress();
        Ok(result)
    }

    /// The result of a step from an earlier run.
    pub async fn find_step<T: DeserializeOwned>(&self, name: &str) -> Result<Option<T>, JobError> {
        if self.steps().stored.is_none() {
            let stored = self.inner.store.list_steps(self.job().id).await?;
            self.steps().stored.get_or_insert(stored);
        }
        let stored = self.steps().stored.as_ref().and_then(|stored| stored.get(name).cloned());
        let read = |text: String| serde_json::from_str(&text).map_err(|error| JobError::fail(format!("step {name}: {error}")));
        stored.map(read).transpose()
    }

    /// Stores a step together with its effects, so that it happens exactly once. The caller has checked that [`Self::find_step`] returns none.
    pub async fn record_step(&self, transaction: &mut Transaction, name: &str, result: &(impl Serialize + Sync)) -> Result<(), JobError> {
        self.name_step(name)?;
        let text = write(name, result)?;
        if !self.inner.store.record_step_in(transaction, self.job(), name, &text, self.now()).await? {
            return Err(JobError::LostLease);
        }
        let context = self.clone();
        transaction.after_commit(move || context.made_progress());
        Ok(())
    }

    /// Succeeds at or after `time`. Before that the job sleeps: the run ends with this error, and another run begins at that time, or when the job is
    /// woken. `time` must be the same in both runs, so it comes from the payload or a step.
    pub fn sleep_until(&self, time: DateTime<Utc>) -> Result<(), JobError> {
        if self.now() >= time { Ok(()) } else { Err(JobError::Sleep(time)) }
    }

    /// Fails when no new step may begin.
    pub fn check(&self) -> Result<(), JobError> {
        if self.inner.stop.is_cancelled() || self.inner.cancel.is_cancelled() { Err(JobError::Stopping) } else { Ok(()) }
    }

    pub(super) fn progress(&self) -> Progress {
        self.inner.progress.clone()
    }

    /// Whether the handler has ended the job itself.
    pub(super) fn is_finished(&self) -> bool {
        self.inner.finished.load(Ordering::Relaxed)
    }

    fn made_progress(&self) {
        if !self.inner.progress.0.swap(true, Ordering::Relaxed) && self.job().suspicions > 0 {
            // Other jobs waited until this one proved harmless.
            self.inner.handover.wake.notify_one();
        }
    }

    fn name_step(&self, name: &str) -> Result<(), JobError> {
        if self.steps().named.insert(name.to_owned()) { Ok(()) } else { Err(JobError::fail(format!("it has two steps named {name}"))) }
    }

    fn steps(&self) -> MutexGuard<'_, Steps> {
        self.inner.steps.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn write(name: &str, result: &impl Serialize) -> Result<String, JobError> {
    serde_json::to_string(result).map_err(|error| JobError::fail(format!("step {name}: {error}")))
}

/// The last transaction of a job. Only [`Self::finish`] commits it.
pub struct FinalTransaction<'a> {
    transaction: Transaction,
    job: &'a JobContext,
}

impl Deref for FinalTransaction<'_> {
    type Target = Transaction;

    fn deref(&self) -> &Transaction {
        &self.transaction
    }
}

impl DerefMut for FinalTransaction<'_> {
    fn deref_mut(&mut self) -> &mut Transaction {
        &mut self.transaction
    }
}

impl FinalTransaction<'_> {
    /// Commits, and ends the job as done.
    ///
    /// # Errors
    /// `LostLease` when this run no longer holds the job. Nothing is stored then.
    pub async fn finish(self) -> Result<(), JobError> {
        if self.job.finish_with(self.transaction).await? { Ok(()) } else { Err(JobError::LostLease) }
    }
}
