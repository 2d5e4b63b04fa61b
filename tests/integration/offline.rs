//! The offline composer on real data: a project's history and a long decision log.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use chrono::{DateTime, TimeDelta, TimeZone as _, Utc};
use kernel::agent::SpeechAct;
use kernel::agent::files::{File, Files};
use kernel::agent::offline::{OfflineAnswer, OfflineQuestion, compose};
use kernel::feeds;
use kernel::feeds::Feed;
use kernel::persona::roster::Roster;
use kernel::persona::{FeedSpec, Persona, StandupRole, Tier, Voice};
use kernel::time::ManualClock;

use crate::support::{history, nothing};

/// A Saturday, so that "this week" covers most of the last seven days.
fn now() -> DateTime<Utc> {
    Utc.with_ymd_and_hms(2026, 11, 21, 22, 50, 0).unwrap()
}

fn git_feed(work: &Path) -> Feed {
    let sources = nothing::feed_sources(work, Arc::new(ManualClock::new(now())));
    feeds::build(&git_spec(), &sources).expect("a valid feed")
}

fn git_spec() -> FeedSpec {
    FeedSpec { kind: "git".into(), name: "git".into(), settings: serde_json::Map::new() }
}

async fn ask(text: &str, feeds: &[Feed], files: &[File]) -> OfflineAnswer {
    let persona = Persona {
        slug: "sentinel".into(),
        name: "Sentinel".into(),
        aliases: Vec::new(),
        role: "code".into(),
        expertise: Vec::new(),
        color: 0,
        avatar: None,
        tier: Tier::T1,
        coordinator: true,
        tools: Vec::new(),
        feeds: vec![git_spec()],
        channels: std::collections::BTreeMap::new(),
        standup: StandupRole { role: String::new(), cap: 600, duty: None },
        voice: Voice::of("sentinel"),
        prompt: String::new(),
    };
    let roster = Roster::new(vec![persona.clone()]).expect("a valid roster");
    let files = Files { focus: files.to_vec(), is_meant: true, ..Files::default() };
    let question = OfflineQuestion {
        persona: &persona,
        roster: &roster,
        text,
        act: SpeechAct::Question,
        asker: None,
        notes: &[],
        files: &files,
        transcript: &[],
        memories: &[],
        feeds,
        now: now(),
    };
    compose(&question).await
}

#[tokio::test]
async fn what_happened_this_week_is_told_with_the_true_commits() {
    let work = tempfile::tempdir().unwrap();
    let Some(commits) = history::make_repository(work.path(), 200, now()) else { return };
    let feeds = [git_feed(work.path())];

    let answer = ask("sentinel, what happened this week?", &feeds, &[]).await;
    let monday = Utc.with_ymd_and_hms(2026, 11, 16, 0, 0, 0).unwrap();
    let (this_week, before): (Vec<_>, Vec<_>) = commits.iter().partition(|commit| commit.at.to_utc() >= monday);
    assert!(this_week.len() >= 3, "the record is dense enough");
    for commit in &this_week {
        let line =
            answer.text.lines().find(|line| line.contains(&commit.subject)).unwrap_or_else(|| panic!("{commit:?} in\n{}", answer.text));
        assert!(line.contains(&commit.author), "{line}");
    }
    assert!(before.iter().rev().take(20).all(|commit| !answer.text.contains(&commit.subject)), "{}", answer.text);
    assert!(answer.text.contains(&format!("{} commits by ", this_week.len())), "{}", answer.text);
}

#[tokio::test]
async fn a_commit_is_found_by_what_it_did() {
    let work = tempfile::tempdir().unwrap();
    let Some(commits) = history::make_repository(work.path(), 200, now()) else { return };
    let answer = ask("what became of jobs cancelled by a soft stop?", &[git_feed(work.path())], &[]).await;
    let wanted = commits.last().expect("there are commits");
    assert!(answer.text.contains(&wanted.subject), "{}", answer.text);
    assert!(answer.sources[0].contains(&wanted.author), "{:?}", answer.sources);
}

#[tokio::test]
async fn commits_are_found_by_their_author() {
    let work = tempfile::tempdir().unwrap();
    let Some(commits) = history::make_repository(work.path(), 200, now()) else { return };
    let answer = ask("what did author-41 do this week?", &[git_feed(work.path())], &[]).await;
    let wanted = commits.iter().rfind(|commit| commit.author == "author-41").expect("there is one");
    assert!(answer.text.contains(&wanted.subject), "{}", answer.text);
    assert!(answer.sources.iter().all(|source| source.contains("author-41")), "{:?}", answer.sources);
}

#[tokio::test]
async fn a_busy_stretch_is_counted_and_the_newest_are_shown() {
    let work = tempfile::tempdir().unwrap();
    let Some(commits) = history::make_repository(work.path(), 200, now()) else { return };
    let answer = ask("what changed in the last 60 days?", &[git_feed(work.path())], &[]).await;
    let since = now() - TimeDelta::days(60);
    let count = commits.iter().filter(|commit| commit.at.to_utc() >= since).count();
    assert!(answer.text.contains(&format!("{count} commits")), "{}", answer.text);
    assert!(answer.text.contains(&format!("… and {} more", count - 10)), "{}", answer.text);
    assert!(answer.text.chars().count() < 2000, "it fits one message:\n{}", answer.text);
}

#[tokio::test]
async fn the_decision_log_answers_with_citations() {
    let Some(text) = history::find_document("decision-log.md") else { return };
    let file = File {
        name: "decision-log.md".into(),
        by: "Ann".into(),
        at: now(),
        text: Some(text),
        is_shown: false,
        is_heard: false,
        note: None,
    };
    let started = Instant::now();
    for (question, facts, place) in QUESTIONS {
        let answer = ask(question, &[], std::slice::from_ref(&file)).await;
        for fact in *facts {
            assert!(answer.text.contains(fact), "{question}: \"{fact}\" is missing in\n{}", answer.text);
        }
        assert!(answer.sources[0].starts_with(&format!("decision-log.md, {place}")), "{question}: {:?}", answer.sources);
    }
    println!("{} questions in {:?}", QUESTIONS.len(), started.elapsed());
}

/// A question, the text its answer must contain, and the section that the first citation must name.
const QUESTIONS: &[(&str, &[&str], &str)] = &[
    (
        "why were zombie steps a problem?",
        &["17 zombie pending steps", "occupied the entire fetch window", "at most 6 rows", "it couldn't see it"],
        "D-043",
    ),
    ("why not just increase the limit multiplier?", &["Band-aid"], "D-043"),
    ("how many rejections before a step fails?", &["After 3 total rejections"], "D-035"),
    ("why do we look at the file extension first?", &["application/octet-stream"], "D-040"),
    ("why did we pick PM2?", &["PM2"], "D-004"),
    ("what is the free tier's storage limit on Supabase?", &["500MB"], "D-003"),
    ("what did we decide about the QA agents?", &["QA"], "D-033"),
    ("what does D-034 say?", &["ensureInitialized"], "D-034"),
    ("who decided on Discord as the interface?", &["Zero + Kai"], "D-002"),
];

#[tokio::test]
async fn what_the_decision_log_does_not_hold_is_said_not_to_be_found() {
    let Some(text) = history::find_document("decision-log.md") else { return };
    let file = File {
        name: "decision-log.md".into(),
        by: "Ann".into(),
        at: now(),
        text: Some(text),
        is_shown: false,
        is_heard: false,
        note: None,
    };
    for question in ["how do we deploy to kubernetes?", "what is the weather in Lisbon?", "who won the football match?"] {
        let answer = ask(question, &[], std::slice::from_ref(&file)).await;
        assert!(answer.text.starts_with("I found nothing about"), "{question}:\n{}", answer.text);
    }
}
