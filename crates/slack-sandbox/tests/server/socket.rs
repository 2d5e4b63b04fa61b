//! Socket Mode: connections, envelopes, acknowledgements, retries and refreshes.

use std::collections::BTreeSet;
use std::time::Duration;

use serde_json::{Value, json};
use slack_sandbox::{AppConfig, DisconnectReason, Switch};

use super::harness::{Closed, start, start_with, within};

const SECOND: Duration = Duration::from_secs(1);

#[tokio::test]
async fn a_connection_begins_with_hello() {
    let world = start().await;
    let mut socket = world.dial(&world.open("kelly").await).await;
    let hello = socket.message("hello").await;
    assert_eq!((&hello["num_connections"], &hello["connection_info"]["app_id"]), (&json!(1), &json!(world.slack.app("kelly").id)));
    assert_eq!(hello["debug_info"]["approximate_connection_time"], 18_000);
    let mut second = world.dial(&format!("{}&debug_reconnects=true", world.open("kelly").await)).await;
    let hello = second.message("hello").await;
    assert_eq!((&hello["num_connections"], &hello["debug_info"]["approximate_connection_time"]), (&json!(2), &json!(360)));
    second.leave().await;
    world.until(|slack| (slack.connections("kelly") == 1).then_some(())).await;
}

#[tokio::test]
async fn a_ticket_is_used_once_and_in_time() {
    let world = start().await;
    let url = world.open("kelly").await;
    let _socket = world.dial(&url).await;
    assert!(tokio_tungstenite::connect_async(&url).await.is_err(), "used");
    let late = world.open("kelly").await;
    world.slack.advance(30 * SECOND);
    assert!(tokio_tungstenite::connect_async(&late).await.is_err(), "late");
    let url = url.split('?').next().expect("an address").to_owned();
    assert!(tokio_tungstenite::connect_async(format!("{url}?ticket=guessed")).await.is_err());
}

#[tokio::test]
async fn an_event_goes_to_one_of_the_connections() {
    let world = start().await;
    let (mut first, mut second) = (world.connect("kelly").await, world.connect("kelly").await);
    for n in 0..20 {
        world.ann().say(&world.general, &n.to_string()).expect("posted");
    }
    let (mut texts, mut shares) = (BTreeSet::new(), [0, 0]);
    for _ in 0..20 {
        let (envelope, which) = tokio::select! {
            envelope = first.next() => (envelope.expect("an envelope"), 0),
            envelope = second.next() => (envelope.expect("an envelope"), 1),
        };
        shares[which] += 1;
        assert!(texts.insert(envelope["payload"]["event"]["text"].to_string()), "once: {envelope}");
        // Either connection may acknowledge.
        first.acknowledge(&envelope, Value::Null).await;
    }
    assert!(shares.iter().all(|share| *share > 0), "{shares:?}");
    world.until(|slack| (slack.unacknowledged("kelly") == 0).then_some(())).await;
}

#[tokio::test]
async fn an_event_without_acknowledgement_comes_again_three_times() {
    let world = start().await;
    let mut socket = world.connect("kelly").await;
    world.ann().say(&world.general, "x").expect("posted");
    let first = socket.message("events_api").await;
    assert_eq!((&first["retry_attempt"], &first["retry_reason"]), (&json!(0), &json!("")));
    assert_eq!(first["accepts_response_payload"], false);
    world.slack.advance(2 * SECOND);
    assert!(socket.is_silent().await, "there is still a second");
    let mut ids = BTreeSet::from([first["envelope_id"].to_string()]);
    // Each attempt waits three seconds for its acknowledgement. The retries come at once, after one minute, and after five.
    for (wait, attempt) in [(1, 1), (3 + 60, 2), (3 + 300, 3)] {
        world.slack.advance(wait * SECOND);
        let again = socket.message("events_api").await;
        assert_eq!((&again["retry_attempt"], &again["retry_reason"]), (&json!(attempt), &json!("timeout")));
        assert_eq!(again["payload"]["event_id"], first["payload"]["event_id"]);
        assert!(ids.insert(again["envelope_id"].to_string()), "a new envelope each time");
    }
    world.slack.advance(Duration::from_hours(1));
    assert!(socket.is_silent().await, "then Slack gives up");
    assert_eq!(world.slack.unacknowledged("kelly"), 0);
}

#[tokio::test]
async fn an_acknowledged_event_does_not_come_again() {
    let world = start().await;
    let mut socket = world.connect("kelly").await;
    world.ann().say(&world.general, "x").expect("posted");
    let envelope = socket.message("events_api").await;
    for nonsense in ["", "[]", "{}", r#"{"envelope_id":"unknown"}"#] {
        socket.send(nonsense).await;
    }
    socket.acknowledge(&envelope, Value::Null).await;
    world.until(|slack| (slack.unacknowledged("kelly") == 0).then_some(())).await;
    world.slack.advance(Duration::from_mins(10));
    assert!(socket.is_silent().await);
}

#[tokio::test]
async fn an_event_waits_for_a_connection() {
    let world = start().await;
    world.ann().say(&world.general, "nobody listens").expect("posted");
    assert_eq!(world.slack.unacknowledged("kelly"), 1);
    // The first retry comes at once, so most likely it fails too.
    let mut socket = world.connect("kelly").await;
    world.slack.advance(Duration::from_mins(1));
    let envelope = socket.envelope("events_api").await;
    assert_eq!(envelope["payload"]["event"]["text"], "nobody listens");
    assert!(envelope["retry_attempt"].as_u64() > Some(0), "{envelope}");
}

#[tokio::test]
async fn a_connection_is_refreshed_after_a_warning() {
    let world = start().await;
    let mut socket = world.connect("kelly").await;
    world.slack.advance(Duration::from_secs(5 * 3_600 - 10));
    assert_eq!(socket.message("disconnect").await["reason"], "warning");
    world.ann().say(&world.general, "still here").expect("posted");
    socket.event("message").await;
    let mut next = world.connect("kelly").await;
    world.slack.advance(10 * SECOND);
    assert_eq!(socket.message("disconnect").await["reason"], "refresh_requested");
    world.ann().say(&world.general, "to the next").expect("posted");
    assert_eq!(next.event("message").await["text"], "to the next");
    world.slack.advance(10 * SECOND);
    assert_eq!(socket.closed().await, Closed::Code(1001));
}

#[tokio::test]
async fn acknowledgements_are_taken_after_a_refresh_was_requested() {
    let world = start().await;
    let mut socket = world.connect("kelly").await;
    world.ann().say(&world.general, "x").expect("posted");
    let envelope = socket.message("events_api").await;
    world.set(Switch::Disconnect { app: None, reason: DisconnectReason::RefreshRequested });
    socket.message("disconnect").await;
    socket.acknowledge(&envelope, Value::Null).await;
    world.until(|slack| (slack.unacknowledged("kelly") == 0).then_some(())).await;
}

#[tokio::test]
async fn an_eleventh_connection_is_one_too_many() {
    let world = start().await;
    let mut sockets = Vec::new();
    for _ in 0..10 {
        sockets.push(world.connect("kelly").await);
    }
    let mut eleventh = world.dial(&world.open("kelly").await).await;
    assert_eq!(eleventh.message("disconnect").await["reason"], "too_many_websockets");
    world.connect("vince").await;
    sockets.pop().expect("a connection").leave().await;
    eleventh.leave().await;
    world.until(|slack| (slack.connections("kelly") == 9).then_some(())).await;
    world.connect("kelly").await;
}

#[tokio::test]
async fn the_server_pings_and_answers_pings() {
    let world = start().await;
    let mut socket = world.connect("kelly").await;
    world.slack.advance(10 * SECOND);
    assert!(socket.is_pinged().await);
    socket.ping().await;
}

#[tokio::test]
async fn an_app_without_socket_mode_gets_no_address() {
    let world = start().await;
    let config = AppConfig { socket_mode: false, ..AppConfig::new("sol", "Solus") };
    let app = world.slack.install(&config);
    let answer = world.api(&app.app_token).call("apps.connections.open", json!({})).await;
    assert_eq!(answer.error(), "socket_mode_not_enabled");
}

#[tokio::test]
async fn connections_end_when_the_app_is_removed_and_when_the_workspace_stops() {
    let world = start().await;
    let (mut removed, mut stopped) = (world.connect("kelly").await, world.connect("vince").await);
    world.set(Switch::Uninstall { app: "kelly".to_owned() });
    assert_eq!(removed.event("app_uninstalled").await["type"], "app_uninstalled");
    assert_eq!(removed.message("disconnect").await["reason"], "link_disabled");
    let stopping = tokio::spawn(world.slack.stop());
    assert_eq!(stopped.closed().await, Closed::Code(1001));
    drop((stopped, removed));
    stopping.await.expect("it stops");
}

#[tokio::test]
async fn a_thousand_events_are_each_delivered_once_over_four_connections() {
    let world = start_with(|options| options.apps.truncate(1)).await;
    let mut readers = Vec::new();
    let (report, mut reports) = tokio::sync::mpsc::unbounded_channel();
    for _ in 0..4 {
        let (mut socket, report) = (world.connect("kelly").await, report.clone());
        readers.push(tokio::spawn(async move {
            while let Ok(envelope) = socket.next().await {
                socket.acknowledge(&envelope, Value::Null).await;
                report.send(envelope["payload"]["event_id"].to_string()).expect("somebody listens");
            }
        }));
    }
    for n in 0..1_000 {
        world.ann().say(&world.general, &n.to_string()).expect("posted");
    }
    let mut seen = BTreeSet::new();
    for _ in 0..1_000 {
        let event = within(reports.recv()).await.expect("an event");
        assert!(seen.insert(event));
    }
    world.until(|slack| (slack.unacknowledged("kelly") == 0).then_some(())).await;
    readers.iter().for_each(tokio::task::JoinHandle::abort);
}
