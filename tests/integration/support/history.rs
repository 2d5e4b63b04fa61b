//! A git repository with a real project's history.

use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use chrono::{DateTime, FixedOffset, TimeDelta, Utc};
use serde::Deserialize;

/// A commit of the history. [`make_repository`] returns them oldest first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Commit {
    pub(crate) at: DateTime<FixedOffset>,
    pub(crate) author: String,
    pub(crate) subject: String,
}

#[derive(Deserialize)]
struct Recorded {
    at: DateTime<FixedOffset>,
    author: String,
    subject: String,
    /// Path, lines added, lines removed.
    files: Vec<(String, u32, u32)>,
}

/// The folder of shared test data: `TEAMROOM_TEST_DATA`, or `../shared/data` beside the checkout.
fn data() -> PathBuf {
    std::env::var_os("TEAMROOM_TEST_DATA").map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/data"), PathBuf::from)
}

/// A document of the shared test data. None, with a reported skip, if it is missing.
pub(crate) fn find_document(name: &str) -> Option<String> {
    let path = data().join("../seeds").join(name);
    fs::read_to_string(&path).map_err(|error| super::skip::missing("data", &format!("{}: {error}", path.display()))).ok()
}

/// Creates a repository with the newest `limit` commits of the recorded history. Times are shifted so that the last commit was an hour
/// before `now`. Each commit adds a line to its files, because contents were not recorded.
///
/// None, with a reported skip, if the record is missing.
pub(crate) fn make_repository(directory: &Path, limit: usize, now: DateTime<Utc>) -> Option<Vec<Commit>> {
    let path = data().join("git-log.jsonl");
    let Ok(log) = fs::read_to_string(&path) else {
        super::skip::missing("data", &format!("there is no {}", path.display()));
        return None;
    };
    let recorded: Vec<Recorded> = log.lines().map(|line| serde_json::from_str(line).expect("a line of the record")).collect();
    let newest = recorded.last().expect("the record is not empty").at;
    let shift = now - TimeDelta::hours(1) - newest.to_utc();
    let recorded = &recorded[recorded.len().saturating_sub(limit)..];
    let stream: String = recorded.iter().enumerate().map(|(index, commit)| import(commit, index, shift)).collect();

    run(directory, &["init", "--quiet", "--initial-branch=main"], "");
    run(directory, &["fast-import", "--quiet"], &stream);
    run(directory, &["reset", "--quiet", "--hard", "main"], "");
    let moved = |commit: &Recorded| Commit { at: commit.at + shift, author: commit.author.clone(), subject: commit.subject.clone() };
    Some(recorded.iter().map(moved).collect())
}

/// A commit in the format of `git fast-import`.
fn import(commit: &Recorded, index: usize, shift: TimeDelta) -> String {
    let at = commit.at + shift;
    let who = format!("{0} <{0}@example.org> {1} {2}", commit.author, at.timestamp(), at.format("%z"));
    let subject = &commit.subject;
    let mut text = format!("commit refs/heads/main\nauthor {who}\ncommitter {who}\ndata {}\n{subject}\n", subject.len());
    for (path, ..) in &commit.files {
        let content = format!("{index}\n");
        write!(text, "M 100644 inline {path}\ndata {}\n{content}\n", content.len()).expect("strings take all");
    }
    text
}

/// Adds an empty commit.
pub(crate) fn add_commit(directory: &Path, subject: &str, at: DateTime<Utc>) {
    let who = format!("Ann <ann@example.org> {} +0000", at.timestamp());
    let stream =
        format!("commit refs/heads/main\nauthor {who}\ncommitter {who}\ndata {}\n{subject}\nfrom refs/heads/main^0\n\n", subject.len());
    run(directory, &["fast-import", "--quiet"], &stream);
}

fn run(directory: &Path, arguments: &[&str], input: &str) {
    let mut command = Command::new("git");
    command.arg("-C").arg(directory).args(arguments).env("GIT_CONFIG_GLOBAL", "/dev/null").env_remove("GIT_DIR");
    let mut child = command.stdin(Stdio::piped()).spawn().expect("git runs");
    child.stdin.take().expect("piped").write_all(input.as_bytes()).expect("git reads");
    assert!(child.wait().expect("git ends").success(), "git {arguments:?}");
}
