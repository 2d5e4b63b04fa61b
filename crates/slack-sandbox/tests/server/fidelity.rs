//! Answers and events of the sandbox, checked against Slack's descriptions.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};
use slack_sandbox::{ApiFault, CallExchange, Direction, Exchange, Switch, Workspace};

use super::descriptions::read;
use super::harness::{World, start_with};

/// Errors that the descriptions lack for their methods, most of them newer.
const NEWER_ERRORS: [&str; 9] = [
    "invalid_arguments",
    "invalid_blocks",
    "message_not_found",
    "missing_scope",
    "not_in_channel",
    "ratelimited",
    "cannot_dm_bot",
    "invalid_name_specials",
    "unknown_method",
];

/// Known errors in the descriptions: where, and a part of the complaint.
const ALLOWED: [(&str, &str); 1] = [
    // Blocks are a list everywhere else.
    ("chat.update: /message/blocks", "is not of type \"object\""),
];

#[tokio::test]
async fn answers_and_events_are_as_slack_describes_them() {
    let (Some(api), Some(events), Some(wrapper)) = (read("web-openapi.json"), read("events-asyncapi.json"), read("event-wrapper.json"))
    else {
        return;
    };
    let world = start_with(|options| options.journal = true).await;
    Box::pin(call_everything(&world)).await;
    let journal = world.slack.journal();
    let mut findings = BTreeMap::new();
    let answered = check_answers(&api, &journal, &mut findings);
    let seen = check_events(&events, &wrapper, &journal, &mut findings);
    let is_allowed = |finding: &str, (at, part): &(&str, &str)| finding.starts_with(at) && finding.contains(part);
    for allowed in &ALLOWED {
        assert!(findings.keys().any(|finding| is_allowed(finding, allowed)), "{allowed:?} is no longer there");
    }
    findings.retain(|finding, _| !ALLOWED.iter().any(|allowed| is_allowed(finding, allowed)));
    let report: Vec<String> = findings.iter().map(|(finding, instance)| format!("{finding}\n    in {instance}")).collect();
    assert!(report.is_empty(), "{} findings:\n{}", report.len(), report.join("\n"));
    let missing: Vec<&str> = Workspace::methods().into_iter().filter(|method| !answered.contains(*method)).collect();
    assert!(missing.is_empty(), "these methods were not answered with success: {missing:?}");
    for event in ["message", "app_mention", "reaction_added", "member_joined_channel", "file_shared", "channel_created", "team_join"] {
        assert!(seen.contains(event), "no {event} was sent");
    }
    println!("{} methods, {} kinds of events, {} exchanges checked", answered.len(), seen.len(), journal.len());
}

/// Checks all answers. Returns the methods that were answered with success.
fn check_answers(api: &Value, journal: &[Exchange], findings: &mut BTreeMap<String, String>) -> BTreeSet<String> {
    let mut answered = BTreeSet::new();
    for exchange in journal {
        let Exchange::Call(CallExchange { method, answer, status, .. }) = exchange else { continue };
        let is_ok = answer["ok"] == true;
        if is_ok {
            answered.insert(method.clone());
        }
        let Some(operation) = api["paths"][format!("/{method}")].as_object().and_then(|path| path.values().next()) else { continue };
        if *status != 200 || answer.is_null() {
            continue;
        }
        if !is_ok {
            let known = &operation["responses"]["default"]["schema"]["properties"]["error"]["enum"];
            let error = &answer["error"];
            let is_known = known.as_array().is_none_or(|known| known.contains(error));
            if !is_known && !NEWER_ERRORS.iter().any(|newer| error == newer) {
                findings.insert(format!("{method}: the error {error} is not described"), answer.to_string());
            }
            continue;
        }
        let mut schema = operation["responses"]["200"]["schema"].clone();
        schema["definitions"] = api["definitions"].clone();
        check(method, &schema, answer, findings);
    }
    answered
}

/// Checks all events. Returns their kinds.
fn check_events(events: &Value, wrapper: &Value, journal: &[Exchange], findings: &mut BTreeMap<String, String>) -> BTreeSet<String> {
    let mut wrapper = wrapper.clone();
    // Slack has replaced `authed_users` by `authorizations`.
    if let Some(required) = wrapper["required"].as_array_mut() {
        required.retain(|field| field != "authed_users");
    }
    let mut seen = BTreeSet::new();
    for exchange in journal {
        let Exchange::Frame(frame) = exchange else { continue };
        if frame.direction != Direction::Sent || frame.payload["type"] != "events_api" {
            continue;
        }
        let payload = &frame.payload["payload"];
        let kind = payload["event"]["type"].as_str().unwrap_or_default();
        seen.insert(kind.to_owned());
        check(kind, &wrapper, payload, findings);
        let described = &events["topics"][kind.replace('_', ".")]["subscribe"]["payload"];
        if described["properties"].is_object() {
            // Each description was made from one sample of Slack's, so only its types are reliable.
            let mut schema = without_required(described.clone());
            schema["components"] = events["components"].clone();
            check(kind, &schema, payload, findings);
        }
    }
    seen
}

fn without_required(schema: Value) -> Value {
    match schema {
        Value::Object(fields) => {
            let kept = fields.into_iter().filter(|(name, value)| name != "required" || !value.is_array());
            kept.map(|(name, value)| (name, without_required(value))).collect()
        }
        other => other,
    }
}

fn check(at: &str, schema: &Value, instance: &Value, findings: &mut BTreeMap<String, String>) {
    let validator = jsonschema::options().with_draft(jsonschema::Draft::Draft7).build(schema).expect("the schema compiles");
    for error in validator.iter_errors(instance) {
        let complaint: String = error.to_string().chars().rev().take(200).collect::<Vec<_>>().into_iter().rev().collect();
        findings.entry(format!("{at}: {} …{complaint}", error.instance_path())).or_insert_with(|| format!("{instance:.900}"));
    }
}

/// Calls each method with success at least once, and some with an error, while an app listens.
async fn call_everything(world: &World) {
    let (kelly, ann, general) = (world.kelly(), world.ann(), world.general.clone());
    let mut socket = world.connect("kelly").await;
    let call = |method: &'static str, arguments: Value| {
        let kelly = kelly.clone();
        async move { kelly.call(method, arguments).await }
    };
    let user = json!({ "user": ann.id() });
    for (method, arguments) in [
        ("api.test", json!({})),
        ("auth.test", json!({})),
        ("users.info", user.clone()),
        ("users.list", json!({})),
        ("users.profile.get", user.clone()),
        ("users.conversations", json!({ "types": "public_channel,im" })),
        ("bots.info", json!({ "bot": world.slack.app("kelly").bot })),
        ("team.info", json!({})),
        ("emoji.list", json!({})),
        ("conversations.open", json!({ "users": ann.id(), "return_im": true })),
        ("conversations.list", json!({ "types": "public_channel,private_channel,im,mpim" })),
        ("conversations.info", json!({ "channel": general })),
        ("conversations.members", json!({ "channel": general })),
    ] {
        call(method, arguments).await.ok();
    }
    let created = call("conversations.create", json!({ "name": "projects" })).await.ok()["channel"]["id"].clone();
    call("conversations.invite", json!({ "channel": created, "users": ann.id() })).await.ok();
    call("conversations.leave", json!({ "channel": created })).await.ok();
    call("conversations.join", json!({ "channel": created })).await.ok();
    call("conversations.archive", json!({ "channel": created })).await.ok();

    let asked = ann.upload(&general, None, "in.txt", "x", &format!("<@{}>", world.slack.app("kelly").user)).expect("posted");
    let posted = call("chat.postMessage", json!({ "channel": general, "text": "x", "thread_ts": asked, "reply_broadcast": true })).await;
    let item = json!({ "channel": general, "ts": posted.ok()["ts"] });
    let custom = json!({ "channel": general, "text": "x", "username": "Echo", "icon_url": "https://example.com/x.png" });
    call("chat.postMessage", custom).await.ok();
    call("chat.postEphemeral", json!({ "channel": general, "user": ann.id(), "text": "x" })).await.ok();
    call("chat.update", json!({ "channel": general, "ts": item["ts"], "text": "y" })).await.ok();
    call("chat.getPermalink", json!({ "channel": general, "message_ts": item["ts"] })).await.ok();
    for method in ["reactions.add", "reactions.get", "reactions.remove"] {
        call(method, json!({ "channel": general, "timestamp": asked, "name": "eyes" })).await.ok();
    }
    call("conversations.history", json!({ "channel": general })).await.ok();
    call("conversations.replies", json!({ "channel": general, "ts": asked })).await.ok();
    call("chat.delete", item).await.ok();

    let stream = json!({
        "channel": general, "thread_ts": asked, "markdown_text": "x", "recipient_team_id": world.slack.team_id(),
        "recipient_user_id": ann.id(),
    });
    let streamed = call("chat.startStream", stream).await.ok()["ts"].clone();
    call("chat.appendStream", json!({ "channel": general, "ts": streamed, "markdown_text": "y" })).await.ok();
    call("chat.stopStream", json!({ "channel": general, "ts": streamed })).await.ok();
    let thread = json!({ "channel_id": general, "thread_ts": asked, "status": "thinks", "title": "t", "prompts": [] });
    for method in ["assistant.threads.setStatus", "assistant.threads.setTitle", "assistant.threads.setSuggestedPrompts"] {
        call(method, thread.clone()).await.ok();
    }
    let work = json!({ "channel_id": general, "thread_ts": asked, "status": "processing" });
    call("agents.sessions.setStatus", work).await.ok();
    ann.stop_work(&general, &asked).expect("an agent is at work");
    socket.event("agent_session_stopped").await;
    call_files_and_views(world, &mut socket).await;
    for (method, arguments) in [
        ("chat.postMessage", json!({ "channel": "C0UNKNOWN0", "text": "x" })),
        ("chat.postMessage", json!({ "channel": general })),
        ("chat.update", json!({ "channel": general, "ts": asked, "text": "x" })),
        ("chat.delete", json!({ "channel": general, "ts": "1.000001" })),
        ("users.info", json!({ "user": "U0NOBODY00" })),
        ("bots.info", json!({ "bot": "B0NOBODY00" })),
        ("conversations.history", json!({ "channel": "C0UNKNOWN0" })),
        ("conversations.replies", json!({ "channel": general, "ts": "1.000001" })),
        ("conversations.create", json!({ "name": "general" })),
        ("conversations.open", json!({})),
        ("conversations.join", json!({ "channel": created })),
        ("conversations.invite", json!({ "channel": general, "users": ann.id() })),
        ("reactions.remove", json!({ "channel": general, "timestamp": asked, "name": "eyes" })),
        ("reactions.add", json!({ "channel": general, "timestamp": "soon", "name": "eyes" })),
        ("files.info", json!({ "file": "F000000000" })),
    ] {
        call(method, arguments).await.error();
    }
    world.set(Switch::Api { app: None, method: "chat.".to_owned(), times: 1, with: ApiFault::RateLimited(1) });
    call("chat.delete", json!({})).await.error();
    world.slack.add_person(&slack_sandbox::PersonConfig::new("Zoe"));
    socket.event("team_join").await;
}

async fn call_files_and_views(world: &World, socket: &mut super::harness::Socket) {
    let (kelly, ann, general) = (world.kelly(), world.ann(), &world.general);
    let address = kelly.call("files.getUploadURLExternal", json!({ "filename": "a.txt", "length": 1 })).await.ok();
    kelly.http.post(address["upload_url"].as_str().expect("an address")).body("x").send().await.expect("an answer");
    let files = json!({ "files": [{ "id": address["file_id"] }], "channel_id": general });
    kelly.json("files.completeUploadExternal", &files).await.ok();
    kelly.call("files.info", json!({ "file": address["file_id"] })).await.ok();
    kelly.json("files.delete", &json!({ "file": address["file_id"] })).await.ok();

    let modal = json!({ "type": "modal", "title": { "type": "plain_text", "text": "t" }, "blocks": [] });
    ann.command(general, "/kelly").expect("known");
    let command = loop {
        let envelope = socket.next().await.expect("an envelope");
        socket.acknowledge(&envelope, Value::Null).await;
        if envelope["type"] == "slash_commands" {
            break envelope;
        }
    };
    let trigger = &command["payload"]["trigger_id"];
    let view = kelly.json("views.open", &json!({ "trigger_id": trigger, "view": modal })).await.ok()["view"]["id"].clone();
    kelly.json("views.update", &json!({ "view_id": view, "view": modal })).await.ok();
    ann.submit(view.as_str().expect("an id"), &[]).expect("open");
    let submission = socket.message("interactive").await;
    let push = json!({ "trigger_id": submission["payload"]["trigger_id"], "view": modal });
    kelly.json("views.push", &push).await.ok();
    socket.acknowledge(&submission, Value::Null).await;
    let home = json!({ "user_id": ann.id(), "view": { "type": "home", "blocks": [] } });
    kelly.json("views.publish", &home).await.ok();
}
