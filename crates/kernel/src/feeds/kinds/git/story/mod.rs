//! What happened in a repository, as a colleague would tell it: who and where, kinds of change, the largest commits, open branches.

use std::collections::BTreeMap;

use chrono::{DateTime, TimeDelta, Utc};

use crate::feeds::{FeedItem, FeedQuery, Value};
use crate::text::join_with_and;

/// The most names of a list. The rest is counted.
const AUTHORS: usize = 3;
const AREAS: usize = 3;
const LARGEST: usize = 2;
const BRANCHES: usize = 3;

/// A branch without commits for longer than this is not named.
const ABANDONED: TimeDelta = TimeDelta::days(30);

pub(super) struct Commit {
    pub(super) hash: String,
    pub(super) at: Option<DateTime<Utc>>,
    pub(super) author: String,
    pub(super) subject: String,
    /// Empty for merges, and if they were not read.
    pub(super) files: Vec<FileChange>,
}

pub(super) struct FileChange {
    pub(super) path: String,
    pub(super) added: u64,
    pub(super) removed: u64,
}

/// A branch that is not merged.
pub(super) struct Branch {
    pub(super) name: String,
    pub(super) hash: String,
    pub(super) at: DateTime<Utc>,
    pub(super) author: String,
    /// How many commits it is ahead. None if they were not counted.
    pub(super) commits: Option<u64>,
}

impl Commit {
    pub(super) fn item(self) -> FeedItem {
        FeedItem { at: self.at, what: "commit".into(), by: Some(self.author), text: self.subject, reference: self.hash, values: Vec::new() }
    }

    #[expect(clippy::cast_precision_loss, reason = "for showing")]
    pub(super) fn size(&self) -> Vec<Value> {
        let (added, removed) = self.lines();
        vec![
            Value::new("files", self.files.len() as f64, "files"),
            Value::new("added", added as f64, "lines"),
            Value::new("removed", removed as f64, "lines"),
        ]
    }

    fn lines(&self) -> (u64, u64) {
        (self.files.iter().map(|file| file.added).sum(), self.files.iter().map(|file| file.removed).sum())
    }

    /// The lines that somebody wrote, without those that a package manager wrote.
    fn weight(&self) -> u64 {
        let written = self.files.iter().filter(|file| Kind::of(&file.path) != Kind::Dependencies);
        written.map(|file| file.added + file.removed).sum()
    }

    /// The kind that all its files have, otherwise code. None without files.
    fn kind(&self) -> Option<Kind> {
        let first = Kind::of(&self.files.first()?.path);
        Some(if self.files.iter().all(|file| Kind::of(&file.path) == first) { first } else { Kind::Code })
    }
}

/// The kind of a file by its path, so that it works for commits in any language.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Code,
    Tests,
    Docs,
    Dependencies,
    Automation,
}

/// Files that package managers write.
#[rustfmt::skip] // One name a line would bury the list.
const DEPENDENCIES: [&str; 16] = [
    "cargo.lock", "cargo.toml", "composer.json", "composer.lock", "gemfile", "gemfile.lock", "go.mod", "go.sum", "package-lock.json", "package.json",
    "pnpm-lock.yaml", "poetry.lock", "pyproject.toml", "requirements.txt", "uv.lock", "yarn.lock",
];

impl Kind {
    fn of(path: &str) -> Self {
        let path = path.to_lowercase();
        let (folders, file) = path.rsplit_once('/').unwrap_or(("", &path));
        let stem = file.split('.').next().unwrap_or(file);
        let mut folders = folders.split('/');
        let ends_with = |ends: &[&str]| ends.iter().any(|end| file.ends_with(end));
        if DEPENDENCIES.contains(&file) {
            Self::Dependencies
        } else if path.starts_with(".github/") || path.starts_with(".circleci/") || file == ".gitlab-ci.yml" || file == "dockerfile" {
            Self::Automation
        } else if folders.any(|folder| matches!(folder, "test" | "tests" | "spec" | "__tests__" | "testdata"))
            || ["_test", "_spec", "-test"].iter().any(|end| stem.ends_with(end))
            || stem.starts_with("test_")
            || ends_with(&[".test.ts", ".test.tsx", ".test.js", ".spec.ts", ".spec.js", "test.java", "tests.cs"])
        {
            Self::Tests
        } else if ends_with(&[".md", ".rst", ".adoc", ".txt"]) || path.starts_with("docs/") {
            Self::Docs
        } else {
            Self::Code
        }
    }

    /// `5 change code`.
    fn count(self, number: usize) -> String {
        let change = if number == 1 { "changes" } else { "change" };
        match self {
            Self::Code => format!("{number} {change} code"),
            Self::Tests => format!("{number} only tests"),
            Self::Docs => format!("{number} only docs"),
            Self::Dependencies => format!("{number} only dependencies"),
            Self::Automation => format!("{number} only CI"),
        }
    }
}

/// Tells what happened. `total`: the number of commits, also of those not given. Empty if nothing happened.
pub(super) fn tell(commits: &[Commit], total: usize, open: &[Branch], asked: &FeedQuery) -> Vec<String> {
    if commits.is_empty() && !open.iter().any(|branch| (asked.since..=asked.until).contains(&branch.at)) {
        return Vec::new();
    }

    let mut story: Vec<String> = tell_who_and_where(commits, total).into_iter().collect();
    story.extend(tell_kinds(commits));
    // One or two commits are described in full.
    let mut largest: Vec<&Commit> = commits.iter().filter(|commit| commit.weight() > 0 || commits.len() <= LARGEST).collect();
    largest.sort_by_key(|commit| std::cmp::Reverse(commit.weight()));
    if largest.is_empty() {
        largest = commits.iter().collect();
    }
    story.extend(largest.into_iter().take(LARGEST).map(tell_commit));
    story.extend(tell_branches(open, asked.now));
    story
}

/// `12 commits by Ann (7), Bob (4) and 2 others, mostly in rivertype (6) and internal/jobexecutor (4).`
fn tell_who_and_where(commits: &[Commit], total: usize) -> Option<String> {
    let authors = rank(commits.iter().map(|commit| commit.author.clone()));
    let [(first, _), ..] = authors.as_slice() else { return None };
    let count = if total == 1 { "1 commit".to_owned() } else { format!("{total} commits") };
    let by = if authors.len() == 1 { first.clone() } else { join(&authors, AUTHORS, "other", "others") };
    let areas = rank(commits.iter().flat_map(list_areas));
    let (lead, place) = match areas.as_slice() {
        [] => ("", String::new()),
        [(only, _)] => (", in ", only.clone()),
        several if total == 1 => {
            let named = several.iter().take(AREAS).map(|(area, _)| area.as_str()).collect::<Vec<_>>().join(", ");
            let others = several.len().saturating_sub(AREAS);
            (", in ", if others > 0 { format!("{named} and {others} more") } else { named })
        }
        several => {
            (", mostly in ", several.iter().take(AREAS).map(|(area, times)| format!("{area} ({times})")).collect::<Vec<_>>().join(", "))
        }
    };
    let newest = if total > commits.len() { format!(" (of the newest {})", commits.len()) } else { String::new() };
    Some(format!("{count} by {by}{lead}{place}{newest}."))
}

/// The folders that a commit touches, at most two deep, each once.
fn list_areas(commit: &Commit) -> Vec<String> {
    let mut areas: Vec<String> = commit.files.iter().map(|file| area_of(&file.path)).collect();
    areas.sort();
    areas.dedup();
    areas
}

fn area_of(path: &str) -> String {
    let Some((folders, _)) = path.rsplit_once('/') else { return "the top folder".to_owned() };
    folders.split('/').take(2).collect::<Vec<_>>().join("/")
}

/// `9 change code, 2 only docs, 1 only dependencies.`
fn tell_kinds(commits: &[Commit]) -> Option<String> {
    let mut kinds: BTreeMap<Kind, usize> = BTreeMap::new();
    for kind in commits.iter().filter_map(Commit::kind) {
        *kinds.entry(kind).or_default() += 1;
    }
    let told: Vec<String> = kinds.iter().map(|(kind, number)| kind.count(*number)).collect();
    // A single commit is described below.
    (kinds.values().sum::<usize>() > 1).then(|| format!("Of them {}.", told.join(", ")))
}

/// `` `abc1234` Add a job completer (Ann, 12 files, +512 −90) ``
fn tell_commit(commit: &Commit) -> String {
    let (added, removed) = commit.lines();
    let size = match commit.files.len() {
        0 => String::new(),
        1 => format!(", 1 file, +{added} −{removed}"),
        files => format!(", {files} files, +{added} −{removed}"),
    };
    format!("`{}` {} ({}{size})", commit.hash, commit.subject, commit.author)
}

/// `Open branches: fix-retry (3 commits by Ann, 2 days old), 2 older ones.`
fn tell_branches(open: &[Branch], now: DateTime<Utc>) -> Option<String> {
    let recent: Vec<&Branch> = open.iter().filter(|branch| now - branch.at < ABANDONED).take(BRANCHES).collect();
    let told = recent.iter().map(|branch| {
        let commits = branch.commits.map_or_else(String::new, |count| format!("{count} commit{} by ", if count == 1 { "" } else { "s" }));
        format!("{} ({commits}{}, {})", branch.name, branch.author, age(now - branch.at))
    });
    let others = open.len() - recent.len();
    let others = match (others, recent.is_empty()) {
        (0, _) => None,
        (others, true) => Some(format!("{others} without commits for a month")),
        (others, false) => Some(format!("{others} more")),
    };
    let told: Vec<String> = told.chain(others).collect();
    (!told.is_empty()).then(|| format!("Not merged: {}.", told.join(", ")))
}

/// `today`, `2 days old`.
fn age(age: TimeDelta) -> String {
    match age.num_days() {
        ..1 => "today".to_owned(),
        1 => "1 day old".to_owned(),
        days => format!("{days} days old"),
    }
}

/// How often each occurs, the most frequent first.
fn rank(names: impl Iterator<Item = String>) -> Vec<(String, usize)> {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for name in names {
        *counts.entry(name).or_default() += 1;
    }
    let mut ranked: Vec<_> = counts.into_iter().collect();
    ranked.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    ranked
}

/// `Ann (7), Bob (4) and 2 others`.
fn join(ranked: &[(String, usize)], most: usize, one: &str, many: &str) -> String {
    let mut told: Vec<String> = ranked.iter().take(most).map(|(name, times)| format!("{name} ({times})")).collect();
    let others = ranked.len().saturating_sub(most);
    if others > 0 {
        told.push(format!("{others} {}", if others == 1 { one } else { many }));
    }
    join_with_and(&told)
}

/// How many commits there were at the end of each day from `since` to `until`, but not before the first one. `times`: when the commits since then
/// were made. `total`: the number of all commits.
pub(super) fn count_by_day(total: u64, times: &[DateTime<Utc>], since: DateTime<Utc>, until: DateTime<Utc>) -> Vec<(DateTime<Utc>, f64)> {
    let later = |than: DateTime<Utc>| times.iter().filter(|at| **at > than).count() as u64;
    let days = (0..=(until - since).num_days()).rev().map(|ago| until - TimeDelta::days(ago));
    let counts = days.map(|day| (day, total.saturating_sub(later(day)))).filter(|(_, count)| *count > 0);
    #[expect(clippy::cast_precision_loss, reason = "nothing here is counted beyond 2^53")]
    counts.map(|(day, count)| (day, count as f64)).collect()
}

#[cfg(test)]
mod tests;
