//! Places for jobs that are about to start. A claim takes a place first, and so does a new job: when the worker of this process has room, the job is
//! inserted as `running` under its name, and starts after the commit. This saves a look at the database and a commit. If the process dies in between,
//! the job is taken back like any other.

use std::collections::HashMap;
use std::sync::atomic::Ordering;
use std::sync::{MutexGuard, PoisonError};

use chrono::{DateTime, Utc};

use super::{Claimed, Jobs, Running};
use crate::jobs::admission::{Beside, Candidate, Limits};
use crate::jobs::store::WorkerId;
use crate::jobs::{Job, JobId};

/// A place for a job that does not run yet. Free again on drop.
pub(in crate::jobs) struct Reservation {
    jobs: Jobs,
    kind: &'static str,
    pub(in crate::jobs) worker: WorkerId,
}

impl Reservation {
    /// Starts the job, which this worker holds by now.
    pub(in crate::jobs) fn start(self, job: Job) {
        let now = self.jobs.inner.clock.now();
        self.jobs.take_up(job, now);
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        let mut reserved = self.jobs.reserved();
        if let Some(place) = reserved.iter().position(|kind| *kind == self.kind) {
            reserved.swap_remove(place);
        }
        drop(reserved);
        self.jobs.inner.ended.notify_waiters();
    }
}

impl Jobs {
    /// A place for a new job. None if the process stops, its limits are reached, a suspect runs, other jobs wait, or its kind has a limit in all
    /// processes.
    pub(in crate::jobs) fn reserve(&self, kind: &str) -> Option<Reservation> {
        let inner = &self.inner;
        if inner.stop.is_cancelled() || !inner.calm.load(Ordering::Acquire) {
            return None;
        }
        if self.in_all_of(kind).is_some() {
            return None;
        }
        let candidate = Candidate { id: JobId(0), kind: kind.to_owned(), queue: None, crashes: 0, suspicions: 0 };
        let (places, _) = self.admit(&[candidate], &inner.limits, inner.clock.now());
        places.into_iter().next().map(|(_, place)| place)
    }

    /// The jobs that may start now, each with its place, and when to check again.
    pub(super) fn admit(
        &self,
        candidates: &[Candidate],
        kinds: &HashMap<&'static str, u32>,
        now: DateTime<Utc>,
    ) -> (Vec<(JobId, Reservation)>, Option<DateTime<Utc>>) {
        let inner = &self.inner;
        let (running, mut reserved) = (self.running(), self.reserved());
        let limits = Limits { kinds, settings: &inner.settings };
        let admission = limits.admit(now, &list_beside(&running, &reserved, now), candidates);
        let kind_of = |id| candidates.iter().find(|candidate| candidate.id == id).map(|candidate| candidate.kind.as_str());
        let kinds = admission.claim.into_iter().filter_map(|id| Some((id, *inner.kinds.get_key_value(kind_of(id)?)?.0)));
        let places = kinds.map(|(id, kind)| {
            reserved.push(kind);
            (id, Reservation { jobs: self.clone(), kind, worker: self.worker() })
        });
        (places.collect(), admission.again_at)
    }

    /// The kinds of the reserved places. Locked after the running jobs.
    pub(super) fn reserved(&self) -> MutexGuard<'_, Vec<&'static str>> {
        self.inner.reserved.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The jobs beside which a new one would run.
fn list_beside<'a>(running: &'a HashMap<Claimed, Running>, reserved: &[&'static str], now: DateTime<Utc>) -> Vec<Beside<'a>> {
    let reserved = reserved.iter().map(|kind| Beside { kind, since: now, suspicions: 0, progressed: true });
    running.values().map(Running::beside).chain(reserved).collect()
}
