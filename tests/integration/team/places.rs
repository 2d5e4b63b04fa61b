//! Messages for threads and edits: delivered in order and once, despite deletions and crashes.

use std::time::Duration;

use kernel::chat::outbound::{Button, ButtonStyle, Card, OutboundKind, OutboundMessage, Placement};
use kernel::ids::OutboxId;
use kernel::llm::settings::ProviderKind;
use sandbox::{RestFault, Switch};
use serde_json::Value;
use teamroom::store::Store;

use crate::support::database::count;
use crate::support::model::Script;
use crate::support::process::TeamProcess;
use crate::support::team::{Backing, TestTeam, Wanted, eventually, on_both_stores, on_one_store};

on_both_stores!(
    a_thread_that_began_while_nobody_was_connected_is_read,
    killed_after_the_platform_took_a_post_in_a_thread,
    killed_after_the_platform_took_a_revision,
);
on_one_store!(
    rows_of_all_places_are_delivered_in_order,
    what_has_no_place_any_more_is_said_in_the_channel,
    no_secret_leaves_in_any_part_of_a_message,
    the_name_of_a_thread_is_plain_text_with_names_in_place_of_ids,
    a_person_in_a_thread_on_a_personas_message_is_answered_by_that_persona,
);

async fn quiet(backing: Backing) -> TestTeam {
    let team = Wanted::on(backing).model(ProviderKind::OpenAi).tokens(|slug| slug != "oracle").without_app().start().await;
    team.model.on(|asked| Script::say(format!("answer to {}", asked.last_word())));
    team
}

fn row(team: &TestTeam, persona: &str, text: &str, place: Placement) -> OutboundMessage {
    let channel = team.channel_id("general");
    OutboundMessage { place, ..OutboundMessage::new(&persona.into(), &channel, OutboundKind::Answer, text) }
}

fn in_thread(on: &OutboundMessage) -> Placement {
    Placement::Thread { on: on.id.clone(), name: "Day Report".to_owned() }
}

fn instead_of(of: &OutboundMessage) -> Placement {
    Placement::Revision { of: of.id.clone() }
}

/// Writes rows into the outbox while the team is stopped.
async fn leave(team: &TestTeam, rows: &[&OutboundMessage]) {
    let now = team.clock.now();
    let store = Store::open(&team.config.database_url, now).await.expect("the store opens");
    let rows: Vec<_> = rows.iter().map(|row| (*row).clone()).collect();
    store.enqueue(&rows, now).await.expect("rows are stored");
    store.close().await;
}

async fn texts(team: &TestTeam, channel: &str) -> Vec<String> {
    let listed = team.call(reqwest::Method::GET, &format!("/channels/{channel}/messages?limit=100"), None).await;
    let spoken = |message: &&Value| matches!(message["type"].as_u64(), Some(0 | 19));
    let mut texts: Vec<_> =
        listed.as_array().expect("a list").iter().filter(spoken).map(|message| message["content"].to_string()).collect();
    texts.reverse();
    texts.iter().map(|text| text.trim_matches('"').to_owned()).collect()
}

/// Sorted, because messages of different personas may come in any order.
async fn general(team: &TestTeam) -> Vec<String> {
    let mut texts = texts(team, &team.channel("general")).await;
    texts.sort_unstable();
    texts
}

/// The thread's id, which equals its message's.
async fn thread_on(team: &TestTeam, text: &str) -> Option<String> {
    let found = team.history("general").await.into_iter().find(|shown| shown.text == text)?;
    found.raw["thread"]["id"].as_str().map(str::to_owned)
}

async fn delete(team: &TestTeam, text: &str) {
    let found = team.history("general").await.into_iter().find(|shown| shown.text == text).expect("it is there");
    let path = format!("/channels/{}/messages/{}", team.channel("general"), found.raw["id"].as_str().expect("an id"));
    team.call(reqwest::Method::DELETE, &path, None).await;
}

async fn rows_of_all_places_are_delivered_in_order(backing: Backing) {
    let mut team = quiet(backing).await;
    let report = row(&team, "kelly", "report", Placement::Channel);
    let aside = row(&team, "vince", "by Vince", in_thread(&report));
    // Oracle has no token and uses a webhook.
    let mute = row(&team, "oracle", "by Oracle", in_thread(&report));
    let first = row(&team, "kelly", "report, revised", instead_of(&report));
    let inner = row(&team, "oracle", "by Oracle, revised", instead_of(&mute));
    let second = row(&team, "kelly", "report, revised twice", instead_of(&report));
    let end = row(&team, "echo", "the end", Placement::Channel);
    leave(&team, &[&report, &aside, &mute, &first, &inner, &second, &end]).await;
    team.start_app().await;
    team.settle().await;
    assert_eq!(general(&team).await, ["report, revised twice", "the end"]);
    let thread = thread_on(&team, "report, revised twice").await.expect("a thread");
    let mut inside = texts(&team, &thread).await;
    inside.sort_unstable();
    assert_eq!(inside, ["by Oracle, revised", "by Vince"]);
}

async fn what_has_no_place_any_more_is_said_in_the_channel(backing: Backing) {
    let mut team = quiet(backing).await;
    let report = row(&team, "kelly", "report", Placement::Channel);
    leave(&team, &[&report]).await;
    team.start_app().await;
    team.settle().await;
    delete(&team, "report").await;
    team.settle().await;
    team.stop_app().await;
    let never: OutboxId = "never".into();
    let rows = [
        row(&team, "vince", "no thread", in_thread(&report)),
        row(&team, "vince", "no original", Placement::Revision { of: never.clone() }),
        row(&team, "vince", "no starter", Placement::Thread { on: never, name: "Nothing".to_owned() }),
        row(&team, "kelly", "report, again", instead_of(&report)),
        row(&team, "kelly", "report, revised", instead_of(&report)),
        row(&team, "vince", "a thread after all", in_thread(&report)),
    ];
    leave(&team, &rows.iter().collect::<Vec<_>>()).await;
    team.start_app().await;
    team.settle().await;
    assert_eq!(general(&team).await, ["no original", "no starter", "no thread", "report, revised"]);
    let thread = thread_on(&team, "report, revised").await.expect("a thread");
    assert_eq!(texts(&team, &thread).await, ["a thread after all"]);
}

async fn no_secret_leaves_in_any_part_of_a_message(backing: Backing) {
    let mut team = quiet(backing).await;
    let key = "sk-scripted-0123456789abcdef";
    let report = OutboundMessage {
        card: Some(Card { title: format!("Report {key}"), ..Card::default() }),
        buttons: vec![Button { id: "b".to_owned(), label: key.to_owned(), style: ButtonStyle::Primary }],
        ..row(&team, "kelly", "report", Placement::Channel)
    };
    let inside = row(&team, "vince", "inside", Placement::Thread { on: report.id.clone(), name: format!("All of {key}") });
    leave(&team, &[&report, &inside]).await;
    team.start_app().await;
    team.settle().await;
    let shown = team.history("general").await[0].raw.clone();
    assert_eq!((&shown["embeds"][0]["title"], &shown["thread"]["name"]), (&"Report [redacted]".into(), &"All of [redacted]".into()));
    assert!(!shown.to_string().contains(key));
}

async fn the_name_of_a_thread_is_plain_text_with_names_in_place_of_ids(backing: Backing) {
    let mut team = quiet(backing).await;
    team.start_app().await;
    team.settle().await;
    team.stop_app().await;
    let report = row(&team, "kelly", "report", Placement::Channel);
    let (vince, general) = (team.account("vince"), team.channel_id("general"));
    let name = format!("**Should** <user:discord:{vince}> or <user:discord:123456789> `go` to <channel:{general}>?");
    let inside = row(&team, "vince", "inside", Placement::Thread { on: report.id.clone(), name });
    leave(&team, &[&report, &inside]).await;
    team.start_app().await;
    team.settle().await;
    let shown = team.history("general").await[0].raw.clone();
    assert_eq!(shown["thread"]["name"], "Should Vince or member …456789 go to #general?");
}

async fn a_person_in_a_thread_on_a_personas_message_is_answered_by_that_persona(backing: Backing) {
    let mut team = quiet(backing).await;
    let report = row(&team, "vince", "report", Placement::Channel);
    let inside = row(&team, "vince", "it fell by four percent", in_thread(&report));
    leave(&team, &[&report, &inside]).await;
    team.start_app().await;
    team.settle().await;
    let thread = thread_on(&team, "report").await.expect("a thread");
    let path = format!("/channels/{thread}/messages");
    team.call(reqwest::Method::POST, &path, Some(serde_json::json!({ "content": "what now" }))).await;
    eventually("it was answered", || async { texts(&team, &thread).await.len() == 3 }).await;
    let answer = team.call(reqwest::Method::GET, &path, None).await[0].clone();
    assert_eq!(
        (answer["content"].as_str(), answer["author"]["id"].as_str()),
        (Some("answer to now"), Some(team.account("vince").as_str()))
    );
    let asked = team.model.requests().pop().expect("the model was asked").prompt();
    assert!(asked.contains("it fell by four percent"), "what was said in the thread belongs to its context: {asked}");
}

/// Opens a thread on a message of the team and asks in it.
async fn ask_in_thread(team: &TestTeam, on: &str, question: &str) -> String {
    let message = team.history("general").await.into_iter().find(|shown| shown.text == on).expect("it is there").raw["id"].clone();
    let path = format!("/channels/{}/messages/{}/threads", team.channel("general"), message.as_str().expect("an id"));
    let thread = team.call(reqwest::Method::POST, &path, Some(serde_json::json!({ "name": question }))).await;
    let thread = thread["id"].as_str().expect("an id").to_owned();
    team.call(reqwest::Method::POST, &format!("/channels/{thread}/messages"), Some(serde_json::json!({ "content": question }))).await;
    thread
}

async fn a_thread_that_began_while_nobody_was_connected_is_read(backing: Backing) {
    let mut team = quiet(backing).await;
    let (old, report) = (row(&team, "vince", "old report", Placement::Channel), row(&team, "vince", "report", Placement::Channel));
    leave(&team, &[&old, &report]).await;
    team.start_app().await;
    team.settle().await;
    // A thread in which everything was heard stays as it is.
    let heard = ask_in_thread(&team, "old report", "heard").await;
    eventually("it was answered", || async { texts(&team, &heard).await == ["heard", "answer to heard"] }).await;
    team.stop_app().await;
    let missed = ask_in_thread(&team, "report", "missed").await;
    team.start_app().await;
    eventually("it was answered", || async { texts(&team, &missed).await == ["missed", "answer to missed"] }).await;
    // Another start answers nothing again.
    team.stop_app().await;
    team.start_app().await;
    team.settle().await;
    assert_eq!((texts(&team, &heard).await.len(), texts(&team, &missed).await.len()), (2, 2));
}

/// Executes matching calls but drops their answers.
fn lose_answers(team: &TestTeam, method: &str, channel: &str) {
    let path = format!("/channels/{channel}/messages");
    let switch = Switch::Rest { bot: None, method: Some(method.into()), path, times: u32::MAX, with: RestFault::ResetAfter };
    team.sandbox().misbehaviour().set(switch).expect("a switch");
}

async fn post_and_kill(team: &TestTeam, report: &OutboundMessage) {
    leave(team, &[report]).await;
    let process = TeamProcess::start(team, &[]).await;
    eventually("it was posted", || async { !general(team).await.is_empty() }).await;
    eventually("it is stored as sent", || async { count(team, "SELECT COUNT(*) FROM outbox WHERE state = 'pending'").await == 0 }).await;
    process.kill();
}

async fn killed_after_the_platform_took_a_post_in_a_thread(backing: Backing) {
    let team = quiet(backing).await;
    let report = row(&team, "kelly", "report", Placement::Channel);
    post_and_kill(&team, &report).await;
    let id = team.history("general").await[0].raw["id"].as_str().expect("an id").to_owned();
    lose_answers(&team, "POST", &id);
    leave(&team, &[&row(&team, "vince", "inside", in_thread(&report))]).await;
    let process = TeamProcess::start(&team, &[]).await;
    eventually("the thread was opened", || async { thread_on(&team, "report").await.is_some() }).await;
    eventually("it was posted", || async { !texts(&team, &id).await.is_empty() }).await;
    process.kill();
    team.sandbox().misbehaviour().set(Switch::Behave).expect("a switch");
    let _process = TeamProcess::start(&team, &[]).await;
    tokio::time::sleep(Duration::from_millis(1500)).await;
    assert_eq!((texts(&team, &id).await, general(&team).await), (vec!["inside".to_owned()], vec!["report".to_owned()]));
}

async fn killed_after_the_platform_took_a_revision(backing: Backing) {
    let team = quiet(backing).await;
    let report = row(&team, "kelly", "report", Placement::Channel);
    post_and_kill(&team, &report).await;
    lose_answers(&team, "PATCH", &team.channel("general"));
    leave(&team, &[&row(&team, "kelly", "report, revised", instead_of(&report)), &row(&team, "kelly", "the end", Placement::Channel)])
        .await;
    let process = TeamProcess::start(&team, &[]).await;
    eventually("it was revised", || async { general(&team).await == ["report, revised"] }).await;
    process.kill();
    team.sandbox().misbehaviour().set(Switch::Behave).expect("a switch");
    let _process = TeamProcess::start(&team, &[]).await;
    eventually("the row behind it was sent", || async { general(&team).await.len() == 2 }).await;
    tokio::time::sleep(Duration::from_millis(700)).await;
    assert_eq!(general(&team).await, ["report, revised", "the end"]);
}
