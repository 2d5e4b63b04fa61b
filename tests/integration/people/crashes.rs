//! `kill -9` around each stored step of asking a person, of reminding them, and of taking their answer: each happens once.

use std::time::Duration;

use chrono::TimeDelta;
use kernel::time::SystemClock;
use serde_json::json;
use teamroom::features::backlog::model::{Evidence, Execution, Origin, Owner, WorkItem, WorkStatus};
use teamroom::store::Store;

use super::stage::{ANN, HERE, gives, item, press_as, quiet, says, told_ann};
use crate::support::database::{allow, count, execute, forbid};
use crate::support::process::TeamProcess;
use crate::support::team::{Backing, TestTeam, eventually, on_both_stores};

on_both_stores!(
    killed_before_and_after_a_person_is_asked,
    killed_before_and_after_a_person_is_reminded,
    killed_before_and_after_a_file_is_taken,
    killed_before_and_after_an_answer_is_confirmed,
    killed_before_and_after_somebody_says_done,
);

/// Settings without a model.
const OFFLINE: &[(&str, &str)] = &[("TEAMROOM_MODEL_URL", ""), ("TEAMROOM_MODEL", "")];

const QUESTION: &str = "What is the invoice number?";

/// A team whose people work at all hours. The question or reminder for Ann is not added yet.
async fn prepared(backing: Backing) -> TestTeam {
    let team = quiet(backing, SystemClock).await;
    let settings = "[backlog]\nevery = \"1s\"\nworking_hours = \"mon-sun 00:00-23:59\"\n[jobs]\ncrash_pause = \"0s\"\n";
    std::fs::write(team.path("teamroom.toml"), settings).unwrap();
    TeamProcess::start(&team, &[]).await.kill();
    team
}

async fn add(team: &TestTeam, is_question: bool) {
    let store = Store::open_shared(&team.config.database_url, team.clock.now()).await.unwrap();
    let ann = Owner::Person { id: team.person_id(ANN), name: "Ann Lee".to_owned() };
    let execution = if is_question { Execution::ask(ann.clone(), QUESTION.to_owned()) } else { Execution::Remind { whom: None } };
    let new = WorkItem::new("Pay the invoice", ann, Origin::CommandLine, team.clock.now());
    let new = WorkItem { execution: Some(execution), channel: Some(team.channel_id(HERE)), ..new };
    store.insert_items(&[new], team.clock.now()).await.unwrap();
    store.close().await;
}

async fn is(team: &TestTeam, status: WorkStatus) {
    eventually(&format!("it is {status:?}"), || async { item(team, team.clock.now()).await.status == status }).await;
}

/// Starts the team and kills it after two seconds.
async fn run_for_a_while(team: &TestTeam) {
    let process = TeamProcess::start(team, &[]).await;
    tokio::time::sleep(Duration::from_secs(2)).await;
    process.kill();
}

/// Waits until Ann has got this many messages, and a little longer for another one.
async fn told(team: &TestTeam, number: usize) {
    eventually("Ann is told", || async { told_ann(team).await.len() >= number }).await;
    tokio::time::sleep(Duration::from_millis(1500)).await;
    assert_eq!(told_ann(team).await.len(), number, "{:#?}", told_ann(team).await);
}

/// Waits until Ann's first message is stored, and a little longer for its effects.
async fn heard(team: &TestTeam) {
    eventually("it is heard", || async { count(team, "SELECT COUNT(*) FROM inbox").await > 0 }).await;
    tokio::time::sleep(Duration::from_secs(1)).await;
}

async fn killed_before_and_after_a_person_is_asked(backing: Backing) {
    let team = prepared(backing).await;
    forbid(&team, "before", "UPDATE OF status ON work_items", "NEW.status = 'waiting'").await;
    add(&team, true).await;
    for _ in 0..2 {
        run_for_a_while(&team).await;
    }
    assert!(told_ann(&team).await.is_empty(), "a question without a wait could be answered too early");
    allow(&team, "before").await;
    forbid(&team, "after", "UPDATE OF state ON outbox", "NEW.state = 'sent'").await;
    let process = TeamProcess::start(&team, &[]).await;
    eventually("the platform has it", || async { !told_ann(&team).await.is_empty() }).await;
    process.kill();
    assert_eq!(count(&team, "SELECT COUNT(*) FROM item_requests WHERE closed_at IS NULL").await, 1);
    allow(&team, "after").await;
    let _process = TeamProcess::start(&team, &[]).await;
    eventually("it is sent", || async { count(&team, "SELECT COUNT(*) FROM outbox WHERE state = 'pending'").await == 0 }).await;
    told(&team, 1).await;
}

async fn killed_before_and_after_a_person_is_reminded(backing: Backing) {
    let team = prepared(backing).await;
    add(&team, true).await;
    let process = TeamProcess::start(&team, &[]).await;
    told(&team, 1).await;
    process.kill();
    // Makes Ann silent for two days, in which the item's job was asleep.
    let asked = (team.clock.now() - TimeDelta::days(2)).to_rfc3339();
    execute(&team, &format!("UPDATE item_requests SET asked_at = '{asked}'")).await;
    execute(&team, "UPDATE jobs SET run_at = created_at, place_from = created_at WHERE kind = 'item.person'").await;
    forbid(&team, "before", "UPDATE OF reminders ON item_requests", "NEW.reminders > OLD.reminders").await;
    for _ in 0..2 {
        run_for_a_while(&team).await;
    }
    assert_eq!(told_ann(&team).await.len(), 1);
    allow(&team, "before").await;
    forbid(&team, "after", "UPDATE OF state ON outbox", "NEW.state = 'sent'").await;
    let process = TeamProcess::start(&team, &[]).await;
    eventually("the platform has it", || async { told_ann(&team).await.len() == 2 }).await;
    process.kill();
    allow(&team, "after").await;
    let _process = TeamProcess::start(&team, &[]).await;
    eventually("it is sent", || async { count(&team, "SELECT COUNT(*) FROM outbox WHERE state = 'pending'").await == 0 }).await;
    told(&team, 2).await;
    assert_eq!(count(&team, "SELECT reminders FROM item_requests").await, 1);
}

async fn killed_before_and_after_a_file_is_taken(backing: Backing) {
    let team = prepared(backing).await;
    add(&team, true).await;
    let process = TeamProcess::start(&team, &[]).await;
    told(&team, 1).await;
    let question = told_ann(&team).await.remove(0);
    // The decision on the reply is stored together with the answer.
    forbid(&team, "before", "UPDATE OF decided_at ON inbox", "NEW.decided_at IS NOT NULL").await;
    gives(&team, ANN, &question, ("invoice.txt", "No. 4711")).await;
    heard(&team).await;
    process.kill();
    assert_eq!(item(&team, team.clock.now()).await.status, WorkStatus::Waiting);
    allow(&team, "before").await;
    forbid(&team, "after", "UPDATE OF status ON work_items", "NEW.status = 'done'").await;
    let process = TeamProcess::start(&team, &[]).await;
    eventually("the answer is stored", || async { !answers(&team).await.is_empty() }).await;
    tokio::time::sleep(Duration::from_millis(500)).await;
    process.kill();
    allow(&team, "after").await;
    let _process = TeamProcess::start(&team, &[]).await;
    is(&team, WorkStatus::Done).await;
    expect_one_end(&team).await;
    assert_eq!(answers(&team).await, ["See invoice.txt"]);
}

/// Without a model a reply in words is not clear: the team asks back, and takes it once the person confirms it.
async fn killed_before_and_after_an_answer_is_confirmed(backing: Backing) {
    let team = prepared(backing).await;
    add(&team, true).await;
    let process = TeamProcess::start(&team, OFFLINE).await;
    told(&team, 1).await;
    let question = told_ann(&team).await.remove(0);
    // The decision on the reply is stored together with the question back.
    forbid(&team, "before", "UPDATE OF decided_at ON inbox", "NEW.decided_at IS NOT NULL").await;
    says(&team, ANN, json!({"content": "4711", "message_reference": {"message_id": question.raw["id"]}})).await;
    heard(&team).await;
    process.kill();
    let asked_back =
        async || team.answers(HERE).await.into_iter().filter(|shown| shown.text.starts_with("Is that the answer")).collect::<Vec<_>>();
    assert!(asked_back().await.is_empty());
    allow(&team, "before").await;
    forbid(&team, "after", "UPDATE OF state ON outbox", "NEW.state = 'sent'").await;
    let process = TeamProcess::start(&team, OFFLINE).await;
    eventually("it is asked back", || async { !asked_back().await.is_empty() }).await;
    process.kill();
    allow(&team, "after").await;
    forbid(&team, "done", "UPDATE OF status ON work_items", "NEW.status = 'done'").await;
    let process = TeamProcess::start(&team, OFFLINE).await;
    eventually("it is sent", || async { count(&team, "SELECT COUNT(*) FROM outbox WHERE state = 'pending'").await == 0 }).await;
    let back = asked_back().await;
    assert_eq!(back.len(), 1, "{back:#?}");
    press_as(&team, ANN, &back[0], "Yes, that's it").await;
    tokio::time::sleep(Duration::from_secs(1)).await;
    process.kill();
    assert_eq!((item(&team, team.clock.now()).await.status, answers(&team).await.len()), (WorkStatus::Waiting, 0));
    allow(&team, "done").await;
    let process = TeamProcess::start(&team, OFFLINE).await;
    press_as(&team, ANN, &back[0], "Yes, that's it").await;
    is(&team, WorkStatus::Done).await;
    process.kill();
    let _process = TeamProcess::start(&team, OFFLINE).await;
    eventually("it is told", || async { count(&team, "SELECT COUNT(*) FROM outbox WHERE state = 'pending'").await == 0 }).await;
    expect_one_end(&team).await;
    assert_eq!(answers(&team).await, ["4711"]);
}

async fn killed_before_and_after_somebody_says_done(backing: Backing) {
    let team = prepared(backing).await;
    add(&team, false).await;
    let process = TeamProcess::start(&team, &[]).await;
    told(&team, 1).await;
    let reminder = told_ann(&team).await.remove(0);
    forbid(&team, "before", "UPDATE OF status ON work_items", "NEW.status = 'done'").await;
    says(&team, ANN, json!({"content": "👍", "message_reference": {"message_id": reminder.raw["id"]}})).await;
    heard(&team).await;
    process.kill();
    allow(&team, "before").await;
    let process = TeamProcess::start(&team, &[]).await;
    is(&team, WorkStatus::Done).await;
    process.kill();
    let _process = TeamProcess::start(&team, &[]).await;
    press_as(&team, ANN, &reminder, "Done").await;
    expect_one_end(&team).await;
    assert_eq!(answers(&team).await, ["done"]);
}

/// Ann's answers in the item's evidence.
async fn answers(team: &TestTeam) -> Vec<String> {
    let found = item(team, team.clock.now()).await.evidence.into_iter();
    found.filter_map(|found| if let Evidence::Answer { text, .. } = found { Some(text) } else { None }).collect()
}

/// Checks that the item's end is told once and nobody chats about the reply. Waits a little longer for duplicates.
async fn expect_one_end(team: &TestTeam) {
    eventually("its end is told", || async { team.answers(HERE).await.iter().any(|shown| shown.text.starts_with('✔')) }).await;
    tokio::time::sleep(Duration::from_millis(1500)).await;
    let said: Vec<_> =
        team.answers(HERE).await.into_iter().map(|shown| shown.text).filter(|text| !text.starts_with("This was already")).collect();
    let ends = said.iter().filter(|text| text.starts_with('✔')).count();
    assert_eq!(ends, 1, "{said:#?}");
}
