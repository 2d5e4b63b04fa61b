//! Items in chosen states, and a person who clicks buttons.

use chrono::{DateTime, Utc};
use kernel::chat::outbound::{Button, ButtonStyle, OutboundKind, OutboundMessage};
use kernel::ids::WorkItemId;
use kernel::time::{Clock, SystemClock};
use reqwest::Method;
use serde_json::{Value, json};
use teamroom::features::backlog::model::{Execution, Origin, Owner, WorkItem, WorkStatus};
use teamroom::features::backlog::render::{Announcer, Spot};
use teamroom::store::Store;

use crate::support::team::{TestTeam, eventually};

/// The channel of all tests here.
pub(super) const HERE: &str = "general";

pub(super) fn now() -> DateTime<Utc> {
    SystemClock.now()
}

/// Opens the team's database.
pub(super) async fn open(team: &TestTeam) -> Store {
    Store::open_shared(&team.config.database_url, now()).await.expect("the database opens")
}

/// An item of Vince with this status, on which nobody works.
pub(super) fn item(team: &TestTeam, what: &str, status: WorkStatus) -> WorkItem {
    WorkItem {
        status,
        execution: Some(Execution::Research),
        persona: Some("vince".into()),
        channel: Some(team.channel_id(HERE)),
        ..WorkItem::new(what, Owner::Persona("vince".into()), Origin::CommandLine, now())
    }
}

/// The person who clicks and gives commands.
pub(super) fn person(team: &TestTeam) -> Owner {
    let person = team.sandbox().people().remove(0);
    Owner::Person { id: team.person_id(0), name: person.name }
}

/// Adds an item and a message of Kelly about it. Returns the message's id.
pub(super) async fn post(team: &TestTeam, store: &Store, item: &WorkItem, say: impl FnOnce(&Announcer<'_>) -> OutboundMessage) -> String {
    store.insert_items(std::slice::from_ref(item), now()).await.expect("the item is stored");
    post_about(team, store, say).await
}

/// Posts a message as Kelly. The worker may post the same, but not as Kelly.
pub(super) async fn post_about(team: &TestTeam, store: &Store, say: impl FnOnce(&Announcer<'_>) -> OutboundMessage) -> String {
    let channel = team.channel_id(HERE);
    let message = say(&Announcer { persona: &"kelly".into(), spot: &Spot::Channel(channel.clone()), roster: &team.roster });
    // The text as Discord shows it.
    let text = message.text.replace("<user:discord:", "<@").replace("<small>", "-# ").replace("</small>", "");
    store.enqueue(&[message], now()).await.expect("the message is stored");
    let find = || async { team.answers(HERE).await.into_iter().rfind(|shown| shown.author == "Kelly" && shown.text == text) };
    eventually("the message is posted", || async { find().await.is_some() }).await;
    find().await.expect("it is posted").raw["id"].as_str().expect("an id").to_owned()
}

/// Clicks a button of a newly posted message, because clients cannot click a button that a message does not have.
pub(super) async fn press_posted(team: &TestTeam, store: &Store, button: &str) -> Value {
    let message = post_about(team, store, |voice| {
        let asked = OutboundMessage::new(voice.persona, &team.channel_id(HERE), OutboundKind::Notice, format!("Once more: {}", now()));
        OutboundMessage { buttons: vec![Button { id: button.to_owned(), label: "Press".to_owned(), style: ButtonStyle::Primary }], ..asked }
    })
    .await;
    press(team, &message, button).await
}

/// Clicks the button with this label. Returns the answer.
pub(super) async fn press(team: &TestTeam, message: &str, button: &str) -> Value {
    let before: Vec<Value> = team.history(HERE).await.into_iter().map(|shown| shown.raw["id"].clone()).collect();
    let body = json!({ "type": 3, "application_id": team.account("kelly"), "guild_id": team.sandbox().guild_id(),
        "channel_id": team.channel(HERE), "message_id": message, "session_id": "s", "nonce": "1",
        "data": { "component_type": 2, "custom_id": button } });
    team.call(Method::POST, "/interactions", Some(body)).await;
    let answer = || async {
        let history = team.history(HERE).await.into_iter();
        history.map(|shown| shown.raw).find(|raw| !before.contains(&raw["id"]) && raw["message_reference"]["message_id"] == message)
    };
    eventually("the press is answered", || async { answer().await.is_some() }).await;
    answer().await.expect("an answer")
}

/// Whether a message still has buttons.
pub(super) async fn has_buttons(team: &TestTeam, message: &str) -> bool {
    let shown = team.history(HERE).await.into_iter().find(|shown| shown.raw["id"] == message).expect("it is there");
    shown.raw["components"].as_array().is_some_and(|rows| !rows.is_empty())
}

pub(super) async fn read(store: &Store, id: &WorkItemId) -> WorkItem {
    store.find_item(id).await.expect("the store answers").expect("it is there")
}
