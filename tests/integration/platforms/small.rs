//! The needs of a platform with short messages and without threads.

use chrono::TimeDelta;
use kernel::chat::message::Place;
use kernel::chat::outbound::{OutboundKind, OutboundMessage};
use kernel::time::{Clock as _, SystemClock};
use teamroom::store::Store;

use super::corner::{CornerTeam, LIMIT};
use crate::support::model::Script;
use crate::support::team::{Backing, on_one_store};

on_one_store!(
    a_mentioned_persona_answers_once,
    a_long_answer_is_split_within_the_limit_and_nothing_is_lost,
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
