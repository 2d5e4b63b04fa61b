//! People's messages reach the team once, complete, and with the right channel.

use std::time::Instant;

use kernel::chat::PlatformEvent;
use kernel::chat::message::{AuthorKind, Place};
use sandbox::Switch;
use serde_json::json;

use super::stage::{PATIENCE, Setting, Stage, ours};

#[tokio::test(flavor = "multi_thread")]
async fn all_identities_are_ready_within_a_second() {
    let began = Instant::now();
    let mut stage = Setting::new().open().await;
    stage.all_ready().await;
    let took = began.elapsed();
    assert!(took.as_millis() < 1000, "it took {took:?}");
    println!("seven identities ready after {took:?}");
    stage.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_that_seven_identities_see_is_delivered_once() {
    let mut stage = Stage::ready().await;
    let general = stage.channel("general");
    let mut said = vec![];
    for n in 0..20 {
        said.push(stage.say(&general, &format!("message {n}")).await);
    }
    let mut heard = vec![];
    for _ in 0..20 {
        heard.push(stage.events.message().await);
    }
    assert_eq!(heard.iter().map(|message| message.id.bare().to_owned()).collect::<Vec<_>>(), said);
    let first = &heard[0];
    assert_eq!((first.text.as_str(), &first.author.kind, first.complete), ("message 0", &AuthorKind::Person, true));
    assert_eq!((first.channel.name.as_str(), &first.channel.place), ("general", &Place::Server));
    // A deletion comes after everything else, so late duplicates have arrived by then.
    stage.person("DELETE", &format!("/channels/{general}/messages/{}", said[0]), serde_json::Value::Null).await;
    stage.events.next(|event| matches!(event, PlatformEvent::Deleted { .. })).await;
    let again = stage.events.drain();
    assert!(!again.iter().any(|event| matches!(event, PlatformEvent::Message(_))), "{again:?}");
    stage.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_full_version_of_a_message_wins_over_the_withheld_one() {
    let mut stage = Stage::ready().await;
    let general = stage.channel("general");
    // Switched off after login, so that no login is refused. One identity keeps the intent and receives the message last.
    for slug in ["kelly", "echo", "eliza", "oracle", "sentinel", "solus"] {
        stage.misbehave(Switch::ContentIntent { bot: slug.to_owned(), on: false });
    }
    stage.misbehave(Switch::Frames { bot: Some("vince".to_owned()), delay_ms: 150, duplicate: 0.0, reorder: 0.0, reorder_ms: 0 });
    let id = stage.say(&general, "can anybody read this?").await;
    let withheld = stage.events.message().await;
    assert_eq!((withheld.id.bare(), withheld.text.as_str(), withheld.complete), (id.as_str(), "", false));
    let full = stage.events.message().await;
    assert_eq!((full.id.bare(), full.text.as_str(), full.complete), (id.as_str(), "can anybody read this?", true));
    assert_eq!(full.seen_by.as_str(), "vince");
    stage.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_identity_from_which_all_text_is_withheld_says_so_once() {
    let mut stage = Stage::ready().await;
    let general = stage.channel("general");
    stage.misbehave(Switch::ContentIntent { bot: "vince".to_owned(), on: false });
    for n in 0..25 {
        stage.say(&general, &format!("{n}")).await;
    }
    let (persona, told) = stage.events.trouble().await;
    assert_eq!(persona.as_str(), "vince");
    assert!(told.contains("Message Content Intent"), "{told}");
    assert!(!stage.events.drain().iter().any(|event| matches!(event, PlatformEvent::Trouble { .. })));
    stage.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn duplicated_and_reordered_frames_are_delivered_once() {
    let mut stage = Stage::ready().await;
    stage.misbehave(Switch::Seed { seed: 7 });
    stage.misbehave(Switch::Frames { bot: None, delay_ms: 0, duplicate: 0.5, reorder: 0.3, reorder_ms: 100 });
    let general = stage.channel("general");
    let mut said = vec![];
    for n in 0..30 {
        said.push(stage.say(&general, &format!("message {n}")).await);
    }
    let mut heard: Vec<String> = vec![];
    for _ in 0..30 {
        heard.push(stage.events.message().await.id.bare().to_owned());
    }
    heard.sort();
    assert_eq!(heard, said);
    tokio::time::sleep(std::time::Duration::from_millis(300)).await;
    assert!(stage.events.drain().iter().all(|event| !matches!(event, PlatformEvent::Message(_))));
    stage.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_edit_is_told_once_and_a_deletion_too() {
    let mut stage = Stage::ready().await;
    let general = stage.channel("general");
    let id = stage.say(&general, "helo").await;
    stage.events.message().await;
    stage.person("PATCH", &format!("/channels/{general}/messages/{id}"), json!({ "content": "hello" })).await;
    match stage.events.next(|event| matches!(event, PlatformEvent::Edited { .. })).await {
        PlatformEvent::Edited { message, text, .. } => assert_eq!((message.bare(), text.as_deref()), (id.as_str(), Some("hello"))),
        other => panic!("{other:?}"),
    }
    stage.person("DELETE", &format!("/channels/{general}/messages/{id}"), serde_json::Value::Null).await;
    match stage.events.next(|event| matches!(event, PlatformEvent::Deleted { .. })).await {
        PlatformEvent::Deleted { messages, .. } => assert_eq!(messages, [ours(&id)]),
        other => panic!("{other:?}"),
    }
    let mut rest = stage.events.drain();
    rest.retain(|event| !matches!(event, PlatformEvent::PermissionsChanged));
    assert!(rest.is_empty(), "{rest:?}");
    stage.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_thread_is_known_by_its_parent_and_owner_and_a_direct_message_by_whom_it_is_for() {
    let mut stage = Stage::ready().await;
    let general = stage.channel("general");
    let thread = stage.person("POST", &format!("/channels/{general}/threads"), json!({ "name": "plan", "type": 11 })).await;
    let thread_id = thread["id"].as_str().unwrap();
    stage.say(thread_id, "inside").await;
    let inside = loop {
        let message = stage.events.message().await;
        if message.text == "inside" {
            break message;
        }
        assert_eq!(message.author.kind, AuthorKind::System, "{message:?}");
    };
    let person = stage.sandbox.people()[0].id.clone();
    let starter = Some(thread_id.to_owned()).map(|id| ours(&id));
    let place = Place::Thread { parent: ours(&general), parent_name: "general".to_owned(), owner: Some(ours(&person)), starter };
    assert_eq!((inside.channel.name.as_str(), inside.channel.place), ("plan", place));

    let direct = stage.direct("vince").await;
    stage.say(&direct, "just you").await;
    let private = stage.events.message().await;
    assert_eq!((private.channel.place, private.seen_by.as_str(), private.text.as_str()), (Place::Direct, "vince", "just you"));
    stage.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn servers_that_are_not_allowed_are_not_heard() {
    let mut setting = Setting::new();
    setting.adapt = Box::new(|settings| settings.allowed_guilds = vec!["4242".to_owned()]);
    let mut stage = setting.open().await;
    stage.all_ready().await;
    let general = stage.channel("general");
    stage.say(&general, "nobody hears this").await;
    let direct = stage.direct("echo").await;
    stage.say(&direct, "but this").await;
    let heard = tokio::time::timeout(PATIENCE, stage.events.message()).await.unwrap();
    assert_eq!(heard.text, "but this");
    stage.close().await;
}
