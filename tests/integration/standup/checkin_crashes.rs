//! `kill -9` around the question before a standup and around its answer: each is stored and sent once.

use chrono::{TimeDelta, Timelike as _};
use reqwest::Method;
use sandbox::{RestFault, Switch};
use serde_json::{Value as Json, json};

use super::aftermath::{CHANNEL, set, team};
use crate::support::database::{allow, count, execute, forbid};
use crate::support::process::TeamProcess;
use crate::support::team::{Backing, TestTeam, eventually, on_both_stores};

on_both_stores!(killed_before_the_question_is_stored, killed_after_the_platform_took_the_question, killed_before_the_answer_is_stored,);

const QUESTION: &str = "What did you do yesterday";

/// A team whose person is asked before a standup in six hours.
async fn asking(backing: Backing) -> TestTeam {
    let team = team(backing).await;
    let at = team.clock.now() + TimeDelta::hours(6);
    set(
        &team,
        &format!("checkin_lead = \"11h\"\n[schedules.standup]\ncron = \"{} {} * * *\"\nchannel = \"{CHANNEL}\"", at.minute(), at.hour()),
    );
    let (channel, person) = (team.channel_id(CHANNEL), team.person_id(0));
    execute(
        &team,
        &format!(
            "INSERT INTO checkin_people (channel, person, name, since) VALUES ('{channel}', '{person}', 'Ann', '2026-01-01T00:00:00+00:00')"
        ),
    )
    .await;
    team
}

async fn conversation(team: &TestTeam) -> String {
    let recipient = json!({ "recipient_id": team.account("kelly") });
    let opened = team.call(Method::POST, "/users/@me/channels", Some(recipient)).await;
    format!("/channels/{}/messages", opened["id"].as_str().expect("an id"))
}

/// The number of the team's messages in the conversation that contain `text`.
async fn told(team: &TestTeam, text: &str) -> usize {
    let all = team.call(Method::GET, &conversation(team).await, None).await;
    let is_it = |raw: &&Json| raw["author"]["bot"] == json!(true) && raw["content"].as_str().is_some_and(|said| said.contains(text));
    all.as_array().expect("a list").iter().filter(is_it).count()
}

/// Waits until the team has posted `text`, and a little longer for duplicates.
async fn expect_once(team: &TestTeam, text: &str) {
    eventually("it is told", || async { told(team, text).await > 0 }).await;
    tokio::time::sleep(std::time::Duration::from_millis(700)).await;
    assert_eq!(told(team, text).await, 1, "{text}");
}

async fn killed_before_the_question_is_stored(backing: Backing) {
    let team = asking(backing).await;
    for (change, when) in [("INSERT ON checkins", "NEW.name = 'Ann'"), ("INSERT ON outbox", "NEW.message LIKE '%What did you do%'")] {
        forbid(&team, "wall", change, when).await;
        let log = team.path("team.log");
        let process = TeamProcess::spawn_logging(&team, &log);
        let stands = || std::fs::read_to_string(&log).is_ok_and(|log| log.contains("the schedule cannot be looked through"));
        eventually("it stands before the wall", || async { stands() }).await;
        process.kill();
        allow(&team, "wall").await;
        assert_eq!(count(&team, "SELECT COUNT(*) FROM checkins").await, 0, "{change}");
    }
    let process = TeamProcess::start(&team, &[]).await;
    expect_once(&team, QUESTION).await;
    process.kill();
    let _process = TeamProcess::start(&team, &[]).await;
    expect_once(&team, QUESTION).await;
}

async fn killed_after_the_platform_took_the_question(backing: Backing) {
    let team = asking(backing).await;
    let path = conversation(&team).await;
    let switch =
        Switch::Rest { bot: Some("kelly".into()), method: Some("POST".into()), path, times: u32::MAX, with: RestFault::ResetAfter };
    team.sandbox().misbehaviour().set(switch).expect("a switch");
    let process = TeamProcess::start(&team, &[]).await;
    eventually("it is told", || async { told(&team, QUESTION).await > 0 }).await;
    process.kill();
    team.sandbox().misbehaviour().set(Switch::Behave).expect("a switch");
    // Her answer comes while no process runs, and is read after the start.
    team.call(Method::POST, &conversation(&team).await, Some(json!({ "content": "The import is done." }))).await;
    let _process = TeamProcess::start(&team, &[]).await;
    eventually("it is stored", || async { count(&team, "SELECT COUNT(*) FROM checkin_replies").await == 1 }).await;
    expect_once(&team, "Thanks, noted").await;
    expect_once(&team, QUESTION).await;
}

async fn killed_before_the_answer_is_stored(backing: Backing) {
    let team = asking(backing).await;
    let process = TeamProcess::start(&team, &[]).await;
    expect_once(&team, QUESTION).await;
    forbid(&team, "wall", "INSERT ON checkin_replies", "NEW.day IS NOT NULL").await;
    team.call(Method::POST, &conversation(&team).await, Some(json!({ "content": "The import is done." }))).await;
    eventually("it is claimed", || async { count(&team, "SELECT COUNT(*) FROM inbox").await == 1 }).await;
    tokio::time::sleep(std::time::Duration::from_millis(300)).await;
    process.kill();
    allow(&team, "wall").await;
    let _process = TeamProcess::start(&team, &[]).await;
    expect_once(&team, "Thanks, noted").await;
    assert_eq!(count(&team, "SELECT COUNT(*) FROM checkin_replies").await, 1);
}
