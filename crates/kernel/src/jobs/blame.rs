//! Which job is to blame when a process dies.
//!
//! A process that is killed from outside looks like one that a job has killed. So nothing is held against jobs that ran beside each other: they are
//! suspects, and run one at a time, alone, before anything else. A job is blamed when its process dies while nothing else ran in it, and it had
//! stored no step. It is set aside at the third time in a row. Before the third try it rests for a minute, so that a burst of kills from outside
//! is over by then.
//!
//! A suspect runs alone for two seconds, or until it has stored a step; the team cannot stand still for a job of ten minutes. If the process dies
//! after that, it is not clear again who did it, and the time doubles. So a job that takes its process down late is found too.

use std::time::Duration;

use super::JobId;
use super::model::{JobsSettings, doubled};

/// A job that ran in a process as it died.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Died {
    pub id: JobId,
    pub crashes: u32,
    pub suspicions: u32,
    /// It had stored a step since it was claimed.
    pub progressed: bool,
}

/// Longer than any run may take.
const LONGEST_ALONE: Duration = Duration::from_hours(24);

/// What is held against it from now on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Blame {
    pub id: JobId,
    pub crashes: u32,
    pub suspicions: u32,
}

/// Judges all jobs that ran in a process as it died.
pub(super) fn judge(died: &[Died]) -> Vec<Blame> {
    let alone = died.len() == 1;
    died.iter()
        .map(|job| match job {
            // The next crash is the first one again: each life gets further, so this ends.
            Died { progressed: true, .. } => Blame { id: job.id, crashes: 0, suspicions: 0 },
            _ => Blame { id: job.id, crashes: job.crashes + u32::from(alone), suspicions: job.suspicions.saturating_add(1) },
        })
        .collect()
}

/// How long a job rests after a crash, if it is to be tried again.
pub(super) fn pause_of(crashes: u32, max_crashes: u32, settings: &JobsSettings) -> Duration {
    if crashes >= 2 && crashes < max_crashes { settings.crash_pause } else { Duration::ZERO }
}

/// How long a suspect runs alone. Once that is more than a run may take, it is never beside another.
pub(super) fn alone_for(suspicions: u32, settings: &JobsSettings) -> Duration {
    if suspicions == 0 { Duration::ZERO } else { doubled(settings.alone_for, suspicions).min(LONGEST_ALONE) }
}
