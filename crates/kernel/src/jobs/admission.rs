//! Selects the ready jobs that a process claims, given the jobs that it already runs.

use std::collections::HashMap;

use chrono::{DateTime, Utc};

use super::JobId;
use super::blame::alone_for;
use super::model::JobsSettings;

/// A job that can be claimed: its time has come and it is the first of its queue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Candidate {
    pub id: JobId,
    pub kind: String,
    pub queue: Option<String>,
    pub crashes: u32,
    pub suspicions: u32,
}

/// A job that runs in this process.
#[derive(Debug, Clone, Copy)]
pub(super) struct Beside<'a> {
    pub kind: &'a str,
    pub since: DateTime<Utc>,
    pub suspicions: u32,
    pub progressed: bool,
}

/// The jobs to claim now, and when to check again without an earlier wake-up.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Admission {
    pub claim: Vec<JobId>,
    pub again_at: Option<DateTime<Utc>>,
}

/// The limits on parallel jobs, for each known kind and in total.
pub(super) struct Limits<'a> {
    pub kinds: &'a HashMap<&'static str, u32>,
    pub settings: &'a JobsSettings,
}

impl Limits<'_> {
    /// `candidates` are in the order in which they run.
    pub(super) fn admit(&self, now: DateTime<Utc>, running: &[Beside], candidates: &[Candidate]) -> Admission {
        let alone_until = |job: &Beside, suspicions: u32| job.since + alone_for(suspicions, self.settings);
        let busy_until = |suspicions: &dyn Fn(&Beside) -> u32| {
            running.iter().filter(|job| !job.progressed).map(|job| alone_until(job, suspicions(job))).filter(|until| *until > now).max()
        };
        // A suspect runs alone in its process.
        if let again_at @ Some(_) = busy_until(&|job| job.suspicions) {
            return Admission { claim: Vec::new(), again_at };
        }
        let mut free = Free::new(self, running);
        let suspects = candidates.iter().filter(|candidate| candidate.suspicions > 0 && free.has_room(&candidate.kind));
        if let Some(suspect) = suspects.min_by_key(|suspect| (suspect.crashes, suspect.suspicions, suspect.id)) {
            // The jobs that already run get the same time to prove harmless.
            return match busy_until(&|_| suspect.suspicions) {
                again_at @ Some(_) => Admission { claim: Vec::new(), again_at },
                None => Admission { claim: vec![suspect.id], again_at: None },
            };
        }
        let claim = candidates.iter().filter(|candidate| candidate.suspicions == 0 && free.take(&candidate.kind));
        Admission { claim: claim.map(|candidate| candidate.id).collect(), again_at: None }
    }
}

/// The number of free slots.
struct Free<'a> {
    kinds: HashMap<&'a str, u32>,
    all: u32,
}

impl<'a> Free<'a> {
    fn new(limits: &Limits<'a>, running: &[Beside<'a>]) -> Self {
        let mut kinds: HashMap<&str, u32> = limits.kinds.iter().map(|(kind, parallel)| (*kind, *parallel)).collect();
        for job in running {
            if let Some(free) = kinds.get_mut(job.kind) {
                *free = free.saturating_sub(1);
            }
        }
        let all = usize::try_from(limits.settings.parallel).unwrap_or(usize::MAX).saturating_sub(running.len());
        Self { kinds, all: u32::try_from(all).unwrap_or(u32::MAX) }
    }

    fn has_room(&self, kind: &str) -> bool {
        self.all > 0 && self.kinds.get(kind).is_some_and(|free| *free > 0)
    }

    fn take(&mut self, kind: &str) -> bool {
        if self.all == 0 {
            return false;
        }
        match self.kinds.get_mut(kind) {
            Some(free) if *free > 0 => {
                *free -= 1;
                self.all -= 1;
                true
            }
            _ => false,
        }
    }
}
