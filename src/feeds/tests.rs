use std::fs;
use std::path::Path;
use std::process::Command;

use chrono::TimeDelta;
use serde_json::json;

use super::fixture::{Told, feed, now, sources, spec};
use super::{FeedError, FeedQuery, FeedSpecError, Reading, build};

fn last_days(days: i64) -> FeedQuery {
    FeedQuery { now: now(), since: now() - TimeDelta::days(days), until: now(), limit: 100 }
}

async fn read(kind: &str, work: &Path, query: &FeedQuery) -> Result<Reading, FeedError> {
    feed(kind, &sources(work, Told::default())).read(query).await
}

fn refusal(kind: &str, settings: serde_json::Value) -> String {
    let sources = sources(Path::new("/work"), Told::default());
    build(&spec(kind, settings), &sources).err().expect("it is refused").to_string()
}

/// Commits with a date `days_ago`, in the order given.
fn repository(directory: &Path, commits: &[(&str, &str, i64)]) {
    let git = |arguments: &[&str], date: &str| {
        let done = Command::new("git").arg("-C").arg(directory).args(arguments).env("GIT_COMMITTER_DATE", date).output().unwrap();
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    };
    git(&["init", "-q", "-b", "main"], "");
    for (index, (subject, author, days_ago)) in commits.iter().enumerate() {
        let date = (now() - TimeDelta::days(*days_ago)).to_rfc3339();
        fs::write(directory.join("notes.txt"), format!("line {index}\n").repeat(index + 1)).unwrap();
        git(&["add", "notes.txt"], &date);
        let (author, committer) = (format!("--author={author} <a@example.org>"), format!("user.name={author}"));
        git(&["-c", &committer, "-c", "user.email=a@example.org", "commit", "-q", "--date", &date, &author, "-m", subject], &date);
    }
    git(&["tag", "v1"], "");
    git(&["branch", "side"], "");
}

#[test]
fn a_wrong_declaration_says_what_is_allowed() {
    assert_eq!(
        refusal("gti", json!({})),
        "there is no kind of feed called \"gti\"; there are activity, backlog, files, git, http_json, ledger, rss"
    );
    assert_eq!(refusal("files", json!({"folder": "x"})), "feed \"files\" has no setting \"folder\"; it takes timeout_s, max_age_min, path");
    assert_eq!(refusal("git", json!({"timeout_s": 0})), "feed \"git\": timeout_s must be a whole number from 1 to 60");
    assert_eq!(refusal("git", json!({"timeout_s": "ten"})), "feed \"git\": timeout_s must be a whole number from 1 to 60");
    assert_eq!(
        refusal("files", json!({"path": "../secrets"})),
        "feed \"files\": path must be a folder without \"..\", relative to the working directory or absolute"
    );
    assert!(matches!(
        build(&spec("ledger", json!({"path": "x"})), &sources(Path::new("/work"), Told::default())).err(),
        Some(FeedSpecError::UnknownKey { .. })
    ));
}

#[tokio::test]
async fn git_tells_the_commits_tags_and_branches_of_the_range() {
    let work = tempfile::tempdir().unwrap();
    repository(work.path(), &[("Begin", "Ann", 30), ("Mend the queue\u{1f}really", "Bob", 3), ("Speed it up", "Ann", 1)]);
    let reading = read("git", work.path(), &last_days(7)).await.unwrap();
    let told: Vec<_> = reading.items.iter().map(|item| (item.what.as_ref(), item.by.as_deref(), item.text.as_str())).collect();
    assert_eq!(
        told,
        [
            ("commit", Some("Ann"), "Speed it up"),
            ("branch", None, "side: Speed it up"),
            ("tag", None, "v1: Speed it up"),
            ("commit", Some("Bob"), "Mend the queue\u{1f}really"),
        ]
    );
    assert_eq!(reading.total, 4);
    assert_eq!(reading.note.as_deref(), Some("on branch main; 2 branches, 1 tag"));
    let newest = &reading.items[0];
    assert_eq!(newest.at, Some(now() - TimeDelta::days(1)));
    assert_eq!((newest.value("files"), newest.value("added"), newest.value("removed")), (1.0, 3.0, 2.0));
}

#[tokio::test]
async fn commits_beyond_the_limit_are_counted() {
    let work = tempfile::tempdir().unwrap();
    repository(work.path(), &[("One", "Ann", 3), ("Two", "Ann", 2), ("Three", "Ann", 1)]);
    let reading = read("git", work.path(), &FeedQuery { limit: 2, ..last_days(2) }).await.unwrap();
    assert_eq!((reading.items.len(), reading.total), (2, 4));
}

#[tokio::test]
async fn what_is_no_repository_or_has_no_commits_is_said() {
    let work = tempfile::tempdir().unwrap();
    let note = read("git", work.path(), &last_days(7)).await.unwrap().note.unwrap();
    assert!(note.ends_with("is no git repository"), "{note}");
    assert!(Command::new("git").arg("init").arg("-q").arg(work.path()).status().unwrap().success());
    let note = read("git", work.path(), &last_days(7)).await.unwrap().note.unwrap();
    assert!(note.ends_with("has no commits yet"), "{note}");
    let error = read("git", &work.path().join("nowhere"), &last_days(7)).await.unwrap_err();
    assert!(error.to_string().starts_with("git said: fatal: cannot change to"), "{error}");
}

#[tokio::test]
async fn a_folder_gives_its_texts_and_nothing_from_outside_of_it() {
    let work = tempfile::tempdir().unwrap();
    let knowledge = work.path().join("knowledge");
    fs::create_dir_all(knowledge.join("deep")).unwrap();
    fs::write(work.path().join("secret.txt"), "outside").unwrap();
    fs::write(knowledge.join(".env"), "TOKEN=x").unwrap();
    fs::write(knowledge.join("a.md"), "one\ntwo\n").unwrap();
    fs::write(knowledge.join("deep/b.txt"), "three").unwrap();
    fs::write(knowledge.join("picture.png"), [0x89, b'P', 0, 1]).unwrap();
    fs::write(knowledge.join("huge.txt"), vec![b'x'; 1024 * 1024 + 1]).unwrap();
    std::os::unix::fs::symlink(work.path().join("secret.txt"), knowledge.join("link.txt")).unwrap();
    std::os::unix::fs::symlink(work.path(), knowledge.join("up")).unwrap();

    let files = feed("files", &sources(work.path(), Told::default()));
    let documents = files.documents(now()).await.unwrap();
    let names: Vec<_> = documents.iter().map(|document| document.name.as_str()).collect();
    assert_eq!(names, ["a.md", "deep/b.txt"]);

    let changed = documents[0].changed_at.unwrap();
    let query = FeedQuery { now: changed, since: changed - TimeDelta::minutes(1), until: changed + TimeDelta::minutes(1), limit: 10 };
    let reading = files.read(&query).await.unwrap();
    let texts: Vec<_> = reading.items.iter().map(|item| item.text.as_str()).collect();
    assert!(texts.contains(&"a.md (2 lines)"), "{texts:?}");
    assert_eq!(reading.note.as_deref(), Some("2 files left out: too large, too many, or no text"));
}

#[tokio::test]
async fn a_folder_that_is_not_there_is_said() {
    let work = tempfile::tempdir().unwrap();
    let reading = read("files", work.path(), &last_days(7)).await.unwrap();
    assert_eq!(reading.note.as_deref(), Some("there is no folder knowledge yet"));
}

#[tokio::test]
async fn the_teams_own_sources_fail_with_their_reason() {
    let sources = sources(Path::new("/work"), Told { broken: true, ..Told::default() });
    let error = feed("ledger", &sources).read(&last_days(7)).await.unwrap_err();
    assert_eq!(error.to_string(), "the ledger could not be read: the database is locked");
    let error = feed("activity", &sources).read(&last_days(7)).await.unwrap_err();
    assert_eq!(error.to_string(), "the team's activity could not be read: the database is locked");
}
