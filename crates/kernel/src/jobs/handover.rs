//! What a commit in this process tells the worker of this process, so that a job starts without anybody polling.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use tokio::sync::Notify;

use super::JobId;

/// One for each open database. It only saves time: what it says is in the database too.
#[derive(Debug, Default)]
pub struct Handover {
    /// There is something to claim, or something to end.
    pub(super) wake: Notify,
    cancelled: Mutex<Vec<JobId>>,
    /// No other process has to be told of new jobs: this one runs them, and no other one does.
    sole: AtomicBool,
}

impl Handover {
    pub(super) fn cancel(&self, job: JobId) {
        self.cancelled.lock().unwrap_or_else(PoisonError::into_inner).push(job);
        self.wake.notify_one();
    }

    /// The jobs that were cancelled since the last time.
    pub(super) fn take_cancelled(&self) -> Vec<JobId> {
        std::mem::take(&mut self.cancelled.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub(super) fn is_sole(&self) -> bool {
        self.sole.load(Ordering::Relaxed)
    }

    pub(super) fn set_sole(&self, sole: bool) {
        self.sole.store(sole, Ordering::Relaxed);
    }
}
