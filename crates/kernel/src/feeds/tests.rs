use std::fs;
use std::path::Path;
use std::process::Command;

use chrono::TimeDelta;
use serde_json::json;

use crate::feeds::{ActivityLine, Backlog, FeedBuilder, FeedError, FeedQuery, FeedSpecError, Reading, WorkLine, build};
use crate::money::{CostLine, Money, TokenUsage};
use crate::persona::FeedSpec;
use crate::testing::feeds::{Told, feed, now, sources, spec};

fn last_days(days: i64) -> FeedQuery {
    FeedQuery { now: now(), since: now() - TimeDelta::days(days), until: now(), limit: 100 }
}

async fn read(kind: &str, work: &Path, query: &FeedQuery) -> Result<Reading, FeedError> {
    feed(kind, &sources(work, Told::default())).read(query).await
}

fn values(reading: &Reading) -> Vec<String> {
    reading.values.iter().map(ToString::to_string).collect()
}

fn refusal(kind: &str, settings: serde_json::Value) -> String {
    let sources = sources(Path::new("/work"), Told::default());
    build(&spec(kind, settings), &sources).err().expect("it is refused").to_string()
}

/// A repository with commits dated `days_ago`, in the given order.
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
        "there is no feed kind \"gti\". Available: activity, backlog, files, git, github, http_json, ledger, rss, search"
    );
    assert_eq!(
        refusal("files", json!({"folder": "x"})),
        "feed \"files\" has no setting \"folder\". Available: timeout_s, max_age_min, expect, path"
    );
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
    assert_eq!(values(&reading), ["commits 3", "branches 2", "tags 1"], "the gauges are of all time and not of the range");
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
async fn only_the_newest_commits_are_told_with_their_size() {
    let work = tempfile::tempdir().unwrap();
    let commits: Vec<_> = (0..102).map(|number| ("Go on", "Ann", 110 - number)).collect();
    repository(work.path(), &commits);
    let reading = read("git", work.path(), &FeedQuery { limit: 200, ..last_days(120) }).await.unwrap();
    let sizes: Vec<_> = reading.items.iter().filter(|item| item.what == "commit").map(|item| item.value("files")).collect();
    assert_eq!(sizes, [vec![1.0; 100], vec![0.0; 2]].concat());
}

#[tokio::test]
async fn what_is_no_repository_or_has_no_commits_is_said() {
    let work = tempfile::tempdir().unwrap();
    let note = read("git", work.path(), &last_days(7)).await.unwrap().note.unwrap();
    assert!(note.ends_with("is not a git repository"), "{note}");
    assert!(Command::new("git").arg("init").arg("-q").arg(work.path()).status().unwrap().success());
    let empty = read("git", work.path(), &last_days(7)).await.unwrap();
    assert_eq!(values(&empty), ["commits 0", "branches 0", "tags 0"]);
    let note = empty.note.unwrap();
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
    assert_eq!(reading.note.as_deref(), Some("2 files are not searched (too large, too many, or no text): huge.txt, picture.png"));
    assert_eq!(values(&reading), ["files 2"]);
}

#[tokio::test]
async fn every_file_of_a_folder_can_be_opened_also_one_that_is_not_searched() {
    let work = tempfile::tempdir().unwrap();
    let knowledge = work.path().join("knowledge");
    fs::create_dir_all(&knowledge).unwrap();
    fs::write(work.path().join("secret.txt"), "outside").unwrap();
    fs::write(knowledge.join("picture.png"), [0x89, b'P', 0, 1]).unwrap();
    fs::write(knowledge.join("huge.txt"), "line\n".repeat(300_000)).unwrap();
    std::os::unix::fs::symlink(work.path().join("secret.txt"), knowledge.join("link.txt")).unwrap();

    let files = feed("files", &sources(work.path(), Told::default()));
    assert!(files.documents(now()).await.unwrap().is_empty(), "it is too large to be searched");
    assert_eq!(files.list_documents().await.unwrap(), ["huge.txt", "picture.png"]);
    assert_eq!(files.open_document("huge.txt").await.unwrap().lines().count(), 300_000);
    let refused = async |name: &str| files.open_document(name).await.unwrap_err().to_string();
    assert_eq!(refused("picture.png").await, "picture.png is not a text file, or it is too large");
    for name in ["link.txt", "../secret.txt", "nowhere.md"] {
        assert_eq!(refused(name).await, format!("there is no file {name} in the folder knowledge"));
    }
}

#[tokio::test]
async fn a_folder_that_is_not_there_is_said() {
    let work = tempfile::tempdir().unwrap();
    let reading = read("files", work.path(), &last_days(7)).await.unwrap();
    assert_eq!(reading.note.as_deref(), Some("there is no folder knowledge yet"));
}

#[tokio::test]
async fn the_ledgers_gauges_are_of_today_and_its_items_of_the_range() {
    let line = |dollars, input| CostLine {
        key: String::new(),
        estimated: 0,
        calls: 1,
        usage: TokenUsage { input, cached: 0, output: 10 },
        cost: Money::from_dollars(dollars),
    };
    let yesterday = now() - TimeDelta::days(1);
    let costs = vec![
        (now() - TimeDelta::hours(1), "vince", "small", line(0.25, 100)),
        (now() - TimeDelta::hours(2), "kelly", "small", line(0.5, 200)),
        (yesterday, "vince", "large", line(2.0, 900)),
    ];
    let ledger = feed("ledger", &sources(Path::new("/work"), Told { costs, ..Told::default() }));
    let reading = ledger.read(&last_days(7)).await.unwrap();
    assert_eq!(values(&reading), ["cost today $0.75", "tokens today 320"]);
    let days: Vec<_> = reading.items.iter().filter(|item| item.what == "day").map(|item| item.text.as_str()).collect();
    assert_eq!(days, ["2026-11-21", "2026-11-20"]);
}

#[tokio::test]
async fn the_activitys_gauges_are_sums_of_messages_and_answers() {
    let line = |what: &str, whose: &str, count| ActivityLine { what: what.into(), whose: whose.into(), count, last_at: Some(now()) };
    let activity = vec![
        line("messages", "#general", 5),
        line("answers", "Vince", 2),
        line("messages", "#ops", 1),
        line("answers", "Kelly", 1),
        line("turns failed", "Kelly", 9),
    ];
    let feed = feed("activity", &sources(Path::new("/work"), Told { activity, ..Told::default() }));
    let reading = feed.read(&last_days(7)).await.unwrap();
    assert_eq!(values(&reading), ["messages today 6", "answers today 3"]);
    assert_eq!(reading.total, 5);
}

#[tokio::test]
async fn the_backlog_is_counted_by_status_and_tells_what_changed() {
    let changed = WorkLine {
        reference: "W-12".into(),
        text: "Mend the queue".into(),
        owner: Some("Vince".into()),
        status: "in_progress".into(),
        waits: None,
        at: now(),
    };
    let stuck = WorkLine {
        text: "Renew the certificate".into(),
        status: "waiting".into(),
        waits: Some("for an answer from Ann".into()),
        at: now() - TimeDelta::days(3),
        ..changed.clone()
    };
    let blocked = WorkLine { text: "Roll it out".into(), owner: None, status: "blocked".into(), ..changed.clone() };
    let next = vec![WorkLine { text: "Speed it up".into(), status: "ready".into(), ..changed.clone() }];
    let open = vec![("in_progress".into(), 2), ("ready".into(), 3)];
    let changed = vec![changed.clone(), changed];
    let backlog = Backlog { open, done_today: 4, changed, next, stuck: vec![stuck, blocked], total: 7 };
    let feed = feed("backlog", &sources(Path::new("/work"), Told { backlog, ..Told::default() }));
    let reading = feed.read(&FeedQuery { limit: 1, ..last_days(1) }).await.unwrap();
    assert_eq!(values(&reading), ["open 5", "ready 3", "blocked 0", "in progress 2", "done today 4"]);
    assert_eq!((reading.items.len(), reading.total), (1, 7));
    let story = [
        "Stuck: \"Renew the certificate\" (Vince) waits for an answer from Ann, for 3 days.",
        "Waiting: \"Roll it out\" blocked, since today.",
        "Next: \"Speed it up\" (Vince).",
    ];
    assert_eq!(reading.story, story);
    let item = &reading.items[0];
    let told = (item.what.as_ref(), item.reference.as_str(), item.by.as_deref(), item.text.as_str());
    assert_eq!(told, ("work item", "W-12", Some("Vince"), "in progress: Mend the queue"));
}

#[test]
fn personas_that_declare_the_same_get_one_feed() {
    let mut builder = FeedBuilder::new(sources(Path::new("/work"), Told::default()));
    let mut build = |name: &str, settings| builder.build(&FeedSpec { name: name.into(), ..spec("git", settings) }).unwrap();
    let river = build("code", json!({"path": "river"}));
    assert!(river.is(&build("code", json!({"path": "river"}))));
    let renamed = build("repository", json!({"path": "river"}));
    assert!(!river.is(&renamed) && river.key() == renamed.key(), "another name is another feed with the same samples");
    assert_ne!(river.key(), build("code", json!({"path": "lake"})).key());
}

#[tokio::test]
async fn the_teams_own_sources_fail_with_their_reason() {
    let sources = sources(Path::new("/work"), Told { broken: true, ..Told::default() });
    let error = feed("ledger", &sources).read(&last_days(7)).await.unwrap_err();
    assert_eq!(error.to_string(), "cannot read the ledger: the database is locked");
    let error = feed("activity", &sources).read(&last_days(7)).await.unwrap_err();
    assert_eq!(error.to_string(), "cannot read the team's activity: the database is locked");
    let error = feed("backlog", &sources).read(&last_days(7)).await.unwrap_err();
    assert_eq!(error.to_string(), "cannot read the backlog: the database is locked");
}
