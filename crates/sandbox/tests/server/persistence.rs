//! Restarts, and damaged or shared folders.

use std::fs::OpenOptions;
use std::io::Write;

use sandbox::{Sandbox, SandboxError, StateError};
use serde_json::json;

use super::all_operations::PICTURE;
use super::harness::{World, options};

async fn open(dir: &tempfile::TempDir) -> World {
    World::of(Sandbox::start(options(dir)).await.expect("the sandbox starts"))
}

#[tokio::test]
async fn a_restart_keeps_accounts_messages_files_threads_and_commands() {
    let dir = tempfile::tempdir().expect("a folder");
    let world = open(&dir).await;
    let (kelly, person, general) = (world.bot("kelly"), world.person(), world.channel("general"));
    let message = person.say(&general, "remember me").await;
    let id = message["id"].as_str().expect("an id");
    kelly.put(&format!("/channels/{general}/messages/{id}/reactions/%F0%9F%91%8D/@me")).await.ok();
    kelly.call("POST", &format!("/channels/{general}/messages/{id}/threads"), json!({ "name": "t" })).await.ok();
    kelly.say(id, "in the thread").await;
    let file = kelly.upload(&format!("/channels/{general}/messages"), &json!({}), &[("a.txt", b"bytes".to_vec())], true).await.ok();
    kelly.call("PUT", &format!("/applications/{}/commands", kelly.id), json!([{ "name": "ask", "description": "d" }])).await.ok();
    let avatar = kelly.call("PATCH", "/users/@me", json!({ "username": "Kelly", "avatar": PICTURE })).await.ok()["avatar"].clone();
    let emojis = format!("/applications/{}/emojis", kelly.id);
    let emoji = kelly.call("POST", &emojis, json!({ "name": "face", "image": PICTURE })).await.ok();
    let deleted = kelly.say(&general, "gone").await;
    kelly.delete(&format!("/channels/{general}/messages/{}", deleted["id"].as_str().expect("an id"))).await.ok();
    let before = kelly.get(&format!("/channels/{general}/messages")).await.ok();
    world.sandbox.stop().await;

    let world = open(&dir).await;
    let (again, person_again) = (world.bot("kelly"), world.person());
    assert_eq!((&again.token, &again.id, &person_again.token), (&kelly.token, &kelly.id, &person.token));
    assert_eq!(world.channel("general"), general);
    let mut after = again.get(&format!("/channels/{general}/messages")).await.ok();
    let url = after[0]["attachments"][0]["url"].as_str().expect("a file").to_owned();
    assert_eq!(again.fetch(&url).await, (200, b"bytes".to_vec()));
    // The addresses have new signatures after a restart. Everything else is the same.
    for key in ["url", "proxy_url"] {
        after[0]["attachments"][0][key] = before[0]["attachments"][0][key].clone();
    }
    assert_eq!(after, before);
    assert_eq!(again.get(&format!("/channels/{id}")).await.ok()["message_count"], 1);
    assert_eq!(again.get(&format!("/applications/{}/commands", kelly.id)).await.ok()[0]["name"], "ask");
    assert_eq!(again.get("/users/@me").await.ok()["avatar"], avatar);
    assert_eq!(again.get(&emojis).await.ok()["items"][0]["id"], emoji["id"]);
    for path in [
        format!("avatars/{}/{}.png", kelly.id, avatar.as_str().expect("a hash")),
        format!("emojis/{}.png", emoji["id"].as_str().expect("an id")),
    ] {
        assert_eq!(again.fetch(&format!("{}/{path}", world.sandbox.api_url())).await.0, 200, "{path}");
    }
    let newer = again.say(&general, "newer").await;
    assert!(newer["id"].as_str() > file["id"].as_str(), "ids go on rising");
    world.sandbox.stop().await;
}

#[tokio::test]
async fn a_nonce_is_known_after_a_restart_and_shown_to_nobody() {
    let dir = tempfile::tempdir().expect("a folder");
    let mut ids = Vec::new();
    // The second start reads what the first one wrote, the third one what the second one has compacted.
    for _ in 0..3 {
        let world = open(&dir).await;
        let (kelly, messages) = (world.bot("kelly"), format!("/channels/{}/messages", world.channel("general")));
        let body = json!({ "content": "once", "nonce": "abc", "enforce_nonce": true });
        ids.push(kelly.call("POST", &messages, body).await.ok()["id"].clone());
        let listed = kelly.get(&messages).await.ok();
        assert_eq!((listed.as_array().map(Vec::len), &listed[0]["nonce"]), (Some(1), &json!(null)));
        world.sandbox.stop().await;
    }
    assert!(ids.iter().all(|id| *id == ids[0]), "{ids:?}");
}

#[tokio::test]
async fn a_line_torn_by_a_crash_is_cut_and_nothing_else_is_lost() {
    let dir = tempfile::tempdir().expect("a folder");
    let world = open(&dir).await;
    let general = world.channel("general");
    world.person().say(&general, "whole").await;
    world.sandbox.stop().await;
    let mut file = OpenOptions::new().append(true).open(dir.path().join("events.jsonl")).expect("the event file");
    file.write_all(br#"{"is":"message","data":{"id":"12"#).expect("half a line");

    let world = open(&dir).await;
    let kept = world.person().get(&format!("/channels/{general}/messages")).await.ok();
    assert_eq!(kept.as_array().map(Vec::len), Some(1));
    world.person().say(&general, "after").await;
    world.sandbox.stop().await;
    let world = open(&dir).await;
    let kept = world.person().get(&format!("/channels/{general}/messages")).await.ok();
    assert_eq!(kept.as_array().map(Vec::len), Some(2));
}

#[tokio::test]
async fn a_damaged_line_in_the_middle_is_an_error_that_names_it() {
    let dir = tempfile::tempdir().expect("a folder");
    open(&dir).await.sandbox.stop().await;
    let path = dir.path().join("events.jsonl");
    let text = std::fs::read_to_string(&path).expect("the event file");
    std::fs::write(&path, format!("nonsense\n{text}")).expect("written");
    let Err(error) = Sandbox::start(options(&dir)).await else { panic!("it should not start") };
    assert!(matches!(&error, SandboxError::State(StateError::Damaged { line: 1, .. })), "{error}");
    assert!(error.to_string().contains("--reset"), "{error}");
}

#[tokio::test]
async fn a_second_sandbox_on_the_same_folder_is_refused() {
    let dir = tempfile::tempdir().expect("a folder");
    let world = open(&dir).await;
    let Err(error) = Sandbox::start(options(&dir)).await else { panic!("it should not start") };
    assert!(matches!(error, SandboxError::State(StateError::InUse { .. })), "{error}");
    world.sandbox.stop().await;
    open(&dir).await;
}

#[tokio::test]
async fn a_reset_forgets_messages_and_gives_new_tokens() {
    let dir = tempfile::tempdir().expect("a folder");
    let world = open(&dir).await;
    let token = world.person().token;
    world.person().say(&world.channel("general"), "forget me").await;
    world.sandbox.stop().await;
    let mut fresh = options(&dir);
    fresh.reset = true;
    let world = World::of(Sandbox::start(fresh).await.expect("the sandbox starts"));
    assert_ne!(world.person().token, token);
    let messages = world.person().get(&format!("/channels/{}/messages", world.channel("general"))).await.ok();
    assert_eq!(messages, json!([]));
}

#[tokio::test]
async fn an_address_that_is_not_loopback_is_refused() {
    let dir = tempfile::tempdir().expect("a folder");
    let mut open = options(&dir);
    open.addr = ([0, 0, 0, 0], 0).into();
    let Err(error) = Sandbox::start(open).await else { panic!("it should not start") };
    assert!(matches!(error, SandboxError::NotLoopback(_)), "{error}");
}
