//! Scheduled jobs: what is to happen at which times, and what becomes of times that were missed.
//!
//! Plain values and pure rules: a [`Timetable`] knows its instants, [`Job::due`] what is to be done about them at some moment. Nothing here
//! waits, reads a clock or remembers what has fired; `schedule` does that with the store.

mod due;
mod timetable;
mod words;

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use chrono::{DateTime, Utc};
use chrono_tz::Tz;
use serde::{Deserialize, Serialize};

pub use due::{Due, LATE};
pub use timetable::{InvalidTimetable, Timetable};

/// Something that happens by a timetable.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Job {
    pub name: JobName,
    pub timetable: Timetable,
    pub action: JobAction,
    /// Where, by name or id. None: nowhere in particular.
    pub channel: Option<String>,
    pub missed: MissedRuns,
    /// A missed run older than this is not made up for.
    pub deadline: Duration,
    /// Turned off in the file; unlike a pause, no command turns it on.
    pub enabled: bool,
    pub origin: JobOrigin,
}

/// What a job does.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum JobAction {
    Standup,
    /// Predictions whose time is over are held against their feeds.
    SettlePredictions,
    /// The weekly chart of the standup's health.
    Health,
    /// The coordinator says `text`.
    Post {
        text: String,
    },
}

/// What happens to runs that were missed while nobody watched the clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MissedRuns {
    Skip,
    /// The latest is made up for, unless its deadline has passed.
    Once,
    /// Each is made up for whose deadline has not passed; at most 24 at a time.
    All,
}

/// Where a job was written down.
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

/// One instant of a job, and what became of it. There is one for each job and instant, whoever saw it come.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Firing {
    pub job: JobName,
    pub instant: DateTime<Utc>,
    pub action: JobAction,
    pub state: FiringState,
    /// How it ended, or why it did not happen, for people.
    pub note: Option<String>,
    /// How many instants before this one were missed and not made up for.
    pub passed_over: u64,
    /// When it was recorded; with `instant` this tells how late it was.
    pub at: DateTime<Utc>,
}

/// Where a firing stands. `Open → Done`, or `Open → Refused`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FiringState {
    /// Fired; whoever carries the action out has not told how it went.
    Open,
    Done,
    /// It came in time and could not be done.
    Refused,
    /// Too late to be made up for. Should the clock be set back and the instant come again, it may fire then.
    Missed,
}

/// A job as a person writes it down.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobDraft {
    pub name: String,
    pub cron: String,
    /// None: the team's zone.
    pub zone: Option<String>,
    pub action: String,
    pub channel: Option<String>,
    pub missed: Option<MissedRuns>,
    pub deadline: Option<Duration>,
}

/// Why a job cannot be as it was written down, in words for whoever wrote it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidJob {
    #[error("{0:?} is no name for a job; give up to 40 lower-case letters, digits and hyphens, beginning with a letter")]
    Name(String),
    #[error(transparent)]
    Timetable(#[from] InvalidTimetable),
    #[error("{0:?} is no action; give standup, settle-predictions, health, or \"post: \" and a text of up to 1900 characters")]
    Action(String),
    #[error("a standup cannot be held more often than once a minute; leave the seconds out, or give one second")]
    TooOften,
    #[error("a standup or a post needs a channel; name one")]
    NoChannel,
}

/// The most characters of a post: Discord's 2000 with room for what formatting adds.
const LONGEST_POST: usize = 1900;
const LONGEST_NAME: usize = 40;
const POST: &str = "post:";

impl Job {
    /// How long a missed run is worth making up for unless it is said otherwise.
    pub const DEADLINE: Duration = Duration::from_hours(2);

    /// The jobs that every team has, in its zone.
    pub fn built_in(zone: Tz) -> [Self; 3] {
        let job = |name: &str, cron: &str, action, channel: Option<&str>, deadline| Self {
            name: JobName(name.to_owned()),
            timetable: Timetable::parse(cron, zone).expect("the built-in timetables are valid"),
            action,
            channel: channel.map(str::to_owned),
            missed: MissedRuns::Once,
            deadline,
            enabled: true,
            origin: JobOrigin::BuiltIn,
        };
        let channel = Some("daily-standup");
        [
            job("standup", "0 9 * * 1-5", JobAction::Standup, channel, Self::DEADLINE),
            job("settle-predictions", "*/5 * * * *", JobAction::SettlePredictions, None, Self::DEADLINE),
            // Whoever opens the laptop on Monday evening still wants to see the week.
            job("health", "0 10 * * 1", JobAction::Health, channel, Duration::from_hours(24)),
        ]
    }

    /// Whether name, timetable, action and channel go together.
    ///
    /// # Errors
    /// The first rule that they break.
    pub fn check(&self) -> Result<(), InvalidJob> {
        match self.action {
            JobAction::Standup if self.timetable.is_below_a_minute() => Err(InvalidJob::TooOften),
            JobAction::Standup | JobAction::Post { .. } if self.channel.is_none() => Err(InvalidJob::NoChannel),
            _ => Ok(()),
        }
    }
}

impl JobDraft {
    /// Makes a job of it, in `zone` unless the draft names one.
    ///
    /// # Errors
    /// What is wrong with it and what is allowed.
    pub fn into_job(self, zone: Tz) -> Result<Job, InvalidJob> {
        let zone = self.zone.as_deref().map_or(Ok(zone), Timetable::parse_zone)?;
        let job = Job {
            name: self.name.parse()?,
            timetable: Timetable::parse(&self.cron, zone)?,
            action: self.action.parse()?,
            channel: self.channel.map(|channel| channel.trim_start_matches('#').to_owned()).filter(|channel| !channel.is_empty()),
            missed: self.missed.unwrap_or(MissedRuns::Once),
            deadline: self.deadline.unwrap_or(Job::DEADLINE),
            enabled: true,
            origin: JobOrigin::Command,
        };
        job.check()?;
        Ok(job)
    }
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

impl FromStr for JobAction {
    type Err = InvalidJob;

    fn from_str(text: &str) -> Result<Self, InvalidJob> {
        match text.trim() {
            "standup" => Ok(Self::Standup),
            "settle-predictions" => Ok(Self::SettlePredictions),
            "health" => Ok(Self::Health),
            text => {
                let said = text.strip_prefix(POST).map(str::trim).filter(|said| !said.is_empty() && said.chars().count() <= LONGEST_POST);
                said.map(|said| Self::Post { text: said.to_owned() }).ok_or_else(|| InvalidJob::Action(text.chars().take(60).collect()))
            }
        }
    }
}

impl fmt::Display for JobAction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Standup => f.write_str("standup"),
            Self::SettlePredictions => f.write_str("settle-predictions"),
            Self::Health => f.write_str("health"),
            Self::Post { text } => write!(f, "{POST} {text}"),
        }
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
    /// As it is shown to people.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::BuiltIn => "built in",
            Self::File => "file",
            Self::Command => "command",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draft(name: &str, cron: &str, action: &str) -> JobDraft {
        let (name, cron, action) = (name.to_owned(), cron.to_owned(), action.to_owned());
        JobDraft { name, cron, zone: None, action, channel: Some("#general".to_owned()), missed: None, deadline: None }
    }

    fn refused(draft: JobDraft) -> String {
        draft.into_job(Tz::UTC).expect_err("a refusal").to_string()
    }

    #[test]
    fn a_draft_becomes_a_job_in_the_zone_of_the_team_or_its_own() {
        let job = draft("weekly-retro", "0 16 * * 5", "post: Time for the retro.").into_job(Tz::Europe__Berlin).expect("a job");
        assert_eq!((job.timetable.zone(), job.channel.as_deref()), (Tz::Europe__Berlin, Some("general")));
        assert_eq!(job.action, JobAction::Post { text: "Time for the retro.".to_owned() });
        assert_eq!((job.missed, job.deadline, job.origin), (MissedRuns::Once, Job::DEADLINE, JobOrigin::Command));
        let elsewhere = JobDraft { zone: Some("Asia/Kathmandu".to_owned()), ..draft("x", "0 9 * * *", "standup") };
        assert_eq!(elsewhere.into_job(Tz::UTC).expect("a job").timetable.zone(), Tz::Asia__Kathmandu);
    }

    #[test]
    fn what_is_wrong_with_a_draft_is_said_with_what_is_allowed() {
        for name in ["", "9am", "Weekly", "a b", "ümlaut", &"x".repeat(41)] {
            assert!(refused(draft(name, "0 9 * * *", "standup")).contains("is no name for a job; give up to 40"), "{name}");
        }
        for action in ["", "stand up", "post:", "post:  ", &format!("post: {}", "x".repeat(1901))] {
            assert!(refused(draft("x", "0 9 * * *", action)).contains("is no action; give standup"), "{action}");
        }
        assert!(refused(draft("x", "* * * * * *", "standup")).contains("once a minute"));
        assert!(refused(draft("x", "0,30 0 9 * * *", "standup")).contains("once a minute"));
        assert!(draft("x", "30 0 9 * * *", "standup").into_job(Tz::UTC).is_ok());
        assert!(draft("x", "*/10 * * * * *", "settle-predictions").into_job(Tz::UTC).is_ok());
        assert!(refused(JobDraft { channel: Some("#".to_owned()), ..draft("x", "0 9 * * *", "post: hello") }).contains("needs a channel"));
        let lost = JobDraft { zone: Some("Berlin".to_owned()), ..draft("x", "0 9 * * *", "health") };
        assert!(refused(lost).contains("there is no time zone \"Berlin\"; give an IANA name"));
    }

    #[test]
    fn an_action_reads_back_as_it_is_shown() {
        for text in ["standup", "settle-predictions", "health", "post: Good morning: all."] {
            assert_eq!(text.parse::<JobAction>().expect("an action").to_string(), text);
        }
    }

    #[test]
    fn a_job_is_stored_as_it_is() {
        let job = draft("weekly-retro", "0 16 * * 5", "post: Time.").into_job(Tz::America__New_York).expect("a job");
        let text = serde_json::to_string(&job).expect("JSON");
        assert_eq!(serde_json::from_str::<Job>(&text).expect("a job"), job, "{text}");
        assert!(serde_json::from_str::<Job>(&text.replace("0 16 * * 5", "nonsense")).is_err());
    }
}
