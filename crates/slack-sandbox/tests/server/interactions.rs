//! Slash commands, buttons, selects and response URLs.

use std::time::Duration;

use serde_json::{Value, json};
use slack_sandbox::{AppConfig, Progress, Refused, Shortcut, ShortcutKind};

use super::harness::{Socket, World, start, start_with, within};

async fn post_blocks(world: &World, blocks: Value) -> String {
    let message = json!({ "channel": world.general, "text": "choose", "blocks": blocks });
    world.kelly().json("chat.postMessage", &message).await.ok()["ts"].as_str().expect("a timestamp").to_owned()
}

fn buttons() -> Value {
    let text = |text: &str| json!({ "type": "plain_text", "text": text });
    let option = |value: &str| json!({ "text": text(value), "value": value });
    json!([{
        "type": "actions", "block_id": "choice",
        "elements": [
            { "type": "button", "action_id": "go", "text": text("Go"), "value": "42", "style": "primary" },
            { "type": "static_select", "action_id": "pick", "options": [option("a"), option("b")] },
            { "type": "users_select", "action_id": "who" },
        ],
    }])
}

async fn respond(world: &World, url: &Value, answer: Value) -> (u16, String) {
    let request = world.kelly().http.post(url.as_str().expect("an address")).json(&answer);
    let response = request.send().await.expect("an answer");
    (response.status().as_u16(), response.text().await.expect("a text"))
}

/// The next interaction of a connection, which also gets the events of the app's own messages.
async fn interaction(socket: &mut Socket, kind: &str) -> Value {
    loop {
        let envelope = socket.next().await.expect("an envelope");
        if envelope["type"] == kind {
            return envelope;
        }
        socket.acknowledge(&envelope, Value::Null).await;
    }
}

#[tokio::test]
async fn a_shortcut_comes_with_the_message_or_with_nothing() {
    let shortcut = |kind, id: &str| Shortcut { name: "Keep".to_owned(), callback_id: id.to_owned(), kind };
    let world = start_with(|options| {
        options.apps[0].shortcuts = vec![shortcut(ShortcutKind::Message, "keep this"), shortcut(ShortcutKind::Global, "keep")];
    })
    .await;
    let mut socket = world.connect("kelly").await;
    let said = world.ann().say(&world.general, "remember it").expect("said");
    assert!(world.ann().use_on_message(&world.general, &said, "keep").is_err(), "that one is for no message");
    let _used = world.ann().use_on_message(&world.general, &said, "keep this").expect("known");
    let envelope = interaction(&mut socket, "interactive").await;
    let payload = &envelope["payload"];
    assert_eq!((&payload["type"], &payload["callback_id"]), (&json!("message_action"), &json!("keep this")));
    assert_eq!((&payload["message"]["text"], &payload["message_ts"]), (&json!("remember it"), &json!(said)));
    assert_eq!((&payload["channel"]["id"], &payload["user"]["id"]), (&json!(world.general), &json!(world.ann().id())));
    assert_eq!(respond(&world, &payload["response_url"], json!({ "text": "kept" })).await.0, 200);
    socket.acknowledge(&envelope, Value::Null).await;

    let _used = world.ann().use_shortcut("keep").expect("known");
    let envelope = interaction(&mut socket, "interactive").await;
    let payload = &envelope["payload"];
    assert_eq!((&payload["type"], &payload["channel"], &payload["response_url"]), (&json!("shortcut"), &Value::Null, &Value::Null));
    // A shortcut has no channel, so the person chooses in a modal where the answer goes.
    let text = |text: &str| json!({ "type": "plain_text", "text": text });
    let select = json!({ "type": "conversations_select", "action_id": "place", "response_url_enabled": true });
    let blocks = json!([{ "type": "input", "block_id": "where", "label": text("Where"), "element": select }]);
    let view = json!({ "type": "modal", "title": text("Keep"), "submit": text("Keep"), "blocks": blocks });
    let opened = json!({ "trigger_id": payload["trigger_id"], "view": view });
    let opened = world.kelly().json("views.open", &opened).await.ok();
    socket.acknowledge(&envelope, Value::Null).await;
    let id = opened["view"]["id"].as_str().expect("an id");
    let _sent = world.ann().submit(id, &[("place", &[&world.general])]).expect("it is open");
    let envelope = interaction(&mut socket, "interactive").await;
    let urls = &envelope["payload"]["response_urls"];
    assert_eq!((&urls[0]["channel_id"], &urls[0]["block_id"]), (&json!(world.general), &json!("where")));
    assert_eq!(respond(&world, &urls[0]["response_url"], json!({ "text": "kept here" })).await.0, 200);
    socket.acknowledge(&envelope, Value::Null).await;
}

#[test]
fn an_app_is_made_of_a_manifest() {
    let manifest = json!({
        "display_information": { "name": "Keeper" },
        "features": {
            "app_home": { "home_tab_enabled": true }, "slash_commands": [{ "command": "/keep" }],
            "shortcuts": [{ "name": "Keep", "type": "message", "callback_id": "keep", "description": "Keep it." }],
        },
        "oauth_config": { "scopes": { "bot": ["commands"] } },
        "settings": {
            "event_subscriptions": { "bot_events": ["reaction_added"] }, "interactivity": { "is_enabled": true }, "socket_mode_enabled": true,
        },
    });
    let app = AppConfig::of_manifest("keeper", &manifest).expect("it is complete");
    assert_eq!((app.name.as_str(), app.commands, app.scopes), ("Keeper", vec!["/keep".to_owned()], vec!["commands".to_owned()]));
    assert_eq!((app.events, app.shortcuts.len(), app.home_tab), (vec!["reaction_added".to_owned()], 1, true));
    assert!(AppConfig::of_manifest("keeper", &json!({})).is_err());
}

#[tokio::test]
async fn a_command_is_answered_by_its_acknowledgement() {
    let world = start().await;
    let mut socket = world.connect("kelly").await;
    let ran = world.ann().command(&world.general, "/kelly status now").expect("known");
    let envelope = socket.message("slash_commands").await;
    let payload = &envelope["payload"];
    assert_eq!(envelope["accepts_response_payload"], true);
    assert_eq!((&payload["command"], &payload["text"]), (&json!("/kelly"), &json!("status now")));
    assert_eq!((&payload["user_id"], &payload["channel_name"]), (&json!(world.ann().id()), &json!("general")));
    assert_eq!(ran.progress(), Progress::Waiting);
    socket.acknowledge(&envelope, json!({ "text": "all is well" })).await;
    assert_eq!(within(ran.ended()).await, Progress::Acknowledged(json!({ "text": "all is well" })));
    let shown = world.ann().messages(&world.general).pop().expect("an answer");
    assert_eq!((&shown["text"], &shown["is_ephemeral"]), (&json!("all is well"), &json!(true)));
    assert!(world.slack.person("Ben").messages(&world.general).is_empty(), "only Ann sees it");
    assert_eq!(world.ann().command(&world.general, "/unknown").err(), Some(Refused("invalid_command")));
}

#[tokio::test]
async fn a_response_url_takes_five_answers_in_half_an_hour() {
    let world = start().await;
    let mut socket = world.connect("kelly").await;
    let ran = world.ann().command(&world.general, "/kelly").expect("known");
    let url = socket.envelope("slash_commands").await["payload"]["response_url"].clone();
    within(ran.ended()).await;
    let public = json!({ "response_type": "in_channel", "text": "for all" });
    assert_eq!(respond(&world, &url, public).await, (200, "ok".to_owned()));
    assert_eq!(world.kelly().history(&world.general).await, ["for all"]);
    for _ in 1..5 {
        assert_eq!(respond(&world, &url, json!({ "text": "for you" })).await.0, 200);
    }
    let (status, body) = respond(&world, &url, json!({ "text": "too many" })).await;
    assert!(status == 404 && body.contains("used_url"), "{status} {body}");
    assert_eq!(world.ann().messages(&world.general).len(), 5);

    world.ann().command(&world.general, "/kelly").expect("known");
    let url = interaction(&mut socket, "slash_commands").await["payload"]["response_url"].clone();
    world.slack.advance(Duration::from_mins(30));
    assert!(respond(&world, &url, json!({ "text": "late" })).await.1.contains("expired_url"));
}

#[tokio::test]
async fn a_command_fails_without_an_acknowledgement_or_a_connection() {
    let world = start().await;
    let lost = world.ann().command(&world.general, "/kelly").expect("known");
    assert_eq!(within(lost.ended()).await, Progress::Failed("dispatch_failed"));
    let mut socket = world.connect("kelly").await;
    let ran = world.ann().command(&world.general, "/kelly").expect("known");
    let envelope = socket.message("slash_commands").await;
    world.slack.advance(Duration::from_secs(3));
    assert_eq!(within(ran.ended()).await, Progress::Failed("operation_timeout"));
    socket.acknowledge(&envelope, json!({ "text": "late" })).await;
    assert!(socket.is_silent().await, "a command does not come again");
    assert!(world.ann().messages(&world.general).is_empty());
}

#[tokio::test]
async fn a_button_is_pressed_and_its_message_replaced() {
    let world = start().await;
    let mut socket = world.connect("kelly").await;
    let ts = post_blocks(&world, buttons()).await;
    let pressed = world.ann().press(&world.general, &ts, "go").expect("it is there");
    let envelope = interaction(&mut socket, "interactive").await;
    let payload = &envelope["payload"];
    assert_eq!((&envelope["accepts_response_payload"], &payload["type"]), (&json!(false), &json!("block_actions")));
    let action = &payload["actions"][0];
    assert_eq!((&action["action_id"], &action["block_id"], &action["value"]), (&json!("go"), &json!("choice"), &json!("42")));
    assert_eq!((&payload["container"]["message_ts"], &payload["message"]["ts"]), (&json!(ts), &json!(ts)));
    assert_eq!(payload["user"]["id"], world.ann().id());
    socket.acknowledge(&envelope, Value::Null).await;
    assert_eq!(within(pressed.ended()).await, Progress::Acknowledged(Value::Null));
    respond(&world, &payload["response_url"], json!({ "replace_original": true, "text": "done" })).await;
    let message = world.ann().message(&world.general, &ts).expect("it is there");
    assert_eq!((&message["text"], &message["blocks"][0]["type"]), (&json!("done"), &json!("rich_text")));
    assert_eq!(world.ann().press(&world.general, &ts, "go").err(), Some(Refused("no_such_element")));
    respond(&world, &payload["response_url"], json!({ "delete_original": true })).await;
    assert!(world.ann().message(&world.general, &ts).is_none());
}

#[tokio::test]
async fn selects_carry_what_was_chosen() {
    let world = start().await;
    let mut socket = world.connect("kelly").await;
    let ts = post_blocks(&world, buttons()).await;
    world.ann().choose(&world.general, &ts, "pick", &["b"]).expect("it is there");
    let payload = interaction(&mut socket, "interactive").await["payload"].clone();
    assert_eq!(payload["actions"][0]["selected_option"]["value"], "b");
    assert_eq!(payload["state"]["values"]["choice"]["pick"]["selected_option"]["value"], "b");
    world.ann().choose(&world.general, &ts, "who", &[world.ann().id()]).expect("it is there");
    let payload = interaction(&mut socket, "interactive").await["payload"].clone();
    assert_eq!(payload["actions"][0]["selected_user"], world.ann().id());
    assert_eq!(world.ann().choose(&world.general, &ts, "pick", &["z"]).err(), Some(Refused("no_such_option")));
}

#[tokio::test]
async fn an_ephemeral_message_has_buttons_too() {
    let world = start().await;
    let mut socket = world.connect("kelly").await;
    let ephemeral = json!({ "channel": world.general, "user": world.ann().id(), "text": "x", "blocks": buttons() });
    let ts = world.kelly().json("chat.postEphemeral", &ephemeral).await.ok()["message_ts"].clone();
    world.ann().press(&world.general, ts.as_str().expect("ts"), "go").expect("it is there");
    let payload = interaction(&mut socket, "interactive").await["payload"].clone();
    assert_eq!((&payload["container"]["is_ephemeral"], payload.get("message")), (&json!(true), None));
    respond(&world, &payload["response_url"], json!({ "delete_original": true })).await;
    assert!(world.ann().messages(&world.general).is_empty());
}

#[tokio::test]
async fn an_app_without_interactivity_gets_none() {
    let world = start_with(|options| options.apps[0].interactivity = false).await;
    let ts = post_blocks(&world, buttons()).await;
    assert_eq!(world.ann().press(&world.general, &ts, "go").err(), Some(Refused("interactivity_not_enabled")));
}
