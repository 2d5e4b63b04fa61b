//! Modals and home tabs.

use std::time::Duration;

use serde_json::{Value, json};
use slack_sandbox::{Progress, Refused};

use super::harness::{Socket, World, start, start_with, within};

fn modal(title: &str) -> Value {
    let text = |text: &str| json!({ "type": "plain_text", "text": text });
    let input = |id: &str, optional: bool| {
        let element = json!({ "type": "plain_text_input", "action_id": id });
        json!({ "type": "input", "block_id": format!("{id}_block"), "label": text(id), "optional": optional, "element": element })
    };
    json!({
        "type": "modal", "callback_id": "form", "title": text(title), "submit": text("Save"), "private_metadata": "secret",
        "notify_on_close": true, "blocks": [input("name", false), input("note", true)],
    })
}

/// A trigger from a slash command.
async fn trigger(world: &World, socket: &mut Socket) -> Value {
    world.ann().command(&world.general, "/kelly").expect("known");
    socket.envelope("slash_commands").await["payload"]["trigger_id"].clone()
}

async fn open(world: &World, socket: &mut Socket) -> String {
    let trigger = trigger(world, socket).await;
    let opened = world.kelly().json("views.open", &json!({ "trigger_id": trigger, "view": modal("Form") })).await.ok();
    opened["view"]["id"].as_str().expect("an id").to_owned()
}

#[tokio::test]
async fn a_modal_is_opened_filled_in_and_closed() {
    let world = start().await;
    let mut socket = world.connect("kelly").await;
    let view = open(&world, &mut socket).await;
    let ann = world.ann();
    assert_eq!(ann.modals()[0]["callback_id"], "form");
    assert_eq!(ann.submit(&view, &[]).err(), Some(Refused("required_input_is_empty")));
    let submitted = ann.submit(&view, &[("name", &["Ann"])]).expect("open");
    let envelope = socket.message("interactive").await;
    assert_eq!((&envelope["accepts_response_payload"], &envelope["payload"]["type"]), (&json!(true), &json!("view_submission")));
    let shown = &envelope["payload"]["view"];
    let values = &shown["state"]["values"];
    assert_eq!(values["name_block"]["name"], json!({ "type": "plain_text_input", "value": "Ann" }));
    assert_eq!(values["note_block"]["note"]["value"], Value::Null);
    assert_eq!(shown["private_metadata"], "secret");

    let errors = json!({ "response_action": "errors", "errors": { "name_block": "too short" } });
    socket.acknowledge(&envelope, errors).await;
    within(submitted.ended()).await;
    assert_eq!(ann.modal_errors(&view)["name_block"], "too short");
    let again = ann.submit(&view, &[("name", &["Annabel"])]).expect("still open");
    socket.envelope("interactive").await;
    within(again.ended()).await;
    assert!(ann.modals().is_empty());
    assert_eq!(ann.submit(&view, &[]).err(), Some(Refused("not_found")));
}

#[tokio::test]
async fn a_trigger_opens_one_modal_within_three_seconds() {
    let world = start().await;
    let mut socket = world.connect("kelly").await;
    let used = trigger(&world, &mut socket).await;
    let open = |trigger: &Value| json!({ "trigger_id": trigger, "view": modal("Form") });
    let kelly = world.kelly();
    kelly.json("views.open", &open(&used)).await.ok();
    assert_eq!(kelly.json("views.open", &open(&used)).await.error(), "exchanged_trigger_id");
    let late = trigger(&world, &mut socket).await;
    assert_eq!(world.bot("vince").json("views.open", &open(&late)).await.error(), "invalid_trigger_id");
    world.slack.advance(Duration::from_secs(3));
    assert_eq!(kelly.json("views.open", &open(&late)).await.error(), "expired_trigger_id");
    assert_eq!(kelly.json("views.open", &open(&json!("made.up"))).await.error(), "invalid_trigger_id");
}

#[tokio::test]
async fn wrong_views_are_refused_with_their_places() {
    let world = start().await;
    let mut socket = world.connect("kelly").await;
    let long = modal(&"x".repeat(25));
    let mut untitled = modal("x");
    untitled["title"] = Value::Null;
    let mut unsubmitted = modal("x");
    unsubmitted["submit"] = Value::Null;
    let mut odd = modal("x");
    odd["blocks"] = json!([{ "type": "poem" }]);
    for (view, complaint) in [
        (odd, "[ERROR] unsupported type: poem [json-pointer:/view/blocks/0/type]"),
        (long, "[ERROR] must be less than 25 characters [json-pointer:/view/title/text]"),
        (untitled, "[ERROR] missing required field: title [json-pointer:/view/title]"),
        (unsubmitted, "[ERROR] `submit` is required when an `input` block is present [json-pointer:/view/submit]"),
    ] {
        let trigger = trigger(&world, &mut socket).await;
        let answer = world.kelly().json("views.open", &json!({ "trigger_id": trigger, "view": view })).await;
        assert_eq!((answer.error(), answer.complaint()), ("invalid_arguments", complaint));
    }
}

#[tokio::test]
async fn a_view_is_updated_by_id_with_its_hash() {
    let world = start().await;
    let mut socket = world.connect("kelly").await;
    let view = open(&world, &mut socket).await;
    let old = world.ann().modals()[0]["hash"].clone();
    let update = |hash: &Value, title: &str| json!({ "view_id": view, "hash": hash, "view": modal(title) });
    world.kelly().json("views.update", &update(&old, "Second")).await.ok();
    assert_eq!(world.ann().modals()[0]["title"]["text"], "Second");
    assert_eq!(world.kelly().json("views.update", &update(&old, "Third")).await.error(), "hash_conflict");
    let other = json!({ "view_id": "V000000000", "view": modal("x") });
    assert_eq!(world.kelly().json("views.update", &other).await.error(), "not_found");
    let closed = world.ann().close_modal(&view).expect("open").expect("the app is told");
    let envelope = socket.envelope("interactive").await;
    assert_eq!((&envelope["payload"]["type"], &envelope["payload"]["view"]["id"]), (&json!("view_closed"), &json!(view)));
    assert!(matches!(within(closed.ended()).await, Progress::Acknowledged(_)));
}

#[tokio::test]
async fn views_are_stacked_up_to_three() {
    let world = start().await;
    let mut socket = world.connect("kelly").await;
    let view = open(&world, &mut socket).await;
    for (title, count) in [("Second", 2), ("Third", 3)] {
        let top = world.ann().modals().pop().expect("a modal")["id"].as_str().expect("an id").to_owned();
        let submitted = world.ann().submit(&top, &[("name", &["x"])]).expect("open");
        let envelope = socket.message("interactive").await;
        socket.acknowledge(&envelope, json!({ "response_action": "push", "view": modal(title) })).await;
        within(submitted.ended()).await;
        assert_eq!(world.ann().modals().len(), count);
    }
    let stack = world.ann().modals();
    assert!(stack.iter().all(|shown| shown["root_view_id"] == view));
    let top = stack[2]["id"].as_str().expect("an id");
    let submitted = world.ann().submit(top, &[("name", &["x"])]).expect("open");
    let envelope = socket.message("interactive").await;
    let push = json!({ "trigger_id": envelope["payload"]["trigger_id"], "view": modal("Fourth") });
    assert_eq!(world.kelly().json("views.push", &push).await.error(), "push_limit_reached");
    socket.acknowledge(&envelope, json!({ "response_action": "clear" })).await;
    within(submitted.ended()).await;
    assert!(world.ann().modals().is_empty());
}

#[tokio::test]
async fn a_home_tab_is_published_and_opened() {
    let world = start().await;
    let mut socket = world.connect("kelly").await;
    let (kelly, ann) = (world.kelly(), world.ann());
    ann.open_home("kelly").expect("it has one");
    let opened = socket.event("app_home_opened").await;
    assert_eq!((&opened["tab"], opened.get("view")), (&json!("home"), None));
    let button = json!({ "type": "button", "action_id": "more", "text": { "type": "plain_text", "text": "More" } });
    let view = json!({ "type": "home", "blocks": [{ "type": "actions", "elements": [button] }] });
    let publish = json!({ "user_id": ann.id(), "view": view });
    let first = kelly.json("views.publish", &publish).await.ok()["view"]["id"].clone();
    assert_eq!(kelly.json("views.publish", &publish).await.ok()["view"]["id"], first, "there is one for each person");
    ann.open_home("kelly").expect("it has one");
    assert_eq!(socket.event("app_home_opened").await["view"]["id"], first);
    assert!(ann.home("kelly").is_some() && ann.home("vince").is_none());
    ann.act_in_view(first.as_str().expect("an id"), "more", &[]).expect("it is there");
    let payload = socket.envelope("interactive").await["payload"].clone();
    assert_eq!((&payload["container"]["type"], &payload["actions"][0]["action_id"]), (&json!("view"), &json!("more")));
    let modal = json!({ "user_id": ann.id(), "view": modal("x") });
    assert_eq!(kelly.json("views.publish", &modal).await.error(), "invalid_arguments");
}

#[tokio::test]
async fn an_app_without_a_home_tab_publishes_none() {
    let world = start_with(|options| options.apps[0].home_tab = false).await;
    let publish = json!({ "user_id": world.ann().id(), "view": { "type": "home", "blocks": [] } });
    assert_eq!(world.kelly().json("views.publish", &publish).await.error(), "not_enabled");
    assert_eq!(world.ann().open_home("kelly"), Err(Refused("not_enabled")));
}
