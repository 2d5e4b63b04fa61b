//! `kill -9` around the tool calls of a turn: each call is made once, and what a person was asked to allow is still there.

use kernel::llm::settings::ProviderKind;
use serde_json::Value;

use super::acts::{always_ask, certificate, is_talk, no_claims};
use super::crashes::set;
use crate::support::command::press;
use crate::support::database::{allow, count, forbid};
use crate::support::model::Script;
use crate::support::process::TeamProcess;
use crate::support::team::{Backing, Shown, TestTeam, Wanted, eventually, on_both_stores};

on_both_stores!(
    killed_after_a_call_was_made,
    killed_while_a_person_is_asked,
    killed_before_an_allowed_call_is_made,
    killed_after_an_allowed_call_was_made,
    what_a_message_may_cost_is_counted_over_a_restart,
);

async fn quiet(backing: Backing) -> TestTeam {
    let team = Wanted::on(backing).model(ProviderKind::OpenAi).without_app().start().await;
    // Nothing is planned meanwhile.
    set(&team, "parallel = 8");
    team
}

async fn items(team: &TestTeam) -> i64 {
    count(team, "SELECT COUNT(*) FROM work_items").await
}

async fn find(team: &TestTeam, begins: &str) -> Option<Shown> {
    team.answers("general").await.into_iter().find(|answer| answer.text.starts_with(begins))
}

async fn expect(team: &TestTeam, begins: &str) -> Shown {
    eventually("it is said", || async { find(team, begins).await.is_some() }).await;
    find(team, begins).await.expect("it was there")
}

async fn killed_after_a_call_was_made(backing: Backing) {
    let team = quiet(backing).await;
    team.model.on(|asked| match (is_talk(asked), asked.tool_results()) {
        (false, _) => no_claims(asked),
        (true, 0) => certificate("renew the certificate"),
        (true, _) => Script::Hang,
    });
    let process = TeamProcess::start(&team, &[]).await;
    team.say("general", "kelly, we have to renew the certificate, see to it").await;
    let talk = || team.model.requests().iter().filter(|asked| is_talk(asked)).count();
    eventually("the call was made", || async { talk() == 2 }).await;
    process.kill();
    assert_eq!(items(&team).await, 1);
    team.model.on(|asked| match (is_talk(asked), asked.tool_results()) {
        (false, _) => no_claims(asked),
        (true, 0) => certificate("renew the certificate once more"),
        (true, _) => Script::say("It is on the list."),
    });
    let _process = TeamProcess::start(&team, &[]).await;
    let answer = expect(&team, "It is on the list.").await;
    assert!(answer.text.lines().last().is_some_and(|line| line.starts_with("-# Added `#")), "{}", answer.text);
    assert_eq!((items(&team).await, talk()), (1, 3), "the turn goes on behind its call");
    assert_eq!(
        count(&team, "SELECT COUNT(*) FROM job_steps WHERE result LIKE '%certificate%'").await,
        0,
        "its prompt is gone with its end"
    );
}

/// Ann is asked to allow a call. Returns the process and the question.
async fn asked(team: &TestTeam) -> (TeamProcess, Shown) {
    team.model.on(|asked| match (is_talk(asked), asked.tool_results()) {
        (false, _) => no_claims(asked),
        (true, 0) => certificate("Renew the TLS certificate"),
        (true, _) => Script::say("One moment."),
    });
    let process = TeamProcess::start(team, &[]).await;
    team.say("general", "kelly, the certificate ends soon").await;
    let question = expect(team, "May I add this to the backlog?").await;
    (process, question)
}

fn yes(button: &Value) -> bool {
    button["label"] == "Yes, do it"
}

async fn killed_while_a_person_is_asked(backing: Backing) {
    let team = quiet(backing).await;
    let (process, question) = asked(&team).await;
    process.kill();
    let _process = TeamProcess::start(&team, &[]).await;
    press(&team, "general", &question, yes).await;
    expect(&team, "Added to the backlog as #").await;
    assert_eq!(items(&team).await, 1);
}

/// Blocks an allowed call at a wall, kills the process, and lets another one continue.
async fn kill_at_the_wall(backing: Backing, change: &str, when: &str, made: i64) {
    let team = quiet(backing).await;
    let (process, question) = asked(&team).await;
    forbid(&team, "wall", change, when).await;
    press(&team, "general", &question, yes).await;
    let stands = "SELECT COUNT(*) FROM jobs WHERE kind = 'chat.approved' AND finished_at IS NULL";
    eventually("it was allowed", || async { count(&team, stands).await == 1 && items(&team).await == made }).await;
    process.kill();
    allow(&team, "wall").await;
    let _process = TeamProcess::start(&team, &[]).await;
    expect(&team, "Added to the backlog as #").await;
    tokio::time::sleep(std::time::Duration::from_millis(700)).await;
    let told = team.answers("general").await.iter().filter(|answer| answer.text.starts_with("Added")).count();
    assert_eq!((items(&team).await, told), (1, 1));
}

async fn killed_before_an_allowed_call_is_made(backing: Backing) {
    kill_at_the_wall(backing, "INSERT ON work_items", "NEW.what LIKE 'Renew%'", 0).await;
}

async fn killed_after_an_allowed_call_was_made(backing: Backing) {
    kill_at_the_wall(backing, "INSERT ON outbox", "NEW.message LIKE '%Added to the backlog as%'", 1).await;
}

async fn what_a_message_may_cost_is_counted_over_a_restart(backing: Backing) {
    let team = quiet(backing).await;
    team.model.on(|asked| if asked.number == 6 { Script::Hang } else { always_ask(asked) });
    let process = TeamProcess::start(&team, &[]).await;
    team.say("general", "vince, what now?").await;
    eventually("half of it is used up", || async { team.model.count() == 7 }).await;
    process.kill();
    let _process = TeamProcess::start(&team, &[]).await;
    expect(&team, "No answer this time: it took more than the 12 model calls").await;
    assert!(team.model.count() <= 12, "{} model calls", team.model.count());
}
