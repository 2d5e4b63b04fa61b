use std::time::Duration;

use chrono_tz::Tz;

use super::{InvalidTimetable, Job, JobOrigin, MissedRuns, Timetable};

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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::schedule::JobAction;

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
}
