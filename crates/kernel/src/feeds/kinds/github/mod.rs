//! A repository on GitHub: pull requests, reviews that wait, failing checks, issues.

mod client;
mod model;
mod story;

use async_trait::async_trait;
use futures_util::StreamExt as _;
use serde::de::DeserializeOwned;

use crate::feeds::kinds::Source;
use crate::feeds::kinds::github::client::Client;
use crate::feeds::kinds::github::model::{Checked, Checks, Issue, Pull, Repository, Status};
use crate::feeds::settings::Settings;
use crate::feeds::{FeedError, FeedItem, FeedQuery, FeedSources, FeedSpecError, Reading, Value};

/// The most pages of 100 that are read of a list.
const PAGES: usize = 3;

/// The most pull requests whose checks are read, the last changed first.
const CHECKED: usize = 10;
const AT_ONCE: usize = 4;

struct Github {
    client: Client,
    repo: String,
}

pub(super) fn build(settings: &mut Settings<'_>, sources: &FeedSources) -> Result<Box<dyn Source>, FeedSpecError> {
    let repo = settings.required("repo", "a repository such as \"riverqueue/river\"", |repo| parse_repo(repo.as_str()?))?;
    Ok(Box::new(Github { client: Client::new(sources), repo }))
}

/// Accepts `owner/name`. Anything else could change the path of a request.
fn parse_repo(repo: &str) -> Option<String> {
    let is_name = |name: &str| {
        !name.is_empty() && !matches!(name, "." | "..") && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.'))
    };
    let (owner, name) = repo.trim().split_once('/')?;
    (is_name(owner) && is_name(name)).then(|| format!("{owner}/{name}"))
}

#[async_trait]
impl Source for Github {
    async fn read(&self, asked: &FeedQuery) -> Result<Reading, FeedError> {
        let about: Repository = self.get("", asked).await?;
        let changed = format!("/issues?state=all&sort=updated&since={}&per_page=100", asked.since.format("%Y-%m-%dT%H:%M:%SZ"));
        let (pulls, issues) = tokio::try_join!(
            self.list::<Pull>("/pulls?state=open&sort=updated&direction=desc&per_page=100", asked),
            self.list::<Issue>(&changed, asked)
        )?;
        let mut notes = Vec::new();
        let checked = self.check(&about, &pulls.entries, asked, &mut notes).await;
        if pulls.is_cut || issues.is_cut {
            notes.push(format!("only the newest {} pull requests and issues were read", PAGES * 100));
        }
        let mut items: Vec<FeedItem> = issues.entries.iter().filter_map(|issue| issue.item(asked.since, asked.until)).collect();
        items.sort_by_key(|item| std::cmp::Reverse(item.at));
        let total = items.len();
        items.truncate(asked.limit);
        Ok(Reading {
            source: format!("GitHub repository {}", self.repo),
            as_of: asked.now,
            values: gauges(&about, &pulls, &checked),
            story: story::tell(&about, &pulls.entries, &checked, &issues.entries, asked),
            items,
            total,
            note: (!notes.is_empty()).then(|| notes.join("; ")),
        })
    }
}

/// The entries of a list, as far as they were read.
struct Listed<T> {
    entries: Vec<T>,
    is_cut: bool,
}

/// Counts that a cut list would get wrong are left out.
fn gauges(about: &Repository, pulls: &Listed<Pull>, checked: &[Checked]) -> Vec<Value> {
    let mut values = Vec::new();
    if !pulls.is_cut {
        let open = pulls.entries.len() as u64;
        values.push(Value::count("open pull requests", open));
        values.push(Value::count("reviews waiting", pulls.entries.iter().filter(|pull| pull.waits_for_review()).count() as u64));
        // GitHub counts pull requests as issues.
        values.push(Value::count("open issues", about.open_issues_count.saturating_sub(open)));
    }
    let branch = checked.iter().find(|checked| checked.pull.is_none());
    values.extend(branch.map(|branch| Value::count("failing checks", branch.failing.len() as u64)));
    values
}

impl Github {
    async fn get<T: DeserializeOwned>(&self, path: &str, asked: &FeedQuery) -> Result<T, FeedError> {
        let page = self.client.get(&self.repo, path, asked.now).await?;
        page.read()
    }

    /// A list, page by page.
    async fn list<T: DeserializeOwned>(&self, path: &str, asked: &FeedQuery) -> Result<Listed<T>, FeedError> {
        let mut entries: Vec<T> = Vec::new();
        for number in 1..=PAGES {
            let page = self.client.get(&self.repo, &format!("{path}&page={number}"), asked.now).await?;
            entries.extend(page.read::<Vec<T>>()?);
            if !page.has_next {
                return Ok(Listed { entries, is_cut: false });
            }
        }
        Ok(Listed { entries, is_cut: true })
    }

    /// The failing checks of the main branch, then of pull requests that are not drafts. What cannot be read is noted.
    async fn check(&self, about: &Repository, pulls: &[Pull], asked: &FeedQuery, notes: &mut Vec<String>) -> Vec<Checked> {
        let pulls = pulls.iter().filter(|pull| !pull.draft).take(CHECKED).map(|pull| (Some(pull.number), pull.head.sha.clone()));
        let heads: Vec<_> = std::iter::once((None, about.default_branch.clone())).chain(pulls).collect();
        let checks = heads.into_iter().map(|(pull, head)| self.check_one(pull, head, asked));
        let mut checked = Vec::new();
        for result in futures_util::stream::iter(checks).buffered(AT_ONCE).collect::<Vec<_>>().await {
            match result {
                Ok(found) => checked.push(found),
                Err(error) if notes.is_empty() => notes.push(format!("some checks could not be read: {error}")),
                Err(_) => {}
            }
        }
        checked
    }

    /// The checks of a commit. Newer services report check runs, older ones statuses.
    async fn check_one(&self, pull: Option<u64>, head: String, asked: &FeedQuery) -> Result<Checked, FeedError> {
        let head = head.replace('/', "%2F");
        let (runs, status) = (format!("/commits/{head}/check-runs?per_page=100"), format!("/commits/{head}/status"));
        let (checks, status) = tokio::try_join!(self.get::<Checks>(&runs, asked), self.get::<Status>(&status, asked))?;
        Ok(Checked { pull, failing: model::list_failing(checks, status) })
    }
}
