//! `kill -9` after each stored step of a turn: the reader sees each answer once.

use std::time::Duration;

use tokio::sync::watch;

use super::crashes::{expect_one_answer, expect_said, quiet, set};
use crate::support::database::{allow, count, execute, forbid};
use crate::support::model::Script;
use crate::support::process::TeamProcess;
use crate::support::team::{Backing, TestTeam, eventually, on_both_stores};

on_both_stores!(
    killed_after_the_decision,
    killed_before_the_answer_was_stored,
    killed_between_an_answer_and_the_one_to_it,
    killed_by_an_earlier_program,
    an_answer_that_cannot_be_stored_is_asked_for_again,
    killed_between_a_late_answer_and_its_post,
);

/// Blocks state changes of turn jobs for which `when` holds.
async fn raise_wall(team: &TestTeam, when: &str) {
    forbid(team, "wall", "UPDATE OF state ON jobs", &format!("OLD.kind = 'chat.turn' AND {when}")).await;
}

/// The number of turn jobs in a state.
async fn jobs(team: &TestTeam, state: &str) -> i64 {
    count(team, &format!("SELECT COUNT(*) FROM jobs WHERE kind = 'chat.turn' AND state = '{state}'")).await
}

/// Kills a process that is blocked at the wall, and lets another one continue.
async fn kill_at_the_wall(team: &TestTeam, process: TeamProcess) -> TeamProcess {
    // Gives the process time to reach the wall.
    tokio::time::sleep(Duration::from_millis(300)).await;
    process.kill();
    allow(team, "wall").await;
    TeamProcess::start(team, &[]).await
}

async fn killed_after_the_decision(backing: Backing) {
    let team = quiet(backing).await;
    set(&team, "parallel = 1");
    team.model.on(|asked| if asked.last_word() == "zero" { Script::Hang } else { Script::say(format!("answer to {}", asked.last_word())) });
    let process = TeamProcess::start(&team, &[]).await;
    team.say("ops", "vince, report zero").await;
    eventually("the only job that may run is running", || async { team.model.count() == 1 }).await;
    team.say("general", "vince, report one").await;
    eventually("it was decided", || async { jobs(&team, "ready").await == 1 }).await;
    process.kill();
    team.model.on(|asked| Script::say(format!("answer to {}", asked.last_word())));
    let _process = TeamProcess::start(&team, &[]).await;
    expect_one_answer(&team, "answer to one").await;
    let of_one = team.model.requests().iter().filter(|asked| asked.last_word() == "one").count();
    assert_eq!(of_one, 1, "the turn had not begun");
}

async fn killed_before_the_answer_was_stored(backing: Backing) {
    let team = quiet(backing).await;
    let process = TeamProcess::start(&team, &[]).await;
    raise_wall(&team, "OLD.state = 'running'").await;
    team.say("general", "vince, report two").await;
    eventually("the model was asked", || async { team.model.count() == 1 }).await;
    assert_eq!(jobs(&team, "running").await, 1);
    let _process = kill_at_the_wall(&team, process).await;
    expect_one_answer(&team, "answer to two").await;
    assert_eq!(team.model.count(), 2, "the answer that was not stored is asked for again, once");
    assert_eq!(count(&team, "SELECT COUNT(*) FROM turns WHERE state = 'answered' AND attempts = 2").await, 1);
}

async fn killed_between_an_answer_and_the_one_to_it(backing: Backing) {
    let team = quiet(backing).await;
    team.model.on(|asked| Script::say(if asked.system.contains("You are Vince") { "@Solus what do you say?" } else { "it silts up" }));
    let process = TeamProcess::start(&team, &[]).await;
    raise_wall(&team, "OLD.state = 'ready' AND OLD.payload LIKE '%\"agent\"%'").await;
    team.say("general", "vince, what of the harbour?").await;
    eventually("vince has answered", || async { !team.answers("general").await.is_empty() }).await;
    assert_eq!((jobs(&team, "done").await, jobs(&team, "ready").await), (1, 1), "who answers him is stored with what he said");
    let said = team.answers("general").await.remove(0).text;
    let _process = kill_at_the_wall(&team, process).await;
    expect_said(&team, &[&said, "it silts up"]).await;
    assert_eq!(team.model.count(), 2);
}

/// Earlier versions recorded a running turn only in its own row, without a job.
async fn killed_by_an_earlier_program(backing: Backing) {
    let team = quiet(backing).await;
    let process = TeamProcess::start(&team, &[]).await;
    raise_wall(&team, "OLD.state = 'running'").await;
    team.say("general", "vince, report three").await;
    eventually("the model was asked", || async { team.model.count() == 1 }).await;
    process.kill();
    execute(&team, "UPDATE turns SET job = NULL, state = 'running', attempts = 2").await;
    execute(&team, "DELETE FROM jobs WHERE kind = 'chat.turn'").await;
    allow(&team, "wall").await;
    let _process = TeamProcess::start(&team, &[]).await;
    expect_one_answer(&team, "answer to three").await;
    assert_eq!(team.model.count(), 2);
}

/// If the store refuses an answer, the job asks the model again. No person has to repeat the question.
async fn an_answer_that_cannot_be_stored_is_asked_for_again(backing: Backing) {
    let team = quiet(backing).await;
    let _process = TeamProcess::start(&team, &[]).await;
    forbid(&team, "wall", "INSERT ON outbox", "NEW.kind = 'answer'").await;
    team.say("general", "vince, report four").await;
    let failed = "SELECT COUNT(*) FROM jobs WHERE kind = 'chat.turn' AND state = 'ready' AND attempts = 1";
    eventually("it could not be stored", || async { count(&team, failed).await == 1 }).await;
    allow(&team, "wall").await;
    expect_one_answer(&team, "answer to four").await;
}

async fn killed_between_a_late_answer_and_its_post(backing: Backing) {
    let team = quiet(backing).await;
    set(&team, "[chat]\nask_timeout = \"1s\"\n");
    let (go_on, may) = watch::channel(false);
    team.model.on(move |_| Script::say("it silts up").when(&may));
    let process = TeamProcess::start(&team, &[]).await;
    team.say("general", "ask vince what he thinks about the harbour").await;
    let expired = "Vince has not answered in 1 s. If an answer still comes, I pass it on.";
    eventually("it expired", || async { !team.answers("general").await.is_empty() }).await;
    forbid(&team, "wall", "UPDATE OF state ON jobs", "OLD.kind = 'ask.late' AND OLD.state = 'running'").await;
    go_on.send(true).expect("the model waits");
    let steps = "SELECT COUNT(*) FROM job_steps WHERE name = 'answer'";
    eventually("the late answer is stored", || async { count(&team, steps).await == 1 }).await;
    let _process = kill_at_the_wall(&team, process).await;
    expect_said(&team, &[expired, "Late, but here it is. **Vince** answers:\nit silts up"]).await;
    assert_eq!(team.model.count(), 1, "it is not paid twice");
}
