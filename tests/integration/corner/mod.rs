//! The stories of chat and backlog on a platform that is unlike Discord.

use chrono::TimeDelta;
use kernel::chat::message::Place;
use kernel::chat::outbound::{OutboundKind, OutboundMessage};
use kernel::time::{Clock as _, SystemClock};
use teamroom::features::backlog::model::WorkStatus;
use teamroom::features::backlog::store::ItemFilter;
use teamroom::store::Store;

use crate::support::corner::{CornerTeam, LIMIT};
use crate::support::model::Script;
use crate::support::team::{Backing, eventually, on_both_stores};

on_both_stores!(
    a_mentioned_persona_answers_once,
    a_long_answer_is_split_within_the_limit_and_nothing_is_lost,
    a_very_long_answer_goes_along_as_a_file,
    an_item_is_reminded_of_and_its_end_is_announced,
    a_direct_message_opens_its_conversation,
);

async fn a_mentioned_persona_answers_once(backing: Backing) {
    let team = CornerTeam::start(backing, true).await;
    team.model.on(|_| Script::say("**Two** of them, {not a mention}."));
    team.say("general", "{vince} how many are there?").await;
    team.wait_for("general", |note| !note.text.is_empty()).await;
    let notes = team.settled("general").await;
    assert_eq!(notes.len(), 1, "{notes:#?}");
    assert_eq!((notes[0].author.as_str(), notes[0].text.as_str()), ("vince", "'''Two''' of them, {not a mention}."));
    let asked = team.model.requests().remove(0);
    assert!(asked.prompt().contains("how many are there?"));
    team.say("general", "@here I told my sister about the weekend.").await;
    assert_eq!(team.settled("general").await.len(), 1, "talk among people is left alone");
    let store = Store::open_shared(&team.config.database_url, SystemClock.now()).await.unwrap();
    let identities = store.list_identities().await.unwrap();
    assert!(identities.iter().all(|identity| identity.platform == "corner" && identity.account.as_str().starts_with("corner:")));
    store.close().await;
    team.stop().await;
}

async fn a_long_answer_is_split_within_the_limit_and_nothing_is_lost(backing: Backing) {
    let team = CornerTeam::start(backing, true).await;
    let words: Vec<String> = (0..260).map(|number| format!("**w{number}**")).collect();
    let answer = words.join(" ");
    team.model.on(move |_| Script::say(&answer));
    team.say("general", "vince, all of them please?").await;
    team.wait_for("general", |note| note.text.contains("w259")).await;
    let notes = team.settled("general").await;
    assert!(notes.len() > 4 && notes.iter().all(|note| note.text.chars().count() <= LIMIT), "{notes:#?}");
    let text = notes.iter().map(|note| note.text.as_str()).collect::<Vec<_>>().join(" ");
    assert!(words.iter().all(|word| text.contains(&word.replace("**", "'''"))), "{text}");
    team.stop().await;
}

async fn a_very_long_answer_goes_along_as_a_file(backing: Backing) {
    let team = CornerTeam::start(backing, true).await;
    team.model.on(|_| Script::say("And so on. ".repeat(900)));
    team.say("general", "vince, all of it please?").await;
    let note = team.wait_for("general", |note| !note.files.is_empty()).await;
    assert!(note.text.chars().count() <= LIMIT && note.text.contains("is in the file"), "{note:#?}");
    team.stop().await;
}

async fn an_item_is_reminded_of_and_its_end_is_announced(backing: Backing) {
    let team = CornerTeam::start(backing, false).await;
    let added = team.run("general", "backlog add", &[("what", "Sign the contract"), ("owner", "me")]).await;
    assert!(added.text.contains("Sign the contract"), "{added:#?}");
    let reminder = team.wait_for("general", |note| note.text.contains("Reminder for")).await;
    assert!(reminder.text.contains("Reminder for {ann}") && reminder.pings == ["corner:ann".into()], "{reminder:#?}");
    let store = Store::open_shared(&team.config.database_url, SystemClock.now()).await.unwrap();
    eventually("the item waits for the answer", || async {
        let items = store.list_items(&ItemFilter::open(10)).await.unwrap();
        items.iter().any(|item| item.status == WorkStatus::Waiting)
    })
    .await;
    store.close().await;
    let noted = team.press(&reminder, "Done").await;
    assert!(noted.text.contains("Noted: done") && noted.ephemeral, "{noted:#?}");
    let told = team.wait_for("general", |note| note.text.starts_with('✔')).await;
    assert!(told.text.contains("Sign the contract"), "{told:#?}");
    let shown = team.notes("general").into_iter().find(|note| note.id == reminder.id).unwrap();
    assert!(shown.buttons.is_empty(), "the question is decided");
    let again = team.press(&reminder, "Done").await;
    assert!(again.text.contains("is already done"), "{again:#?}");
    team.stop().await;
}

async fn a_direct_message_opens_its_conversation(backing: Backing) {
    let team = CornerTeam::start(backing, false).await;
    let store = Store::open_shared(&team.config.database_url, SystemClock.now()).await.unwrap();
    let now = SystemClock.now();
    let direct = |text: &str| OutboundMessage::direct(&"kelly".into(), &"corner:ann".into(), OutboundKind::Report, text);
    let outdated = OutboundMessage { until: Some(now - TimeDelta::minutes(1)), ..direct("too late") };
    store.enqueue(&[outdated, direct("How is it going?")], now).await.unwrap();
    let note = team.wait_for("direct-kelly-ann", |note| note.text == "How is it going?").await;
    assert_eq!(note.author.as_str(), "kelly");
    assert_eq!(team.settled("direct-kelly-ann").await.len(), 1, "what is outdated is not sent");
    let seen = store.list_channels().await.unwrap();
    assert!(
        seen.iter().any(|seen| seen.channel.id.as_str() == "corner:direct-kelly-ann" && seen.channel.place == Place::Direct),
        "{seen:?}"
    );
    store.close().await;
    team.stop().await;
}
