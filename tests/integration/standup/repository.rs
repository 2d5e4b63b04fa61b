//! A second standup on a repository that has new commits, and a team without a repository.

use std::path::Path;

use chrono::{DateTime, TimeDelta, Utc};
use kernel::feeds::condition::Comparison;
use kernel::time::{Clock as _, SystemClock};
use teamroom::features::standup::model::prediction::{Answer, EssentialQuestion, Expiry, Scoreboard, Threshold, Verdict};

use super::stage::{Setting, Stage};
use crate::standup::change;
use crate::support::history;
use crate::support::team::{Backing, on_one_store};

on_one_store!(
    two_new_commits_are_two_and_the_revision_says_what_is_new,
    a_question_that_is_reached_is_settled_today_and_counts_once,
    without_a_repository_nothing_is_asked_about_commits,
);

/// A stage on a repository with 200 commits. None if the history is missing.
async fn stage_on_repository(setting: Setting) -> Option<Stage> {
    let mut made = None;
    let stage = setting.open_after(|work, now| made = history::make_repository(work, 200, now)).await;
    made.is_some().then_some(stage)
}

fn commit(work: &Path, subject: &str, at: DateTime<Utc>) {
    history::add_commit(work, subject, at);
}

async fn two_new_commits_are_two_and_the_revision_says_what_is_new(backing: Backing) {
    let Some(stage) = stage_on_repository(Setting::on(backing)).await else { return };
    let first = stage.hold().await;
    assert!(first.report.changes.is_empty(), "a first report has nothing to compare with: {:?}", first.report.changes);
    let whole = format!("{:?}", first.report);
    assert_eq!(whole.matches("First report").count(), 1, "and says so once");
    let card = stage.cards().await.swap_remove(0);

    for subject in ["Retry lost jobs", "Say how to migrate"] {
        commit(&stage.team.config.work, subject, stage.now());
    }
    let second = stage.hold().await;
    let commits = second.report.changes.iter().find(|change| change.name == "commits").expect("they changed");
    assert_eq!([commits.before, commits.now].map(|count| count.to_string()), ["200", "202"]);
    let sentinel = second.report.contributions.iter().find(|said| said.name == "Sentinel").and_then(|said| said.text.clone());
    let sentinel = sentinel.expect("a report");
    assert!(sentinel.contains("commits 202, +2 since") && sentinel.contains("2 commits by"), "{sentinel}");
    assert!(sentinel.contains("Retry lost jobs") && sentinel.contains("Say how to migrate"), "{sentinel}");
    let notice = stage.hears("I have revised today's report (revision 2). New since").await;
    assert_eq!(notice.raw["message_reference"]["message_id"], card.raw["id"], "it leads to the card");
    assert!(notice.text.contains("2 commits"), "{notice:?}");
    let cards = stage.cards().await;
    let embed = cards[0].raw["embeds"][0].to_string();
    assert!(cards.len() == 1 && embed.contains("Earlier, "), "what was told before is kept: {embed}");
    assert!(second.report.written_at > first.report.written_at && second.report.earlier[0].tldr == first.report.tldr);
}

async fn a_question_that_is_reached_is_settled_today_and_counts_once(backing: Backing) {
    // Six days ahead, whatever day of the week it is, so that the history makes "yes" likely.
    let expires = format!("next {} 08:00", (SystemClock.now() - TimeDelta::days(1)).format("%A"));
    let question = move |zone| EssentialQuestion {
        text: "Will there be 2 more commits within the week?".into(),
        feed: "repository".into(),
        value: "commits".into(),
        comparison: Comparison::AtLeast,
        threshold: Threshold::Change(2.0),
        expires: Expiry::parse(&expires, zone).expect("an expiry"),
        optional: false,
    };
    let setting = Setting::on(backing).configure(move |config| {
        let zone = config.schedules.zone;
        change(config, |standup| standup.question = Some(question(zone)));
    });
    let Some(stage) = stage_on_repository(setting).await else { return };
    let first = stage.hold().await;
    let call = first.report.call.expect("a call");
    assert_eq!(call.call.answer, Answer::Yes, "the history of git is one: {call:?}");
    assert!(call.call.reason.contains("commits went from"), "{call:?}");

    commit(&stage.team.config.work, "Retry lost jobs", stage.now());
    let second = stage.hold().await;
    let again = second.report.call.expect("a call");
    assert!(again.terms.contains(">= 202"), "two more than on the day of the first call: {again:?}");
    assert_eq!(stage.store.list_predictions(9).await.expect("the calls").len(), 1, "the later call replaces the earlier");

    commit(&stage.team.config.work, "Say how to migrate", stage.now());
    let third = stage.hold().await;
    let settled = third.report.call.clone().expect("a call").settled.expect("it is decided");
    let expected = if again.call.answer == Answer::Yes { Verdict::Hit } else { Verdict::Miss };
    assert_eq!((settled.verdict, settled.value.map(|value| value.to_string())), (expected, Some("202".to_owned())));
    stage.hears("My call of").await;

    commit(&stage.team.config.work, "Go on", stage.now());
    let fourth = stage.hold().await;
    assert_eq!(fourth.report.call.expect("a call").settled, Some(settled), "it is settled once");
    let calls = stage.store.list_predictions(9).await.expect("the calls");
    let board = Scoreboard::of(&calls, stage.now());
    assert_eq!((calls.len(), board.hits + board.misses, board.open), (1, 1, 0), "{calls:?}");
}

async fn without_a_repository_nothing_is_asked_about_commits(backing: Backing) {
    let stage = Setting::on(backing).open().await;
    let held = stage.hold().await;
    let said = stage.said().await;
    assert!(!said[0].text.contains("Essential question"), "{:?}", said[0]);
    // `/status` and `doctor` say that there is no repository.
    assert!(said.iter().all(|said| !said.text.contains("is not a git repository")), "{said:?}");
    assert_eq!(held.report.question, None);
    let embed = stage.cards().await[0].raw["embeds"][0].to_string();
    assert!(!embed.contains("Essential question"), "{embed}");
    assert!(stage.store.list_predictions(9).await.expect("the calls").is_empty());
}
