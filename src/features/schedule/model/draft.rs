use std::time::Duration;

use chrono_tz::Tz;

use crate::features::schedule::model::{Actions, InvalidTimetable, Job, JobOrigin, MissedRuns, Timetable};

/// A job as a person wrote it.
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

/// Why a draft is invalid. Shown to its author.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidJob {
    #[error("{0:?} is no name for a job; give up to 40 lower-case letters, digits and hyphens, beginning with a letter")]
    Name(String),
    #[error(transparent)]
    Timetable(#[from] InvalidTimetable),
    #[error("{given:?} is no action; give {allowed}")]
    Action { given: String, allowed: String },
    #[error("{0} cannot come more often than once a minute; leave the seconds out, or give one second")]
    TooOften(&'static str),
    #[error("{0} needs a channel; name one")]
    NoChannel(&'static str),
}

impl JobDraft {
    /// Makes a job of the draft, in `zone` unless the draft names one.
    ///
    /// # Errors
    /// The problem and the allowed values.
    pub fn into_job(self, zone: Tz, actions: &Actions) -> Result<Job, InvalidJob> {
        let zone = self.zone.as_deref().map_or(Ok(zone), Timetable::parse_zone)?;
        let job = Job {
            name: self.name.parse()?,
            timetable: Timetable::parse(&self.cron, zone)?,
            action: actions.parse(&self.action)?,
            channel: self.channel.map(|channel| channel.trim_start_matches('#').to_owned()).filter(|channel| !channel.is_empty()),
            missed: self.missed.unwrap_or(MissedRuns::Once),
            deadline: self.deadline.unwrap_or(Job::DEADLINE),
            enabled: true,
            origin: JobOrigin::Command,
        };
        actions.check(&job)?;
        Ok(job)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::features::schedule::model::JobAction;
    use crate::features::schedule::model::tests::actions;

    fn draft(name: &str, cron: &str, action: &str) -> JobDraft {
        let (name, cron, action) = (name.to_owned(), cron.to_owned(), action.to_owned());
        JobDraft { name, cron, zone: None, action, channel: Some("#general".to_owned()), missed: None, deadline: None }
    }

    fn refused(draft: JobDraft) -> String {
        draft.into_job(Tz::UTC, &actions()).expect_err("a refusal").to_string()
    }

    #[test]
    fn a_draft_becomes_a_job_in_the_zone_of_the_team_or_its_own() {
        let job = draft("weekly-retro", "0 16 * * 5", "post: Time for the retro.").into_job(Tz::Europe__Berlin, &actions()).expect("a job");
        assert_eq!((job.timetable.zone(), job.channel.as_deref()), (Tz::Europe__Berlin, Some("general")));
        assert_eq!(job.action, JobAction::post("Time for the retro."));
        assert_eq!((job.missed, job.deadline, job.origin), (MissedRuns::Once, Job::DEADLINE, JobOrigin::Command));
        let elsewhere = JobDraft { zone: Some("Asia/Kathmandu".to_owned()), ..draft("x", "0 9 * * *", "report") };
        assert_eq!(elsewhere.into_job(Tz::UTC, &actions()).expect("a job").timetable.zone(), Tz::Asia__Kathmandu);
    }

    #[test]
    fn what_is_wrong_with_a_draft_is_said_with_what_is_allowed() {
        for name in ["", "9am", "Weekly", "a b", "ümlaut", &"x".repeat(41)] {
            assert!(refused(draft(name, "0 9 * * *", "report")).contains("is no name for a job; give up to 40"), "{name}");
        }
        for action in
            ["", "re port", "Report", "tidy_up", "report: now", "post", "post:", "post:  ", &format!("post: {}", "x".repeat(1901))]
        {
            assert!(refused(draft("x", "0 9 * * *", action)).contains("is no action; give \"report\""), "{action}");
        }
        assert!(refused(draft("x", "* * * * * *", "report")).contains("once a minute"));
        assert!(refused(draft("x", "0,30 0 9 * * *", "report")).contains("once a minute"));
        assert!(draft("x", "30 0 9 * * *", "report").into_job(Tz::UTC, &actions()).is_ok());
        assert!(draft("x", "*/10 * * * * *", "tidy-up").into_job(Tz::UTC, &actions()).is_ok());
        assert!(refused(JobDraft { channel: Some("#".to_owned()), ..draft("x", "0 9 * * *", "post: hello") }).contains("needs a channel"));
        let lost = JobDraft { zone: Some("Berlin".to_owned()), ..draft("x", "0 9 * * *", "tidy-up") };
        assert!(refused(lost).contains("there is no time zone \"Berlin\"; give an IANA name"));
    }
}
