//! Long channels are summarised, and opened again down to their messages.

use std::time::Duration;

use kernel::llm::settings::ProviderKind;
use kernel::time::{Clock, SystemClock};
use reqwest::Method;

use super::stage::{BOARD, HERE, Stage, wanted};
use crate::support::database::{allow, count, forbid};
use crate::support::model::{Asked, Script};
use crate::support::process::TeamProcess;
use crate::support::team::{Backing, TestTeam, eventually, on_both_stores, on_one_store};

on_both_stores!(killed_while_a_summary_is_made);
on_one_store!(a_summary_is_in_the_prompt_can_be_opened_and_loses_what_is_deleted, without_a_model_the_lines_that_say_most_are_kept,);

const LINES: usize = 62;

fn line(number: usize) -> String {
    format!("Pallet {number} goes to row {}.", number * 7)
}

async fn talk(team: &TestTeam) -> Vec<String> {
    let mut ids = Vec::new();
    for number in 0..LINES {
        ids.push(team.say(HERE, &line(number)).await);
    }
    eventually("all is heard", || async {
        usize::try_from(count(team, "SELECT COUNT(*) FROM inbox WHERE decided_at IS NOT NULL").await).unwrap() == LINES
    })
    .await;
    ids
}

async fn made(team: &TestTeam) -> i64 {
    count(team, "SELECT COUNT(*) FROM channel_spans WHERE text <> ''").await
}

/// Advances the clock only while the job sleeps, because a call in progress would time out.
async fn wait_for_summary(stage: &Stage) {
    eventually("a summary is made", || async {
        let now = stage.clock.now().to_rfc3339();
        let sleeps = format!("SELECT COUNT(*) FROM jobs WHERE kind = 'channel_summaries' AND state = 'ready' AND run_at > '{now}'");
        if count(&stage.team, &sleeps).await == 1 {
            stage.clock.advance(Duration::from_secs(601));
        }
        made(&stage.team).await == 1
    })
    .await;
}

async fn a_summary_is_in_the_prompt_can_be_opened_and_loses_what_is_deleted(backing: Backing) {
    let stage = Stage::start(backing, Some(ProviderKind::OpenAi)).await;
    let is_summary = |asked: &Asked| asked.system.contains("You summarise a stretch");
    stage.team.model.on(move |asked| match (is_summary(asked), asked.prompt().contains("Pallet 7 ")) {
        (true, true) => Script::say("Pallet 7 left."),
        (true, false) => Script::say("Pallets left."),
        (false, _) => Script::say("I see."),
    });
    let ids = talk(&stage.team).await;
    wait_for_summary(&stage).await;
    let asked = stage.team.model.requests().into_iter().find(is_summary).unwrap().prompt();
    assert!(asked.contains(&line(0)) && asked.contains(&line(29)) && !asked.contains(&line(30)), "{asked}");
    assert_eq!(count(&stage.team, "SELECT COUNT(*) FROM ledger WHERE purpose = 'memory'").await, 1);
    stage.answer_to("kelly, how are we doing?").await;
    let prompt = stage.team.model.requests().last().unwrap().prompt();
    let (_, summary) = prompt.split_once("summaries of what was said here before>>\n").unwrap_or_else(|| panic!("{prompt}"));
    assert!(summary.lines().next().unwrap().ends_with(": Pallet 7 left."), "{prompt}");
    assert!(prompt.contains(&line(61)), "the transcript follows");
    let id = summary.split_once('#').unwrap().1.split(':').next().unwrap().to_owned();
    let opened = stage.command("show", &[("id", &id)]).await;
    assert!(opened.contains("#general") && opened.contains("30 messages\nPallet 7 left."), "{opened}");
    assert!(opened.contains(&line(0)) && opened.contains(&line(29)), "{opened}");
    stage.answer_in(BOARD, "kelly, how are we doing?").await;
    assert!(!stage.team.model.requests().last().unwrap().prompt().contains("Pallet 7 left."), "it belongs to its channel");

    stage.team.call(Method::DELETE, &format!("/channels/{}/messages/{}", stage.team.channel(HERE), ids[7]), None).await;
    eventually("its text is gone at once", || async {
        count(&stage.team, "SELECT COUNT(*) FROM channel_spans WHERE text LIKE '%7%'").await == 0
    })
    .await;
    wait_for_summary(&stage).await;
    assert_eq!(count(&stage.team, "SELECT COUNT(*) FROM channel_spans WHERE text = 'Pallets left.' AND messages = 29").await, 1);
    assert_eq!(count(&stage.team, "SELECT COUNT(*) FROM channel_span_messages").await, 29);
}

async fn without_a_model_the_lines_that_say_most_are_kept(backing: Backing) {
    let stage = Stage::start(backing, None).await;
    talk(&stage.team).await;
    wait_for_summary(&stage).await;
    assert_eq!(count(&stage.team, "SELECT COUNT(*) FROM channel_spans WHERE model IS NULL AND text LIKE 'Ann: Pallet %'").await, 1);
}

async fn killed_while_a_summary_is_made(backing: Backing) {
    let team = wanted(backing).clock(SystemClock).without_app().start().await;
    let process = TeamProcess::start(&team, &[]).await;
    let sleeps = "SELECT COUNT(*) FROM jobs WHERE kind = 'channel_summaries' AND state = 'ready' AND run_at > created_at";
    eventually("the first round is over", || async { count(&team, sleeps).await == 1 }).await;
    talk(&team).await;
    process.kill();
    forbid(&team, "wall", "INSERT ON channel_span_messages", "NEW.position = 29").await;
    // Without a row of the job, its round begins at once and does not wait for the end of its sleep.
    crate::support::database::execute(&team, "DELETE FROM jobs WHERE kind = 'channel_summaries'").await;
    let process = TeamProcess::start(&team, &[]).await;
    let paid = "SELECT COUNT(*) FROM ledger WHERE purpose = 'memory' AND outcome = 'answered'";
    eventually("the summary is written", || async { count(&team, paid).await > 0 }).await;
    tokio::time::sleep(Duration::from_millis(500)).await;
    process.kill();
    allow(&team, "wall").await;
    assert_eq!(count(&team, "SELECT COUNT(*) FROM channel_spans").await, 0, "whole or not at all");
    let _process = TeamProcess::start(&team, &[]).await;
    eventually("it is made", || async { made(&team).await == 1 }).await;
    assert_eq!(count(&team, "SELECT COUNT(*) FROM channel_span_messages").await, 30);
}
