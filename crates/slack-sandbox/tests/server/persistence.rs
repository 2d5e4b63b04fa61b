//! A workspace that is started again in its folder.

use std::path::Path;

use serde_json::{Value, json};
use slack_sandbox::{SandboxError, StateError, Workspace};

use super::harness::{World, start_with};

async fn start_in(dir: &Path, reset: bool) -> World {
    start_with(|options| {
        options.dir = Some(dir.to_owned());
        options.reset = reset;
    })
    .await
}

fn seen(world: &World) -> (Vec<Value>, Value) {
    let mut info = world.slack.info();
    // The port differs after a restart.
    for field in ["page", "api"] {
        info[field] = Value::Null;
    }
    let mut messages = world.ann().messages(&world.general);
    for message in &mut messages {
        for field in ["files", "bot_profile"] {
            message[field] = Value::Null;
        }
    }
    (messages, info)
}

#[tokio::test]
async fn conversations_and_tokens_outlive_a_restart() {
    let dir = tempfile::tempdir().expect("a folder");
    let world = start_in(dir.path(), false).await;
    let (ann, kelly) = (world.ann(), world.kelly());
    let ts = ann.say(&world.general, "hello").expect("posted");
    ann.edit(&world.general, &ts, "hello all").expect("edited");
    ann.react(&world.general, &ts, "tada").expect("reacted");
    ann.reply(&world.general, &ts, "a reply").expect("posted");
    let gone = ann.say(&world.general, "gone").expect("posted");
    ann.delete(&world.general, &gone).expect("deleted");
    ann.upload(&world.general, None, "notes.txt", "all is well", "see").expect("uploaded");
    let custom = json!({ "channel": world.general, "text": "x", "username": "Echo", "icon_emoji": ":tada:" });
    kelly.json("chat.postMessage", &custom).await.ok();
    let direct = ann.open_direct(&[&world.slack.app("kelly").user]);
    ann.say(&direct, "between us").expect("posted");
    let (before, app) = (seen(&world), world.slack.app("kelly"));
    assert_eq!(before.0.len(), 4);
    world.slack.stop().await;

    let world = start_in(dir.path(), false).await;
    assert_eq!(seen(&world), before);
    assert_eq!(world.slack.app("kelly"), app);
    assert_eq!(world.ann().messages(&direct)[0]["text"], "between us");
    let file = world.ann().messages(&world.general)[2]["files"][0].clone();
    let url = file["url_private"].as_str().expect("an address");
    let read = world.kelly().http.get(url).bearer_auth(&app.bot_token).send().await.expect("an answer");
    assert_eq!(read.text().await.expect("a text"), "all is well");
    // New ids and timestamps do not repeat old ones.
    let later = world.ann().say(&world.general, "later").expect("posted");
    assert!(before.0.iter().all(|message| message["ts"].as_str() < Some(later.as_str())));
    world.slack.stop().await;

    let world = start_in(dir.path(), true).await;
    assert_eq!(world.ann().messages(&world.general), Vec::<Value>::new(), "a reset forgets everything");
    world.slack.stop().await;
}

#[tokio::test]
async fn people_channels_and_apps_can_be_added_at_a_restart() {
    let dir = tempfile::tempdir().expect("a folder");
    start_in(dir.path(), false).await.slack.stop().await;
    let world = start_with(|options| {
        options.dir = Some(dir.path().to_owned());
        options.people.push(slack_sandbox::PersonConfig::new("Cem"));
        options.channels.push(slack_sandbox::ChannelConfig::new("ops"));
        for app in &mut options.apps {
            app.channels.push("ops".to_owned());
            app.scopes.retain(|scope| scope != "files:write");
        }
    })
    .await;
    let cem = world.slack.person("Cem");
    cem.say(&world.general, "I am new").expect("he is in the channel");
    cem.say(&world.slack.channel("ops"), "and here").expect("he is in the new channel");
    world.kelly().say(&world.slack.channel("ops"), "so am I").await;
    let refused = world.kelly().call("files.delete", json!({ "file": "F0" })).await;
    assert_eq!(refused.error(), "missing_scope", "the scopes are those of this start");
    world.slack.stop().await;
}

#[tokio::test]
async fn a_folder_is_used_by_one_workspace_and_damage_is_named() {
    let dir = tempfile::tempdir().expect("a folder");
    let world = start_in(dir.path(), false).await;
    let options = || slack_sandbox::Options { dir: Some(dir.path().to_owned()), ..slack_sandbox::Options::default() };
    let second = Workspace::start(options()).await.err().expect("it is refused");
    assert!(matches!(second, SandboxError::State(StateError::InUse { .. })), "{second}");
    world.slack.stop().await;
    std::fs::write(dir.path().join("events.jsonl"), "{\n").expect("written");
    let damaged = Workspace::start(options()).await.err().expect("it is refused");
    assert!(matches!(damaged, SandboxError::State(StateError::Damaged { line: 1, .. })), "{damaged}");
}
