//! Identities that are rate-limited, hang or lack permissions: the others continue, no message is lost silently, and people are told.

use kernel::chat::outbound::{OutboundKind, OutboundMessage};
use sandbox::{RestFault, Switch};
use serde_json::json;
use teamroom::store::Store;

use crate::support::command;
use crate::support::team::{Backing, Shown, TestTeam, Wanted, eventually, on_one_store};

on_one_store!(
    an_identity_that_is_limited_holds_up_nobody_and_keeps_its_own_order,
    an_identity_that_gets_no_answer_holds_up_nobody,
    what_is_refused_for_want_of_a_permission_is_told_and_follows_once_it_is_there,
    without_an_ops_channel_the_owner_of_the_server_is_told,
    without_a_token_of_the_coordinator_the_team_works_and_operators_are_told,
);

fn row(team: &TestTeam, persona: &str, text: &str) -> OutboundMessage {
    OutboundMessage::new(&persona.into(), &team.channel_id("general"), OutboundKind::Answer, text)
}

/// Writes rows into the outbox while the team is stopped.
async fn leave(team: &TestTeam, rows: &[OutboundMessage]) {
    let store = Store::open(&team.config.database_url, team.clock.now()).await.expect("the store opens");
    store.enqueue(rows, team.clock.now()).await.expect("rows are stored");
    store.close().await;
}

/// Makes Vince's next posts in #general fail.
fn trouble_vince(team: &TestTeam, with: RestFault) {
    let path = format!("/channels/{}/messages", team.channel("general"));
    let (bot, method) = (Some("vince".to_owned()), Some("POST".to_owned()));
    team.sandbox().misbehaviour().set(Switch::Rest { bot, method, path, times: 1, with }).unwrap();
}

fn deny(team: &TestTeam, channel: &str, permission: &str, on: bool) {
    let (bot, channel, permission) = ("vince".to_owned(), channel.to_owned(), permission.to_owned());
    team.sandbox().misbehaviour().set(Switch::Deny { bot, channel, permission, on }).unwrap();
}

fn texts(shown: &[Shown]) -> Vec<&str> {
    shown.iter().map(|shown| shown.text.as_str()).collect()
}

fn print(what: &str, shown: &[Shown]) {
    for Shown { author, text, .. } in shown {
        println!("{what} | {author}: {text}");
    }
}

async fn an_identity_that_is_limited_holds_up_nobody_and_keeps_its_own_order(backing: Backing) {
    let mut team = Wanted::on(backing).without_app().start().await;
    // Longer than the adapter itself would wait.
    trouble_vince(&team, RestFault::RateLimited { retry_after: 40.0, headers: true, global: false });
    leave(&team, &[row(&team, "vince", "one"), row(&team, "vince", "two"), row(&team, "echo", "three"), row(&team, "kelly", "four")]).await;
    team.start_app().await;
    eventually("the others have spoken", || async { team.answers("general").await.len() >= 2 }).await;
    let first = team.answers("general").await;
    print("while Vince is limited", &first);
    let mut others = texts(&first);
    others.sort_unstable();
    assert_eq!(others, ["four", "three"]);
    eventually("Vince has spoken too", || async { team.answers("general").await.len() == 4 }).await;
    let all = team.answers("general").await;
    print("in the end", &all);
    assert_eq!(texts(&all)[2..], ["one", "two"]);
    team.stop_app().await;
}

async fn an_identity_that_gets_no_answer_holds_up_nobody(backing: Backing) {
    let mut team = Wanted::on(backing).without_app().start().await;
    trouble_vince(&team, RestFault::Hang);
    leave(&team, &[row(&team, "vince", "one"), row(&team, "echo", "two")]).await;
    team.start_app().await;
    eventually("somebody has spoken", || async { !team.answers("general").await.is_empty() }).await;
    assert_eq!(texts(&team.answers("general").await), ["two"], "Vince's call still hangs");
    team.stop_app().await;
}

async fn what_is_refused_for_want_of_a_permission_is_told_and_follows_once_it_is_there(backing: Backing) {
    let mut team = Wanted::on(backing).start().await;
    deny(&team, "general", "SEND_MESSAGES", true);
    team.say("general", "vince, what do you think about our costs?").await;
    eventually("the channel is told", || async { !team.answers("general").await.is_empty() }).await;
    eventually("operators are told", || async { team.answers("ops").await.iter().any(|shown| shown.text.contains("Vince")) }).await;
    let (told, ops) = (team.answers("general").await, team.answers("ops").await);
    print("#general", &told);
    print("#ops", &ops);
    assert!(told[0].author != "Vince" && told[0].text.contains("Vince") && told[0].text.contains("Send Messages"), "{told:?}");
    assert!(told[0].text.contains("24 hours"), "{told:?}");
    let named = |shown: &&Shown| shown.text.contains("#general") && shown.text.contains("Send Messages");
    assert_eq!(ops.iter().filter(named).count(), 1, "{ops:?}");

    let status = command::invoke(&team, "ops", "status", json!([])).await;
    let status = command::text(&status);
    println!("/status | {status}");
    assert!(status.contains("Vince needs \"Send Messages\" in"), "{status}");

    // The second question brings no second report of the missing permission. The held answers survive a restart.
    team.say("general", "vince, and what about our commits?").await;
    team.stop_app().await;
    team.start_app().await;
    deny(&team, "general", "SEND_MESSAGES", false);
    eventually("what was held follows", || async { team.answers("general").await.iter().any(|shown| shown.author == "Vince") }).await;
    eventually("all of it", || async { team.answers("general").await.len() >= 3 }).await;
    team.settle().await;
    let all = team.answers("general").await;
    print("#general, with the permission", &all);
    assert_eq!(all.iter().filter(|shown| shown.author != "Vince").count(), 1, "{all:?}");
    team.stop_app().await;
}

async fn without_an_ops_channel_the_owner_of_the_server_is_told(backing: Backing) {
    let mut team = Wanted::on(backing).configure(|config| config.discord.ops_channel = Some("nowhere".into())).start().await;
    deny(&team, "general", "SEND_MESSAGES", true);
    team.say("general", "vince, what do you think about our costs?").await;
    let direct = json!({ "recipient_id": team.account("kelly") });
    let opened = team.call(reqwest::Method::POST, "/users/@me/channels", Some(direct)).await;
    let path = format!("/channels/{}/messages", opened["id"].as_str().unwrap());
    let read = async || team.call(reqwest::Method::GET, &path, None).await[0]["content"].as_str().unwrap_or_default().to_owned();
    eventually("the owner is told", || async { read().await.contains("Vince") }).await;
    let told = read().await;
    println!("to the owner | {told}");
    assert!(told.contains("#general") && told.contains("Send Messages"), "{told}");
    team.stop_app().await;
}

async fn without_a_token_of_the_coordinator_the_team_works_and_operators_are_told(backing: Backing) {
    let mut team = Wanted::on(backing)
        .configure(|config| {
            config.discord.tokens.insert("kelly".into(), "sandbox.1.wrong".to_owned().into());
            config.server.listen = Some("127.0.0.1:0".parse().unwrap());
        })
        .start()
        .await;
    eventually("operators are told", || async { !team.answers("ops").await.is_empty() }).await;
    let ops = team.answers("ops").await;
    print("#ops", &ops);
    assert!(ops[0].text.contains("DISCORD_TOKEN_KELLY"), "{ops:?}");
    team.say("general", "kelly, what do you think about our costs?").await;
    let answers = team.wait_for_answers("general", 1).await;
    print("#general", &answers);
    assert!(answers[0].raw["webhook_id"].is_string() && answers[0].author == "Kelly", "{answers:?}");
    let ready = reqwest::get(format!("http://{}/readyz", team.app().http.unwrap())).await.unwrap().text().await.unwrap();
    println!("/readyz | {ready}");
    assert!(ready.contains(r#""missing":["kelly"]"#), "{ready}");
    team.stop_app().await;
}
