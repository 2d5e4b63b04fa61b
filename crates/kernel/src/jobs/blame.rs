//! Finds the job that is to blame when a process dies.
//!
//! A process that is killed from outside looks the same as one that a job has killed. So jobs that ran in parallel are not blamed. They become
//! suspects, and run one at a time, alone, before any other job. A job is blamed when its process dies while no other job ran in it and it had stored
//! no step. The third blame in a row sets it aside. Before the third attempt it waits a minute, so that a burst of kills from outside has ended.
//! Meanwhile the other jobs of its queue go first.
//!
//! A suspect runs alone for two seconds, or until it has stored a step. A longer time would let a job of ten minutes block the team. If the process
//! dies after that, the culprit is unknown again, and the time doubles. So a job that kills its process late is found too.

use std::time::Duration;

use super::JobId;
use super::model::{JobsSettings, doubled};

/// A job that was running when its process died.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Died {
    pub id: JobId,
    pub crashes: u32,
    pub suspicions: u32,
    /// It had stored a step since it was claimed.
    pub progressed: bool,
}

/// Longer than the time limit of any run.
const LONGEST_ALONE: Duration = Duration::from_hours(72);

/// The new crash record of a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Blame {
    pub id: JobId,
    pub crashes: u32,
    pub suspicions: u32,
}

/// Judges all jobs that were running when a process died.
pub(super) fn judge(died: &[Died]) -> Vec<Blame> {
    let alone = died.len() == 1;
    died.iter()
        .map(|job| match job {
            // The next crash counts as the first one. Each run gets further, so this ends.
            Died { progressed: true, .. } => Blame { id: job.id, crashes: 0, suspicions: 0 },
            _ => Blame { id: job.id, crashes: job.crashes + u32::from(alone), suspicions: job.suspicions.saturating_add(1) },
        })
        .collect()
}

/// The delay after a crash, if the job is tried again.
pub(super) fn pause_of(crashes: u32, max_crashes: u32, settings: &JobsSettings) -> Duration {
    if crashes >= 2 && crashes < max_crashes { settings.crash_pause } else { Duration::ZERO }
}

/// How long a suspect runs alone. Once that exceeds the time limit of a run, it never runs in parallel.
pub(super) fn alone_for(suspicions: u32, settings: &JobsSettings) -> Duration {
    if suspicions == 0 { Duration::ZERO } else { doubled(settings.alone_for, suspicions).min(LONGEST_ALONE) }
}
