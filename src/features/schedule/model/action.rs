use std::fmt;
use std::time::Duration;

use chrono_tz::Tz;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::features::schedule::model::{InvalidJob, Job, JobName, JobOrigin, MissedRuns, Timetable};

/// The action of a job: the name of an [`ActionKind`], and for a post its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobAction {
    name: String,
    text: Option<String>,
}

/// An action that jobs can have, as configuration, help and completion need it. Each feature registers its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ActionKind {
    /// The name that people write in a job: `standup`.
    pub name: &'static str,
    /// The name within a sentence: `a standup`.
    pub noun: &'static str,
    pub needs_channel: bool,
    /// Whether a job may run it more often than once a minute.
    pub may_be_below_a_minute: bool,
    /// The job with this action that every team has. It has the name of the action.
    pub built_in: Option<BuiltIn>,
}

/// The timetable of a job that every team has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BuiltIn {
    pub cron: &'static str,
    pub channel: Option<&'static str>,
    pub deadline: Duration,
}

/// All actions that jobs can have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Actions(Vec<ActionKind>);

/// Maximum length of a post: one message, with room for the characters that formatting adds.
const LONGEST_POST: usize = 1900;
const POST: &str = "post";

/// The only action of the schedule itself: the coordinator posts a text.
const POST_KIND: ActionKind = ActionKind { name: POST, noun: "a post", needs_channel: true, may_be_below_a_minute: true, built_in: None };

impl JobAction {
    /// An action without a text.
    pub fn named(name: &str) -> Self {
        Self { name: name.to_owned(), text: None }
    }

    pub fn post(text: impl Into<String>) -> Self {
        Self { name: POST.to_owned(), text: Some(text.into()) }
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    /// The text of a post.
    pub fn text(&self) -> Option<&str> {
        self.text.as_deref()
    }

    /// Accepts any name, because an earlier version may have had other actions. Rows of the first version write names with underscores.
    fn read(written: &str) -> Self {
        match written.split_once(':') {
            Some((POST, text)) => Self::post(text.trim()),
            _ => Self { name: written.trim().replace('_', "-"), text: None },
        }
    }
}

impl fmt::Display for JobAction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.text {
            Some(text) => write!(f, "{}: {text}", self.name),
            None => f.write_str(&self.name),
        }
    }
}

impl Serialize for JobAction {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for JobAction {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        /// The second is the format of a post in the first version.
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Written {
            Line(String),
            Post { post: Text },
        }
        #[derive(Deserialize)]
        struct Text {
            text: String,
        }
        Ok(match Written::deserialize(deserializer)? {
            Written::Line(line) => Self::read(&line),
            Written::Post { post } => Self::post(post.text),
        })
    }
}

impl Default for Actions {
    /// Posts only.
    fn default() -> Self {
        Self::of([])
    }
}

impl Actions {
    /// The actions of features, plus posts.
    pub fn of(kinds: impl IntoIterator<Item = ActionKind>) -> Self {
        Self(kinds.into_iter().chain([POST_KIND]).collect())
    }

    /// The allowed values, for error messages and help.
    pub fn describe(&self) -> String {
        let names = self.0.iter().filter(|kind| kind.name != POST).map(|kind| format!("\"{}\", ", kind.name));
        let (names, or) = (names.collect::<String>(), if self.0.len() > 1 { "or " } else { "" });
        format!("{names}{or}\"{POST}: \" and a text of up to {LONGEST_POST} characters")
    }

    /// The values for completion.
    pub fn list_names(&self) -> Vec<String> {
        self.0.iter().map(|kind| if kind.name == POST { format!("{POST}: ") } else { kind.name.to_owned() }).collect()
    }

    /// # Errors
    /// No action has this name. The error lists the existing ones.
    pub fn parse(&self, written: &str) -> Result<JobAction, InvalidJob> {
        let written = written.trim();
        let action = match written.split_once(':') {
            Some((POST, text)) => {
                let text = text.trim();
                (!text.is_empty() && text.chars().count() <= LONGEST_POST).then(|| JobAction::post(text))
            }
            _ => self.0.iter().find(|kind| kind.name == written && kind.name != POST).map(|kind| JobAction::named(kind.name)),
        };
        action.ok_or_else(|| InvalidJob::Action { given: written.chars().take(60).collect(), allowed: self.describe() })
    }

    /// Whether name, timetable, action and channel fit together.
    ///
    /// # Errors
    /// The first rule that is violated.
    pub fn check(&self, job: &Job) -> Result<(), InvalidJob> {
        let Some(kind) = self.find(&job.action) else { return Ok(()) };
        if !kind.may_be_below_a_minute && job.timetable.is_below_a_minute() {
            return Err(InvalidJob::TooOften(kind.noun));
        }
        if kind.needs_channel && job.channel.is_none() {
            return Err(InvalidJob::NoChannel(kind.noun));
        }
        Ok(())
    }

    /// The jobs that every team has, in its zone.
    pub fn built_in(&self, zone: Tz) -> Vec<Job> {
        let job = |kind: &ActionKind, job: &BuiltIn| Job {
            name: JobName(kind.name.to_owned()),
            timetable: Timetable::parse(job.cron, zone).expect("the built-in timetables are valid"),
            action: JobAction::named(kind.name),
            channel: job.channel.map(str::to_owned),
            missed: MissedRuns::Once,
            deadline: job.deadline,
            enabled: true,
            origin: JobOrigin::BuiltIn,
        };
        self.0.iter().filter_map(|kind| Some(job(kind, kind.built_in.as_ref()?))).collect()
    }

    /// The kind of a job's action. None if this version has no such feature.
    pub fn find(&self, action: &JobAction) -> Option<&ActionKind> {
        self.0.iter().find(|kind| kind.name == action.name)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// The actions of a team that reports each morning in a channel, and cleans up every five minutes.
    pub(crate) fn actions() -> Actions {
        let kind = |name, noun, channel: Option<&'static str>, cron| ActionKind {
            name,
            noun,
            needs_channel: channel.is_some(),
            may_be_below_a_minute: channel.is_none(),
            built_in: Some(BuiltIn { cron, channel, deadline: Job::DEADLINE }),
        };
        Actions::of([kind("report", "a report", Some("daily"), "0 9 * * 1-5"), kind("tidy-up", "a tidy-up", None, "*/5 * * * *")])
    }

    /// The morning report.
    pub(crate) fn report(zone: Tz) -> Job {
        actions().built_in(zone).swap_remove(0)
    }

    #[test]
    fn an_action_reads_back_as_it_is_shown() {
        for text in ["report", "tidy-up", "post: Good morning: all."] {
            assert_eq!(actions().parse(text).expect("an action").to_string(), text);
        }
    }

    #[test]
    fn only_actions_that_are_registered_are_taken() {
        let error = Actions::default().parse("report").expect_err("posts alone").to_string();
        assert_eq!(error, "\"report\" is no action; give \"post: \" and a text of up to 1900 characters");
        let error = actions().parse("dance").expect_err("no action").to_string();
        assert!(error.ends_with("give \"report\", \"tidy-up\", or \"post: \" and a text of up to 1900 characters"), "{error}");
    }

    #[test]
    fn an_action_is_stored_by_its_name_and_rows_of_the_first_version_are_read() {
        let stored = |action: &JobAction| serde_json::to_string(action).expect("JSON");
        let read = |text: &str| serde_json::from_str::<JobAction>(text).expect("an action");
        for action in [JobAction::named("tidy-up"), JobAction::post("Time: now")] {
            assert_eq!(read(&stored(&action)), action);
        }
        assert_eq!(read(r#""tidy_up""#), JobAction::named("tidy-up"));
        assert_eq!(read(r#"{"post":{"text":"Time."}}"#), JobAction::post("Time."));
    }
}
