//! `kill -9` at each step from a message on Slack to its answer: people see each answer once.

use std::time::Duration;

use slack_sandbox::{ApiFault, Switch};

use crate::platforms::both::Both;
use crate::platforms::slack::TEAM;
use crate::support::database::{allow, count, forbid};
use crate::support::model::Script;
use crate::support::process::TeamProcess;
use crate::support::team::{Backing, eventually, on_both_stores};

on_both_stores!(
    killed_before_the_message_was_stored,
    killed_while_a_missed_thread_was_read,
    killed_after_the_decision,
    killed_before_the_answer_was_stored,
    killed_while_it_was_posted,
    killed_after_it_was_posted,
    killed_before_the_post_was_recorded,
    killed_before_a_command_was_begun,
    killed_during_a_command,
);

async fn open(backing: Backing) -> (Both, TeamProcess) {
    let both = Both::without_team(backing).await;
    both.discord.model.on(|asked| Script::say(format!("answer to {}", asked.last_word())));
    let process = both.run_team().await;
    (both, process)
}

/// Lets another process continue, and checks that there is exactly one answer in the end.
async fn expect_one_answer(both: &Both, killed: TeamProcess, wall: Option<&str>) {
    killed.kill();
    if let Some(wall) = wall {
        allow(&both.discord, wall).await;
    }
    both.slack.misbehave(Switch::Behave).expect("there is nobody to name");
    let _process = both.run_team().await;
    eventually("it is answered", || async { !both.on_slack("general").is_empty() }).await;
    eventually("what was reported is acknowledged", || async { both.slack.unacknowledged(TEAM) == 0 }).await;
    for open in [
        "SELECT COUNT(*) FROM outbox WHERE state = 'pending'",
        "SELECT COUNT(*) FROM jobs WHERE kind = 'chat.turn' AND state IN ('ready', 'running')",
    ] {
        eventually("the team comes to rest", || async { count(&both.discord, open).await == 0 }).await;
    }
    let said: Vec<String> = both.on_slack("general").into_iter().map(|said| said.text).collect();
    assert_eq!(said, ["answer to one"]);
}

async fn killed_before_the_message_was_stored(backing: Backing) {
    let (both, process) = open(backing).await;
    forbid(&both.discord, "wall", "INSERT ON inbox", "NEW.id LIKE 'slack:%'").await;
    both.say_on_slack("general", "vince, report one");
    eventually("it is acknowledged", || async { both.slack.unacknowledged(TEAM) == 0 }).await;
    expect_one_answer(&both, process, Some("wall")).await;
}

/// The thread has its mark, and the message in it is not stored. The channel's own mark stands behind both.
async fn killed_while_a_missed_thread_was_read(backing: Backing) {
    let (both, process) = open(backing).await;
    let (ann, general) = (both.slack.person("Ann"), both.slack.channel("general"));
    let root = ann.say(&general, "Bob, these are my plans.").expect("it is said");
    eventually("it is heard", || async { count(&both.discord, "SELECT COUNT(*) FROM inbox").await == 1 }).await;
    process.kill();
    ann.reply(&general, &root, "vince, report one").expect("it is said");
    // Slack gives up what nobody acknowledges.
    both.slack.advance(Duration::from_mins(10));
    forbid(&both.discord, "wall", "INSERT ON inbox", "NEW.id LIKE 'slack:%'").await;
    let process = both.run_team().await;
    let marked = "SELECT COUNT(*) FROM channels WHERE id LIKE 'slack:%-%'";
    eventually("the thread has a mark", || async { count(&both.discord, marked).await == 1 }).await;
    expect_one_answer(&both, process, Some("wall")).await;
}

async fn killed_after_the_decision(backing: Backing) {
    let (both, process) = open(backing).await;
    forbid(&both.discord, "wall", "UPDATE OF state ON jobs", "OLD.kind = 'chat.turn' AND OLD.state = 'ready'").await;
    both.say_on_slack("general", "vince, report one");
    eventually("it is decided", || async { count(&both.discord, "SELECT COUNT(*) FROM jobs WHERE kind = 'chat.turn'").await == 1 }).await;
    expect_one_answer(&both, process, Some("wall")).await;
}

async fn killed_before_the_answer_was_stored(backing: Backing) {
    let (both, process) = open(backing).await;
    forbid(&both.discord, "wall", "UPDATE OF state ON jobs", "OLD.kind = 'chat.turn' AND OLD.state = 'running'").await;
    both.say_on_slack("general", "vince, report one");
    eventually("the model is asked", || async { both.discord.model.count() == 1 }).await;
    expect_one_answer(&both, process, Some("wall")).await;
}

/// Slack has not stored the post.
async fn killed_while_it_was_posted(backing: Backing) {
    let (both, process) = open(backing).await;
    lose_posts(&both, ApiFault::Hang);
    both.say_on_slack("general", "vince, report one");
    eventually("the attempt is recorded", || async {
        count(&both.discord, "SELECT COUNT(*) FROM outbox WHERE first_attempt_at IS NOT NULL").await == 1
    })
    .await;
    expect_one_answer(&both, process, None).await;
}

/// Slack has stored the post, but its answer was lost.
async fn killed_after_it_was_posted(backing: Backing) {
    let (both, process) = open(backing).await;
    lose_posts(&both, ApiFault::ResetAfter);
    both.say_on_slack("general", "vince, report one");
    eventually("it is posted", || async { !both.on_slack("general").is_empty() }).await;
    expect_one_answer(&both, process, None).await;
}

async fn killed_before_the_post_was_recorded(backing: Backing) {
    let (both, process) = open(backing).await;
    forbid(&both.discord, "wall", "UPDATE OF state ON outbox", "NEW.state = 'sent'").await;
    both.say_on_slack("general", "vince, report one");
    eventually("it is posted", || async { !both.on_slack("general").is_empty() }).await;
    expect_one_answer(&both, process, Some("wall")).await;
}

async fn killed_before_a_command_was_begun(backing: Backing) {
    let (both, process) = open(backing).await;
    forbid(&both.discord, "wall", "INSERT ON job_steps", "NEW.name = 'begun'").await;
    let told = give_command(&both, process, "SELECT COUNT(*) FROM jobs WHERE kind = 'chat.command'").await;
    assert!(told.contains("Ann added") && told.contains("Fix the lamp"), "{told}");
}

async fn killed_during_a_command(backing: Backing) {
    let (both, process) = open(backing).await;
    forbid(&both.discord, "wall", "UPDATE OF state ON jobs", "OLD.kind = 'chat.command' AND OLD.state = 'running'").await;
    let told = give_command(&both, process, "SELECT COUNT(*) FROM work_items").await;
    assert!(told.contains("I was interrupted during `/team backlog add`"), "{told}");
}

/// Ann gives a command, and the process is killed once `reached` counts one row. Returns the answer that she gets after that.
async fn give_command(both: &Both, process: TeamProcess, reached: &str) -> String {
    both.say_on_slack("general", &format!("<@{}> backlog add Fix the lamp --owner me", both.slack.app(TEAM).user));
    eventually("it gets as far as that", || async { count(&both.discord, reached).await == 1 }).await;
    process.kill();
    allow(&both.discord, "wall").await;
    let _process = both.run_team().await;
    eventually("it is told", || async { both.on_slack("general").iter().any(|said| said.buttons().is_empty()) }).await;
    let open = "SELECT COUNT(*) FROM jobs WHERE kind = 'chat.command' AND state IN ('ready', 'running')";
    eventually("its job is over", || async { count(&both.discord, open).await == 0 }).await;
    assert_eq!(count(&both.discord, "SELECT COUNT(*) FROM work_items").await, 1, "it is done once");
    // Skips the team's message to the item's owner, which has buttons.
    let mut said = both.on_slack("general");
    said.retain(|said| said.buttons().is_empty());
    assert_eq!(said.len(), 1, "{said:#?}");
    said.remove(0).text
}

fn lose_posts(both: &Both, with: ApiFault) {
    both.slack
        .misbehave(Switch::Api { app: None, method: "chat.postMessage".to_owned(), times: 100, with })
        .expect("there is nobody to name");
}
