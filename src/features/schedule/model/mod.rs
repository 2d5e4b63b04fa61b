//! Scheduled jobs: their timetables, and the rules for missed runs.
//!
//! Plain values and pure rules. A [`Timetable`] computes its instants, [`Job::due`] the instants that are due. Nothing here waits, reads a clock or
//! stores what has fired. The scheduler does that.

mod action;
mod draft;
mod due;
mod timetable;
mod words;

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

pub use action::{ActionKind, Actions, BuiltIn, JobAction};
pub use draft::{InvalidJob, JobDraft};
pub use due::{Due, LATE};
pub use timetable::{InvalidTimetable, Timetable};

/// A scheduled job.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Job {
    pub name: JobName,
    pub timetable: Timetable,
    pub action: JobAction,
    /// The channel, by name or id. None: no channel.
    pub channel: Option<String>,
    pub missed: MissedRuns,
    /// A missed run older than this is not made up for.
    pub deadline: Duration,
    /// False if disabled in the file. Unlike a pause, no command enables it.
    pub enabled: bool,
    pub origin: JobOrigin,
}

/// The policy for runs that were missed while no process watched the clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MissedRuns {
    Skip,
    /// The latest is made up for, unless its deadline has passed.
    Once,
    /// All runs within their deadline are made up for, at most 24 at a time.
    All,
}

/// Where a job was defined.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum JobOrigin {
    BuiltIn,
    /// `teamroom.toml`.
    File,
    /// `/schedule add` or `teamroom schedule add`.
    Command,
}

/// A job's name: 1 to 40 lower-case letters, digits and hyphens, beginning with a letter.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct JobName(String);

/// One instant of a job, with its state. There is one row per job and instant, whichever process fired it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Firing {
    pub job: JobName,
    pub instant: DateTime<Utc>,
    pub action: JobAction,
    pub state: FiringState,
    /// How it ended, or why it did not run. Shown to people.
    pub note: Option<String>,
    /// The number of instants before this one that were missed and not made up for.
    pub passed_over: u64,
    /// The time of recording. The difference to `instant` is the delay.
    pub at: DateTime<Utc>,
}

/// The state of a firing. `Open → Done`, or `Open → Refused`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FiringState {
    /// Fired. The action has not ended yet.
    Open,
    Done,
    /// It fired in time and could not be done.
    Refused,
    /// Too late to be made up for. If the clock is set back and the instant comes again, it may fire then.
    Missed,
}

const LONGEST_NAME: usize = 40;

impl Job {
    /// The default deadline for missed runs.
    pub const DEADLINE: Duration = Duration::from_hours(2);
}

impl JobName {
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for JobName {
    type Err = InvalidJob;

    fn from_str(name: &str) -> Result<Self, InvalidJob> {
        let fits = name.len() <= LONGEST_NAME
            && name.starts_with(|c: char| c.is_ascii_lowercase())
            && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-');
        if fits { Ok(Self(name.to_owned())) } else { Err(InvalidJob::Name(name.to_owned())) }
    }
}

impl fmt::Display for JobName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FiringState {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Done => "done",
            Self::Refused => "refused",
            Self::Missed => "missed",
        }
    }
}

impl JobOrigin {
    /// The text for people.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::BuiltIn => "built in",
            Self::File => "file",
            Self::Command => "command",
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    pub(crate) use super::action::tests::{actions, report};
    use super::*;

    #[test]
    fn a_job_is_stored_as_it_is() {
        let job = Job { action: JobAction::post("Time."), ..report(chrono_tz::Tz::America__New_York) };
        let text = serde_json::to_string(&job).expect("JSON");
        assert_eq!(serde_json::from_str::<Job>(&text).expect("a job"), job, "{text}");
        assert!(serde_json::from_str::<Job>(&text.replace("0 9 * * 1-5", "nonsense")).is_err());
    }
}
