//! The parts of GitHub's answers that are used. <https://docs.github.com/en/rest>

use chrono::{DateTime, Utc};
use serde::Deserialize;

use crate::feeds::FeedItem;

#[derive(Debug, Deserialize)]
pub(super) struct Repository {
    pub(super) default_branch: String,
    /// Pull requests are counted too.
    pub(super) open_issues_count: u64,
}

#[derive(Debug, Deserialize)]
pub(super) struct Pull {
    pub(super) number: u64,
    pub(super) title: String,
    pub(super) user: Option<User>,
    pub(super) created_at: DateTime<Utc>,
    #[serde(default)]
    pub(super) draft: bool,
    #[serde(default)]
    pub(super) requested_reviewers: Vec<User>,
    #[serde(default)]
    pub(super) requested_teams: Vec<Team>,
    pub(super) head: Head,
}

#[derive(Debug, Deserialize)]
pub(super) struct Head {
    pub(super) sha: String,
}

/// None for an account that was deleted.
#[derive(Debug, Deserialize)]
pub(super) struct User {
    pub(super) login: String,
}

#[derive(Debug, Deserialize)]
pub(super) struct Team {
    pub(super) name: String,
}

/// An issue, or a pull request in the list of issues.
#[derive(Debug, Deserialize)]
pub(super) struct Issue {
    pub(super) number: u64,
    pub(super) title: String,
    pub(super) user: Option<User>,
    pub(super) html_url: String,
    pub(super) created_at: DateTime<Utc>,
    pub(super) closed_at: Option<DateTime<Utc>>,
    pub(super) pull_request: Option<PullMark>,
}

#[derive(Debug, Deserialize)]
pub(super) struct PullMark {
    pub(super) merged_at: Option<DateTime<Utc>>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Checks {
    pub(super) check_runs: Vec<CheckRun>,
}

#[derive(Debug, Deserialize)]
pub(super) struct CheckRun {
    name: String,
    /// None until it is completed.
    conclusion: Option<String>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Status {
    #[serde(default)]
    statuses: Vec<OneStatus>,
}

#[derive(Debug, Deserialize)]
struct OneStatus {
    context: String,
    state: String,
}

/// The failing checks of the main branch or of a pull request.
#[derive(Debug)]
pub(super) struct Checked {
    pub(super) pull: Option<u64>,
    pub(super) failing: Vec<String>,
}

/// The names of failing checks, each once. Skipped and cancelled ones did not fail.
pub(super) fn list_failing(checks: Checks, status: Status) -> Vec<String> {
    let has_failed = |run: &CheckRun| matches!(run.conclusion.as_deref(), Some("failure" | "timed_out" | "startup_failure"));
    let runs = checks.check_runs.into_iter().filter(has_failed).map(|run| run.name);
    let statuses = status.statuses.into_iter().filter(|one| matches!(one.state.as_str(), "failure" | "error")).map(|one| one.context);
    let mut failing: Vec<String> = runs.chain(statuses).collect();
    failing.sort();
    failing.dedup();
    failing
}

impl Pull {
    pub(super) fn waits_for_review(&self) -> bool {
        !self.draft && self.reviewers().next().is_some()
    }

    /// Who is asked for a review.
    pub(super) fn reviewers(&self) -> impl Iterator<Item = &str> {
        let people = self.requested_reviewers.iter().map(|user| user.login.as_str());
        people.chain(self.requested_teams.iter().map(|team| team.name.as_str()))
    }
}

/// What happened to an issue or a pull request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Event {
    Opened,
    Merged,
    Closed,
}

impl Issue {
    /// What happened last in the range, and when. None if it was only edited or commented.
    pub(super) fn event(&self, since: DateTime<Utc>, until: DateTime<Utc>) -> Option<(Event, DateTime<Utc>)> {
        let merged = self.pull_request.as_ref().and_then(|pull| pull.merged_at).map(|at| (Event::Merged, at));
        let closed = self.closed_at.map(|at| (Event::Closed, at));
        let events = [merged, closed, Some((Event::Opened, self.created_at))];
        events.into_iter().flatten().find(|(_, at)| (since..=until).contains(at))
    }

    pub(super) fn item(&self, since: DateTime<Utc>, until: DateTime<Utc>) -> Option<FeedItem> {
        let (event, at) = self.event(since, until)?;
        let event = match event {
            Event::Opened => "opened",
            Event::Merged => "merged",
            Event::Closed => "closed",
        };
        Some(FeedItem {
            at: Some(at),
            what: if self.pull_request.is_some() { "pull request".into() } else { "issue".into() },
            by: self.user.as_ref().map(|user| user.login.clone()),
            text: format!("{event} #{}: {}", self.number, self.title),
            reference: self.html_url.clone(),
            values: Vec::new(),
        })
    }
}
