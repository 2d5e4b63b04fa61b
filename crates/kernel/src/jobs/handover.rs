//! Connects the worker of this process to the transactions of this process, so that a job starts without polling.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use tokio::sync::Notify;

use super::worker::Reservation;
use super::{JobId, Jobs};
use crate::db::WeakLink;

/// One per open database. It only saves time, because the database contains the same information.
#[derive(Debug, Default)]
pub struct Handover {
    /// Notified when a job can be claimed or must end.
    pub(super) wake: Notify,
    cancelled: Mutex<Vec<JobId>>,
    /// Set while the worker runs jobs.
    pub(super) worker: WeakLink<Jobs>,
    /// True when only this process runs jobs, so no other process needs a notification.
    sole: AtomicBool,
}

impl Handover {
    /// Wakes the worker, because other jobs may run now.
    pub(crate) fn wake(&self) {
        self.wake.notify_one();
    }

    /// A place for a new job in this process. None if the job must wait, or another process may run it sooner.
    pub(super) fn reserve(&self, kind: &str) -> Option<Reservation> {
        self.worker.upgrade()?.reserve(kind)
    }

    pub(super) fn cancel(&self, job: JobId) {
        self.cancelled.lock().unwrap_or_else(PoisonError::into_inner).push(job);
        self.wake.notify_one();
    }

    /// The jobs that were cancelled since the last call.
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
