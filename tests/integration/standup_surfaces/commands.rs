//! The commands `/standup`, `/report` and `/predictions`.

use std::time::Duration;

use serde_json::{Value, json};

use crate::standup::change;
use crate::support::command::{invoke, is_ephemeral, sub_command, text};
use crate::support::team::{Backing, TestTeam, Wanted, eventually, on_one_store};

on_one_store!(
    a_standup_is_begun_shown_skipped_in_and_wrapped_up,
    where_no_standup_is_running_or_was_held_the_answer_says_so,
    an_operator_cancels_a_standup_and_nobody_else_does,
);

/// The standup channel.
const HERE: &str = "daily-standup";

async fn standup(team: &TestTeam, action: &str, options: &[(&str, &str)]) -> Value {
    invoke(team, HERE, "standup", sub_command(action, options)).await
}

async fn report(team: &TestTeam, action: &str, options: &[(&str, &str)]) -> Value {
    invoke(team, HERE, "report", sub_command(action, options)).await
}

/// A team in whose standups the second speaker waits, so that people can act during it.
fn slow(backing: Backing) -> Wanted {
    Wanted::on(backing).configure(|config| change(config, |standup| standup.pause = Duration::from_mins(1)))
}

fn assert_refused(answer: &Value, told: &str) {
    assert!(text(answer).contains(told) && is_ephemeral(answer), "{told}: {answer}");
}

async fn wait_for_post(team: &TestTeam, words: &str) {
    let is_posted = || async { team.answers(HERE).await.iter().any(|answer| answer.raw.to_string().contains(words)) };
    eventually(words, is_posted).await;
}

async fn a_standup_is_begun_shown_skipped_in_and_wrapped_up(backing: Backing) {
    let team = slow(backing).start().await;
    let begun = standup(&team, "start", &[]).await;
    assert!(text(&begun).contains("The standup begins") && is_ephemeral(&begun), "{begun}");
    wait_for_post(&team, "Order:").await;
    let spoken = || async { text(&standup(&team, "status", &[]).await).contains("Nothing to report: Echo") };
    eventually("the first has spoken", spoken).await;
    let status = standup(&team, "status", &[]).await;
    assert!(text(&status).contains("To come: Eliza") && is_ephemeral(&status), "{status}");
    assert!(is_ephemeral(&standup(&team, "start", &[]).await), "one is running");

    let skipped = standup(&team, "skip", &[("persona", "Solus")]).await;
    assert!(text(&skipped).contains("skipped Solus") && !is_ephemeral(&skipped), "{skipped}");
    assert_refused(&standup(&team, "skip", &[("persona", "solus")]).await, "Solus is skipped already");
    assert_refused(&standup(&team, "skip", &[("persona", "Echo")]).await, "Echo has spoken already");
    assert_refused(&standup(&team, "skip", &[("persona", "Nobody")]).await, "Participants: Echo, Eliza, Oracle");

    let paused = standup(&team, "pause", &[]).await;
    assert!(text(&paused).contains("paused the standup") && !is_ephemeral(&paused), "{paused}");
    assert_refused(&standup(&team, "pause", &[]).await, "The standup is paused already");
    let resumed = standup(&team, "resume", &[]).await;
    assert!(text(&resumed).contains("resumed the standup") && !is_ephemeral(&resumed), "{resumed}");
    assert_refused(&standup(&team, "resume", &[]).await, "The standup is not paused");

    let wrapped = standup(&team, "wrap", &[]).await;
    assert!(text(&wrapped).contains("The Day Report is next") && !is_ephemeral(&wrapped), "{wrapped}");
    wait_for_post(&team, "Day Report ·").await;
    let today = report(&team, "today", &[]).await;
    assert!(text(&today).contains("Day Report ·") && is_ephemeral(&today), "{today}");
    let predictions = invoke(&team, HERE, "predictions", sub_command("list", &[])).await;
    assert!(text(&predictions).contains("No predictions yet") && is_ephemeral(&predictions), "{predictions}");
    let score = invoke(&team, HERE, "predictions", sub_command("score", &[])).await;
    assert!(text(&score).contains("too few to judge") && is_ephemeral(&score), "{score}");
}

async fn where_no_standup_is_running_or_was_held_the_answer_says_so(backing: Backing) {
    let team = Wanted::on(backing).start().await;
    for (action, options) in [("status", &[][..]), ("skip", &[("persona", "vince")]), ("wrap", &[]), ("cancel", &[])] {
        assert_refused(&standup(&team, action, options).await, "No standup is running here. Start one with `/standup start`.");
    }
    assert_refused(&report(&team, "today", &[]).await, "Start a standup with `/standup start`");
    assert_refused(&report(&team, "show", &[("date", "2020-01-01")]).await, "There is no report of 2020-01-01");
    assert_refused(&report(&team, "show", &[("date", "2020-02-30")]).await, "\"2020-02-30\" is not a date. Write it like 20");
    let help = invoke(&team, HERE, "help", json!([])).await;
    for command in ["/standup", "/report", "/predictions"] {
        assert!(text(&help).contains(command), "{help}");
    }
}

async fn an_operator_cancels_a_standup_and_nobody_else_does(backing: Backing) {
    let mut team = slow(backing).configure(|config| config.chat.operators = vec!["somebody-else".into()]).start().await;
    standup(&team, "start", &[]).await;
    wait_for_post(&team, "Order:").await;
    assert_refused(&standup(&team, "cancel", &[]).await, "Only operators can do that: ");
    team.stop_app().await;
    team.config.chat.operators = vec!["*".into()];
    team.start_app().await;
    let cancelled = standup(&team, "cancel", &[]).await;
    assert!(text(&cancelled).contains("The standup is cancelled") && is_ephemeral(&cancelled), "{cancelled}");
    wait_for_post(&team, "There is no report of it").await;
    assert_refused(&report(&team, "today", &[]).await, "There is no report for today yet");
}
