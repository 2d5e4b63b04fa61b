//! Each fault has its effect, and only for the apps that it is set for.

use std::collections::BTreeSet;
use std::time::Duration;

use serde_json::{Value, json};
use slack_sandbox::{ApiFault, Cut, DisconnectReason, Exchange, Switch};

use super::harness::{Answer, Closed, World, start, start_with, within};

/// The app for most faults in this file.
fn kelly() -> String {
    "kelly".to_owned()
}

fn api(with: ApiFault) -> Switch {
    Switch::Api { app: Some(kelly()), method: "chat.".to_owned(), times: 1, with }
}

async fn post(world: &World, slug: &str) -> reqwest::Result<Answer> {
    world.bot(slug).try_call("chat.postMessage", &json!({ "channel": world.general, "text": "x" })).await
}

#[tokio::test]
async fn calls_are_answered_wrongly_as_often_as_asked() {
    let world = start().await;
    for (fault, status, header) in [
        (ApiFault::RateLimited(30), 429, Some(("retry-after", "30"))),
        (ApiFault::Status(503), 503, None),
        (ApiFault::Html, 200, Some(("content-type", "text/html; charset=utf-8"))),
        (ApiFault::Error("internal_error".to_owned()), 200, None),
    ] {
        world.set(api(fault.clone()));
        assert_eq!(post(&world, "vince").await.expect("an answer").json["ok"], true, "another app is not concerned");
        let answer = post(&world, "kelly").await.expect("an answer");
        assert!(answer.status == status && answer.json["ok"] != true, "{fault:?}: {answer:?}");
        if let Some((name, value)) = header {
            assert_eq!(answer.header(name), Some(value), "{fault:?}");
        }
        assert_eq!(post(&world, "kelly").await.expect("an answer").json["ok"], true, "once is enough");
    }
}

#[tokio::test]
async fn connections_are_cut_before_or_after_the_message_is_stored() {
    let world = start().await;
    for (fault, stored) in [(ApiFault::Close, 0), (ApiFault::ResetBefore, 0), (ApiFault::ResetAfter, 1)] {
        world.set(api(fault.clone()));
        assert!(post(&world, "kelly").await.is_err(), "{fault:?}");
        assert_eq!(world.kelly().history(&world.general).await.len(), stored, "{fault:?}");
    }
    world.set(api(ApiFault::Hang));
    assert!(tokio::time::timeout(Duration::from_millis(100), post(&world, "kelly")).await.is_err());
    assert_eq!(world.kelly().history(&world.general).await.len(), 1);
}

#[tokio::test]
async fn a_lost_acknowledgement_brings_the_event_again() {
    let world = start().await;
    let mut socket = world.connect("kelly").await;
    world.set(Switch::LoseAcknowledgements { app: Some(kelly()), times: 1 });
    world.ann().say(&world.general, "x").expect("posted");
    let first = socket.envelope("events_api").await;
    // The acknowledgement was read before the ping.
    socket.ping().await;
    world.slack.advance(Duration::from_secs(3));
    let again = socket.envelope("events_api").await;
    assert_eq!((&again["payload"], &again["retry_attempt"]), (&first["payload"], &json!(1)));
    world.until(|slack| (slack.unacknowledged("kelly") == 0).then_some(())).await;
}

#[tokio::test]
async fn an_event_is_delivered_on_two_connections() {
    let world = start().await;
    let (mut first, mut second) = (world.connect("kelly").await, world.connect("kelly").await);
    world.set(Switch::Duplicate { app: Some(kelly()), times: 1 });
    world.ann().say(&world.general, "twice").expect("posted");
    let (one, two) = (first.envelope("events_api").await, second.envelope("events_api").await);
    assert_eq!(one["payload"]["event_id"], two["payload"]["event_id"]);
    assert_ne!(one["envelope_id"], two["envelope_id"]);
    world.ann().say(&world.general, "once").expect("posted");
    let both = first.is_silent().await && second.is_silent().await;
    assert!(!both, "it arrives on one of them");
}

#[tokio::test]
async fn events_overtake_each_other() {
    let world = start().await;
    let mut socket = world.connect("kelly").await;
    world.set(Switch::Reorder { app: Some(kelly()), on: true });
    for n in 0..4 {
        world.ann().say(&world.general, &n.to_string()).expect("posted");
    }
    let mut texts = Vec::new();
    for _ in 0..4 {
        texts.push(socket.event("message").await["text"].clone());
    }
    assert_eq!(texts, ["1", "0", "3", "2"]);
    // The last event comes after a second, although no other follows it.
    world.ann().say(&world.general, "last").expect("posted");
    assert!(socket.is_silent().await);
    world.slack.advance(Duration::from_secs(1));
    assert_eq!(socket.event("message").await["text"], "last");
    world.set(Switch::Reorder { app: Some(kelly()), on: false });
    world.ann().say(&world.general, "at once").expect("posted");
    assert_eq!(socket.event("message").await["text"], "at once");
}

#[tokio::test]
async fn hello_is_late_or_never_comes() {
    let world = start().await;
    world.set(Switch::SlowHello { app: Some(kelly()), millis: 5_000, times: 1 });
    let mut late = world.dial(&world.open("kelly").await).await;
    assert!(late.is_silent().await);
    world.slack.advance(Duration::from_secs(5));
    late.message("hello").await;
    world.set(Switch::WithholdHello { app: Some(kelly()), times: 1 });
    let mut silent = world.dial(&world.open("kelly").await).await;
    world.slack.advance(Duration::from_mins(1));
    assert!(silent.is_silent().await);
    world.connect("kelly").await;
    world.set(Switch::IgnoreUpgrades { app: Some(kelly()), times: 1 });
    let url = world.open("kelly").await;
    assert!(tokio::time::timeout(Duration::from_millis(100), world.dial(&url)).await.is_err());
}

#[tokio::test]
async fn connections_are_dropped_and_asked_to_leave() {
    let world = start().await;
    let mut other = world.connect("vince").await;
    for (how, closed) in [(Cut::Reset, Closed::Broken), (Cut::WithoutCloseFrame, Closed::Broken), (Cut::Close(1011), Closed::Code(1011))] {
        let mut socket = world.connect("kelly").await;
        world.set(Switch::Drop { app: Some(kelly()), how });
        assert_eq!(socket.closed().await, closed, "{how:?}");
    }
    for (reason, name) in [
        (DisconnectReason::Warning, "warning"),
        (DisconnectReason::RefreshRequested, "refresh_requested"),
        (DisconnectReason::LinkDisabled, "link_disabled"),
    ] {
        let mut socket = world.connect("kelly").await;
        world.set(Switch::Disconnect { app: Some(kelly()), reason });
        assert_eq!(socket.message("disconnect").await["reason"], name);
    }
    assert!(other.is_silent().await, "the other app stays connected");
}

#[tokio::test]
async fn a_half_open_connection_swallows_what_is_sent_to_it() {
    let world = start().await;
    let mut half_open = world.connect("kelly").await;
    world.set(Switch::HalfOpen { app: Some(kelly()) });
    world.ann().say(&world.general, "lost").expect("posted");
    assert!(half_open.is_unanswered().await);
    // Slack stops using the half-open connection, and its client does not hear of that either.
    world.set(Switch::Disconnect { app: Some(kelly()), reason: DisconnectReason::RefreshRequested });
    assert!(half_open.is_unanswered().await);
    let mut fresh = world.connect("kelly").await;
    world.slack.advance(Duration::from_secs(3));
    assert_eq!(fresh.event("message").await["text"], "lost");
}

#[tokio::test]
async fn each_connection_is_refreshed_after_some_seconds() {
    let world = start().await;
    world.set(Switch::Refresh { seconds: 20 });
    for _ in 0..3 {
        let mut socket = world.connect("kelly").await;
        world.slack.advance(Duration::from_secs(10));
        assert_eq!(socket.message("disconnect").await["reason"], "warning");
        world.slack.advance(Duration::from_secs(10));
        assert_eq!(socket.message("disconnect").await["reason"], "refresh_requested");
    }
    world.set(Switch::Behave);
    let mut socket = world.dial(&world.open("kelly").await).await;
    assert_eq!(socket.message("hello").await["debug_info"]["approximate_connection_time"], 18_000);
}

#[tokio::test]
async fn a_revoked_token_is_told_over_the_connection() {
    let world = start().await;
    let mut socket = world.connect("kelly").await;
    world.set(Switch::RevokeToken { app: "kelly".to_owned(), on: true });
    assert_eq!(socket.event("tokens_revoked").await["tokens"]["bot"], json!([world.slack.app("kelly").user]));
}

#[tokio::test]
async fn faults_are_in_the_journal() {
    let world = start_with(|options| options.journal = true).await;
    world.set(api(ApiFault::Status(500)));
    post(&world, "kelly").await.expect("an answer");
    world.set(api(ApiFault::Status(500)));
    world.set(Switch::Behave);
    post(&world, "kelly").await.expect("an answer").ok();
    let calls = world.slack.journal().into_iter().filter_map(|exchange| match exchange {
        Exchange::Call(call) => Some((call.status, call.answer["ok"].clone())),
        Exchange::Frame(_) => None,
    });
    assert_eq!(calls.collect::<Vec<_>>(), [(500, Value::Null), (200, json!(true))]);
}

#[tokio::test]
async fn faults_are_set_over_http_too() {
    let world = start().await;
    let url = |path: &str| world.slack.api_url().replace("/api/", path);
    let http = world.kelly().http;
    let set = |switches: Value| http.post(url("/sandbox/misbehave")).json(&switches).send();
    let hang = json!({ "do": "api", "app": "kelly", "method": "team.", "times": 1, "with": { "status": 503 } });
    assert_eq!(set(json!([hang, { "do": "seed", "seed": 1 }])).await.expect("an answer").status(), 204);
    assert_eq!(world.kelly().call("team.info", json!({})).await.status, 503);
    for wrong in [json!({ "do": "dance" }), json!({ "do": "revoke_token", "app": "nobody", "on": true }), Value::Null] {
        assert_eq!(set(wrong.clone()).await.expect("an answer").status(), 400, "{wrong}");
    }
    let info: Value = http.get(url("/sandbox/info")).send().await.expect("an answer").json().await.expect("JSON");
    assert_eq!(info["apps"][0]["bot_token"], world.slack.app("kelly").bot_token);
}

#[tokio::test]
async fn nothing_is_lost_when_envelopes_are_lost_and_doubled_by_chance() {
    let world = start_with(|options| options.apps.truncate(1)).await;
    world.set(Switch::Envelopes { app: None, lose_acknowledgement: 0.05, duplicate: 0.1 });
    let (report, mut reports) = tokio::sync::mpsc::unbounded_channel();
    for _ in 0..4 {
        let (mut socket, report) = (world.connect("kelly").await, report.clone());
        tokio::spawn(async move {
            while let Ok(envelope) = socket.next().await {
                socket.acknowledge(&envelope, Value::Null).await;
                if report.send(envelope["payload"]["event_id"].to_string()).is_err() {
                    return;
                }
            }
        });
    }
    for n in 0..500 {
        world.ann().say(&world.general, &n.to_string()).expect("posted");
    }
    let (mut seen, mut deliveries) = (BTreeSet::new(), 0);
    while seen.len() < 500 {
        seen.insert(within(reports.recv()).await.expect("an event"));
        deliveries += 1;
    }
    // Events whose acknowledgement was lost are sent again.
    world.set(Switch::Behave);
    world.slack.advance(Duration::from_secs(3));
    world.until(|slack| (slack.unacknowledged("kelly") == 0).then_some(())).await;
    while reports.try_recv().is_ok() {
        deliveries += 1;
    }
    assert!(deliveries > 540, "only {deliveries} deliveries");
}
