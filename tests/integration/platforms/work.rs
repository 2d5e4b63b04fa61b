//! What the team does for people: items, reminders, a standup, a mission. Discord is left out where a story of the feature runs on it anyway.

use std::collections::BTreeSet;
use std::time::Duration;

use kernel::time::{Clock as _, SystemClock};
use teamroom::config::Config;
use teamroom::features::backlog::model::WorkStatus;
use teamroom::features::backlog::settings::BacklogSettings;
use teamroom::features::backlog::store::ItemFilter;
use teamroom::store::Store;

use super::room::{Place, Platform, story};
use crate::mission::stage::{Play, ROADMAP};
use crate::standup::change;
use crate::support::team::eventually;

story!(a_person_is_reminded_of_an_item_and_its_end_is_announced: discord, slack, corner);
story!(an_item_is_worked_off_judged_and_announced: slack, corner);
story!(a_reminder_mentions_its_person: slack, corner);
story!(a_standup_has_everybody_speak_once_and_ends_with_its_report: slack, corner);
story!(a_document_becomes_a_mission_and_is_delivered: slack);

async fn open_store(config: &Config) -> Store {
    Store::open_shared(&config.database_url, SystemClock.now()).await.expect("the store opens")
}

async fn a_person_is_reminded_of_an_item_and_its_end_is_announced(place: Place) {
    let room = place.offline().await;
    let added = room.run("general", "backlog add", &[("what", "Sign the contract"), ("owner", "me")]).await;
    assert!(added.contains("Sign the contract"), "{added}");
    let reminder = room.hears("general", |post| post.text.contains("Reminder for")).await;
    assert!(reminder.text.contains(&format!("Reminder for {}", room.ann())), "{reminder:#?}");
    let store = open_store(room.config()).await;
    eventually("the item waits for the answer", || async {
        let items = store.list_items(&ItemFilter::open(10)).await.expect("the store answers");
        items.iter().any(|item| item.status == WorkStatus::Waiting)
    })
    .await;
    store.close().await;
    room.press("general", &reminder, "Done").await;
    let told = room.hears("general", |post| post.text.starts_with('✔')).await;
    assert!(told.text.contains("Sign the contract"), "{told:#?}");
    let posts = room.settled("general").await;
    let shown = posts.iter().find(|post| post.text.contains("Reminder for")).expect("it is still there");
    assert!(shown.buttons.is_empty(), "the question is decided: {shown:#?}");
    room.stop().await;
}

async fn an_item_is_worked_off_judged_and_announced(place: Place) {
    let room = place.with_model().await;
    Play::default().answer_for(room.model());
    let added = room.run("general", "backlog add", &[("what", "Write up the prices"), ("owner", "eliza")]).await;
    assert!(added.contains("Write up the prices"), "{added}");
    let told = room.hears("general", |post| post.text.starts_with('✔')).await;
    assert!(told.text.contains("Eliza: Write up the prices") && told.files == ["result.md"], "{told:#?}");
    let posts = room.settled("general").await;
    assert_eq!(posts.iter().filter(|post| post.text.starts_with('✔')).count(), 1, "{posts:#?}");
    room.stop().await;
}

async fn a_reminder_mentions_its_person(place: Place) {
    let room = place.offline().await;
    room.say("general", &format!("kelly, remind {} in 1 second to stretch", room.ann())).await;
    room.hears("general", |post| post.text.contains("remind you")).await;
    let told = room.hears("general", |post| post.text.starts_with("Reminder for")).await;
    assert_eq!(told.text.lines().next(), Some(format!("Reminder for {}: stretch", room.ann()).as_str()));
    room.press("general", &told, "Snooze 1 h").await;
    eventually("the reminder says that it waits", || async {
        room.posts("general").await.iter().any(|post| post.text.contains("stretch") && post.buttons.is_empty())
    })
    .await;
    let posts = room.settled("general").await;
    assert_eq!(posts.iter().filter(|post| post.text.starts_with("Reminder for")).count(), 1, "{posts:#?}");
    room.stop().await;
}

async fn a_standup_has_everybody_speak_once_and_ends_with_its_report(place: Place) {
    let room = place.open(false, |config| change(config, |standup| standup.pause = Duration::ZERO)).await;
    room.say("daily-standup", "let's do a new standup kelly").await;
    room.hears("daily-standup", |post| post.text.contains("Day Report")).await;
    let posts = room.settled("daily-standup").await;
    let speakers: BTreeSet<_> = posts.iter().map(|post| post.by.as_str()).collect();
    assert!(speakers.len() >= 6, "each speaks for itself: {speakers:?}");
    let reports = posts.iter().filter(|post| !post.in_thread && post.text.contains("Day Report ·")).count();
    assert!(reports <= 1, "{posts:#?}");
    let in_threads = posts.iter().filter(|post| post.in_thread).count();
    assert_eq!(in_threads > 0, place.platform != Platform::Corner, "what is long stands in threads, where there are any: {posts:#?}");
    assert!(posts.iter().all(|post| !post.text.contains("<small>")), "{posts:#?}");
    room.say("daily-standup", "thanks, all done").await;
    room.settled("daily-standup").await;
    room.stop().await;
}

/// Runs the backlog every second.
fn hasten(config: &mut Config) {
    let settings = BacklogSettings { every: Duration::from_secs(1), parallel: 8, ..config.backlog.clone() };
    config.backlog = settings;
}

async fn a_document_becomes_a_mission_and_is_delivered(place: Place) {
    let room = place.open(true, hasten).await;
    Play::default().answer_for(room.model());
    room.upload("general", "roadmap.md", ROADMAP, "kelly, please build this").await;
    let opening = room.hears("general", |post| post.text.contains("I take this as a mission")).await;
    assert!(opening.by == "Kelly" && opening.text.contains("Tea shop") && opening.text.contains("10 parts of"), "{opening:#?}");
    let delivery = room.hears("general", |post| post.text.contains("is done. 3 of 3 steps done")).await;
    assert!(delivery.text.contains("8 of 10 parts of the directive served; not:"), "{delivery:#?}");
    assert_eq!(delivery.files, ["coverage.md", "result.md", "result-2.md", "result-3.md"]);
    let posts = room.settled("general").await;
    let plan = posts.iter().find(|post| post.files.contains(&"plan.md".to_owned())).expect("the plan");
    assert!(plan.in_thread && plan.text.contains("Describe the cart: Eliza"), "{plan:#?}");
    assert_eq!(posts.iter().filter(|post| post.in_thread && post.text.starts_with('✔')).count(), 3, "{posts:#?}");
    assert_eq!(posts.iter().filter(|post| post.text.contains('▰')).count(), 1, "one line of progress, edited: {posts:#?}");
    room.stop().await;
}
