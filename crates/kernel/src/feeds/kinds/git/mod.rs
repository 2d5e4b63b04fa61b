//! A repository. `story` says what a colleague would tell of its commits.

mod story;

use std::io;
use std::path::PathBuf;

use async_trait::async_trait;
use chrono::{DateTime, Utc};

use crate::feeds::kinds::Source;
use crate::feeds::kinds::git::story::{Branch, Commit, FileChange};
use crate::feeds::settings::Settings;
use crate::feeds::{FeedError, FeedItem, FeedQuery, FeedSources, FeedSpecError, Reading, Value};
use crate::repository;

/// Separators between commits and between fields. They practically never occur in subjects or names. The subject comes last, so that it
/// stays complete even then.
const RECORD: char = '\x1e';
const FIELD: char = '\x1f';

/// Only the newest commits are read with their files, because git must read every version of every file for it.
const SIZED: usize = 100;

/// The limit for counting commits, which takes git about a second. Beyond it no value is reported.
const MOST_COUNTED: u64 = 100_000;

/// The value that counts commits.
const COMMITS: &str = "commits";

/// The most open branches whose commits are counted.
const BRANCHES: usize = 5;

/// A repository: commits, tags and branches. Reads only metadata and fetches nothing.
struct Git {
    directory: PathBuf,
}

pub(super) fn build(settings: &mut Settings<'_>, sources: &FeedSources) -> Result<Box<dyn Source>, FeedSpecError> {
    let directory = settings.folder("path", &sources.work)?.unwrap_or_else(|| sources.work.clone());
    // Without a dot at the end, which people would see.
    Ok(Box::new(Git { directory: directory.components().collect() }))
}

#[async_trait]
impl Source for Git {
    fn is_local(&self) -> bool {
        true
    }

    async fn read(&self, asked: &FeedQuery) -> Result<Reading, FeedError> {
        let top = match self.git(&["rev-parse", "--show-toplevel"]).await {
            Ok(top) => PathBuf::from(top.trim()),
            Err(GitError::Refused(reason)) if reason.contains("not a git repository") => {
                return Ok(empty(asked, Vec::new(), format!("{} is not a git repository", self.directory.display())));
            }
            Err(error) => return Err(error.into()),
        };
        let repository = top.file_name().unwrap_or(top.as_os_str()).to_string_lossy();
        let most = format!("--max-count={}", MOST_COUNTED + 1);
        let Ok(count) = self.git(&["rev-list", "--count", &most, "HEAD"]).await else {
            return Ok(empty(asked, gauges(Some(0), &[]), format!("the git repository {repository} has no commits yet")));
        };
        let (commits, refs, open) = tokio::try_join!(self.list_commits(asked), self.list_refs(), self.list_open_branches())?;
        let Commits { mut items, total, detailed } = commits;
        let story = story::tell(&detailed, total, &open, asked);
        let moved: Vec<_> = refs.iter().filter(|r| !r.current && (asked.since..=asked.until).contains(&r.at)).map(Ref::item).collect();
        let total = total + moved.len();
        items.extend(moved);
        items.sort_by_key(|item| std::cmp::Reverse(item.at));
        items.truncate(asked.limit);
        let counted = Some(parse_count(&count)?).filter(|count| *count <= MOST_COUNTED);
        let (values, note) = (gauges(counted, &refs), Some(describe_refs(&refs)));
        Ok(Reading { source: format!("git repository {repository}"), as_of: asked.now, values, items, total, note, story })
    }

    /// The number of commits at the end of each day, by the time at which they were written. Commits can be added but not taken back.
    async fn history(&self, value: &str, since: DateTime<Utc>, until: DateTime<Utc>) -> Result<Vec<(DateTime<Utc>, f64)>, FeedError> {
        if value != COMMITS {
            return Ok(Vec::new());
        }
        let newer = format!("--max-age={}", since.timestamp());
        let most = format!("--max-count={}", MOST_COUNTED + 1);
        let (all, written) =
            (["rev-list", "--count", &most, "HEAD"], ["log", "--no-show-signature", "--format=%at", &newer, &most, "HEAD"]);
        let (count, times) = tokio::try_join!(self.git(&all), self.git(&written))?;
        let times: Vec<_> = times.lines().filter_map(|time| DateTime::from_timestamp(time.parse().ok()?, 0)).collect();
        Ok(story::count_by_day(parse_count(&count)?, &times, since, until))
    }

    fn only_rises(&self, value: &str) -> bool {
        value == COMMITS
    }
}

fn empty(asked: &FeedQuery, values: Vec<Value>, note: String) -> Reading {
    Reading { source: "git".into(), as_of: asked.now, values, items: Vec::new(), total: 0, note: Some(note), story: Vec::new() }
}

fn gauges(commits: Option<u64>, refs: &[Ref]) -> Vec<Value> {
    let commits = commits.map(|count| Value::count(COMMITS, count));
    let refs = [("branches", "branch"), ("tags", "tag")].map(|(name, what)| Value::count(name, count_refs(refs, what)));
    commits.into_iter().chain(refs).collect()
}

fn parse_count(count: &str) -> Result<u64, FeedError> {
    count.trim().parse().map_err(|_| FeedError::Failed("git did not return a count".into()))
}

impl Git {
    /// The newest commits of the range.
    async fn list_commits(&self, asked: &FeedQuery) -> Result<Commits, FeedError> {
        let since = format!("--max-age={}", asked.since.timestamp());
        let until = format!("--min-age={}", asked.until.timestamp());
        let (limit, newest) = (format!("--max-count={}", asked.limit), format!("--max-count={SIZED}"));
        let log = ["log", "--no-show-signature", COMMIT_FORMAT, &since, &until, &limit, "HEAD"];
        let fixed = ["log", "--no-show-signature", COMMIT_FORMAT, "--numstat", "--no-renames", "--no-ext-diff", "--no-textconv"];
        let files = [&fixed[..], &[&since, &until, &newest, "HEAD"]].concat();
        let (log, files) = tokio::try_join!(self.git(&log), self.git(&files))?;
        let mut items: Vec<_> = log.split(RECORD).skip(1).filter_map(parse_commit).map(Commit::item).collect();
        let detailed: Vec<_> = files.split(RECORD).skip(1).filter_map(parse_commit).collect();
        for commit in &detailed {
            if let Some(item) = items.iter_mut().find(|item| item.reference == commit.hash) {
                item.values = commit.size();
            }
        }
        if items.len() < asked.limit {
            let total = items.len();
            return Ok(Commits { items, total, detailed });
        }
        let count = self.git(&["rev-list", "--count", &since, &until, "HEAD"]).await?;
        Ok(Commits { items, total: usize::try_from(parse_count(&count)?).unwrap_or(usize::MAX), detailed })
    }

    /// The branches with commits that the current one does not have, the last changed first. Those of remotes count too.
    async fn list_open_branches(&self) -> Result<Vec<Branch>, FeedError> {
        let listing = ["for-each-ref", BRANCH_FORMAT, "--sort=-committerdate", "--no-merged=HEAD", "refs/heads", "refs/remotes"];
        let mut open = parse_branches(&self.git(&listing).await?);
        for branch in open.iter_mut().take(BRANCHES) {
            let count = self.git(&["rev-list", "--count", &format!("HEAD..{}", branch.hash)]).await?;
            branch.commits = Some(parse_count(&count)?);
        }
        Ok(open)
    }

    async fn list_refs(&self) -> Result<Vec<Ref>, FeedError> {
        Ok(parse_refs(&self.git(&["for-each-ref", REF_FORMAT, "refs/heads", "refs/tags"]).await?))
    }

    /// Runs git with fixed arguments, without a shell. The child process is killed if the future is dropped (time-out).
    async fn git(&self, arguments: &[&str]) -> Result<String, GitError> {
        let mut command = repository::command();
        command.arg("-C").arg(&self.directory).arg("--no-pager").args(arguments);
        let output = command.output().await?;
        if output.status.success() {
            Ok(String::from_utf8_lossy(&output.stdout).into_owned())
        } else {
            let reason = String::from_utf8_lossy(&output.stderr);
            Err(GitError::Refused(reason.lines().next().unwrap_or("git failed without a message").to_owned()))
        }
    }
}

#[derive(Debug, thiserror::Error)]
enum GitError {
    #[error("cannot run git ({0}). Is it installed?")]
    NotRun(#[from] io::Error),
    #[error("git said: {0}")]
    Refused(String),
}

impl From<GitError> for FeedError {
    fn from(error: GitError) -> Self {
        Self::Failed(error.to_string())
    }
}

const COMMIT_FORMAT: &str = "--format=%x1e%h%x1f%ct%x1f%an%x1f%s";

/// The commits of a range.
struct Commits {
    items: Vec<FeedItem>,
    /// The number of commits, also of those beyond the limit.
    total: usize,
    /// The newest, with their files.
    detailed: Vec<Commit>,
}

/// The commit on the first line, then one line per file with lines added and removed (`-` for a binary file) if they were asked for.
fn parse_commit(record: &str) -> Option<Commit> {
    let (head, files) = record.split_once('\n').unwrap_or((record, ""));
    let mut fields = head.splitn(4, FIELD);
    let (hash, at, author, subject) = (fields.next()?, fields.next()?, fields.next()?, fields.next()?);
    Some(Commit {
        hash: hash.to_owned(),
        at: DateTime::from_timestamp(at.parse().ok()?, 0),
        author: author.to_owned(),
        subject: subject.to_owned(),
        files: files.lines().filter_map(parse_file).collect(),
    })
}

fn parse_file(line: &str) -> Option<FileChange> {
    let mut columns = line.splitn(3, '\t');
    let (added, removed, path) = (columns.next()?, columns.next()?, columns.next()?);
    let lines = |column: &str| column.parse().unwrap_or(0);
    // Git quotes paths with unusual characters.
    Some(FileChange { path: path.trim_matches('"').to_owned(), added: lines(added), removed: lines(removed) })
}

const BRANCH_FORMAT: &str = "--format=%(refname)%1f%(objectname:short)%1f%(committerdate:unix)%1f%(authorname)";

/// A branch of a remote that has a local branch of the same commit is the same branch.
fn parse_branches(listing: &str) -> Vec<Branch> {
    let mut branches: Vec<Branch> = Vec::new();
    for line in listing.lines() {
        let mut fields = line.splitn(4, FIELD);
        let (Some(full), Some(hash), Some(at), Some(author)) = (fields.next(), fields.next(), fields.next(), fields.next()) else {
            continue;
        };
        let Some(at) = at.parse().ok().and_then(|at| DateTime::from_timestamp(at, 0)) else { continue };
        // refs/heads/fix, refs/remotes/origin/fix
        let name = full.strip_prefix("refs/heads/").or_else(|| full.strip_prefix("refs/remotes/")?.split_once('/').map(|(_, name)| name));
        let Some(name) = name.filter(|name| *name != "HEAD") else { continue };
        if !branches.iter().any(|known| known.name == name) {
            branches.push(Branch { name: name.to_owned(), hash: hash.to_owned(), at, author: author.to_owned(), commits: None });
        }
    }
    branches
}

const REF_FORMAT: &str = "--format=%(refname)%1f%(objectname:short)%1f%(creatordate:unix)%1f%(HEAD)%1f%(subject)";

#[derive(Debug, PartialEq)]
struct Ref {
    what: &'static str,
    name: String,
    hash: String,
    at: DateTime<Utc>,
    /// The checked-out branch. Its commits are listed separately.
    current: bool,
    subject: String,
}

impl Ref {
    fn item(&self) -> FeedItem {
        let text = if self.subject.is_empty() { self.name.clone() } else { format!("{}: {}", self.name, self.subject) };
        FeedItem { at: Some(self.at), what: self.what.into(), by: None, text, reference: self.hash.clone(), values: Vec::new() }
    }
}

fn parse_refs(listing: &str) -> Vec<Ref> {
    listing.lines().filter_map(parse_ref).collect()
}

fn parse_ref(line: &str) -> Option<Ref> {
    let mut fields = line.splitn(5, FIELD);
    let (full, hash, at, head) = (fields.next()?, fields.next()?, fields.next()?, fields.next()?);
    let (what, name) = match full.strip_prefix("refs/tags/") {
        Some(name) => ("tag", name),
        None => ("branch", full.strip_prefix("refs/heads/")?),
    };
    Some(Ref {
        what,
        name: name.to_owned(),
        hash: hash.to_owned(),
        at: DateTime::from_timestamp(at.parse().ok()?, 0)?,
        current: head == "*",
        subject: fields.next().unwrap_or_default().to_owned(),
    })
}

fn describe_refs(refs: &[Ref]) -> String {
    let (branches, tags) = (count_refs(refs, "branch"), count_refs(refs, "tag"));
    let current = refs.iter().find(|r| r.current).map_or("no branch checked out".into(), |r| format!("on branch {}", r.name));
    let plural = |number: u64, one: &str, many: &str| format!("{number} {}", if number == 1 { one } else { many });
    format!("{current}; {}, {}", plural(branches, "branch", "branches"), plural(tags, "tag", "tags"))
}

fn count_refs(refs: &[Ref], what: &str) -> u64 {
    refs.iter().filter(|r| r.what == what).count() as u64
}
