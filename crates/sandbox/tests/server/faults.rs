//! Each fault has its effect, and only for the bots that it is set for.

use std::time::{Duration, Instant};

use sandbox::{Cut, Exchange, RestFault, Switch};
use serde_json::{Value, json};

use super::harness::{Answer, Api, Closed, Gateway, World, start, start_with};

/// The bot for most faults in this file.
fn kelly() -> String {
    "kelly".to_owned()
}

fn set(world: &World, switch: Switch) {
    world.sandbox.misbehaviour().set(switch).expect("everything it names exists");
}

fn rest_fault(with: RestFault, times: u32) -> Switch {
    Switch::Rest { bot: Some(kelly()), method: Some("POST".to_owned()), path: "/channels".to_owned(), times, with }
}

async fn post(world: &World, api: &Api) -> reqwest::Result<Answer> {
    let path = format!("/channels/{}/messages", world.channel("general"));
    api.try_call("POST", &path, Some(&json!({ "content": "x" }))).await
}

async fn history(world: &World) -> usize {
    let path = format!("/channels/{}/messages", world.channel("general"));
    world.person().get(&path).await.ok().as_array().map_or(0, Vec::len)
}

#[tokio::test]
async fn connections_are_dropped_as_asked() {
    let world = start().await;
    let mut other = world.connect(&world.bot("vince")).await;
    for (how, closed) in
        [(Cut::Reset, Closed::Broken), (Cut::Close(4000), Closed::Close(4000)), (Cut::CloseWithoutCode, Closed::CloseWithoutCode)]
    {
        let mut gateway = world.connect(&world.bot("kelly")).await;
        set(&world, Switch::Drop { bot: Some(kelly()), how });
        assert_eq!(gateway.closed().await, closed);
    }
    assert!(other.is_silent_for(Duration::from_millis(50)).await, "the other bot stays connected");
}

#[tokio::test]
async fn resumes_are_refused_as_often_as_asked() {
    let world = start().await;
    set(&world, Switch::RefuseResume { bot: Some(kelly()), times: 1 });
    for refused in [true, false] {
        let gateway = world.connect(&world.bot("kelly")).await;
        let (session, seq) = (gateway.session.clone(), gateway.seq);
        gateway.leave(None).await;
        let mut again = Gateway::open(&world.sandbox.gateway_url()).await;
        again.resume(&world.bot("kelly").token, &session, seq).await;
        let answer = again.next().await.expect("an answer");
        assert_eq!(answer["op"] == 9, refused, "{answer}");
    }
}

#[tokio::test]
async fn operations_can_be_sent_at_any_time() {
    let world = start().await;
    let mut gateway = world.connect(&world.bot("kelly")).await;
    set(&world, Switch::Reconnect { bot: Some(kelly()) });
    gateway.operation(7).await;
    set(&world, Switch::RequestHeartbeat { bot: None });
    gateway.operation(1).await;
    set(&world, Switch::InvalidateSession { bot: None, resumable: true });
    assert_eq!(gateway.operation(9).await["d"], true);
    set(&world, Switch::CloseAfterIdentify { bot: Some(kelly()), code: 4000, times: 1 });
    let mut next = Gateway::open(&world.sandbox.gateway_url()).await;
    next.identify(&world.bot("kelly").token, 1).await;
    assert_eq!(next.closed().await, Closed::Close(4000));
    world.connect(&world.bot("kelly")).await;
}

#[tokio::test]
async fn hello_and_acks_can_be_withheld() {
    let world = start().await;
    set(&world, Switch::WithholdHello { times: 1 });
    let mut silent = Gateway::open_silently(&world.sandbox.gateway_url()).await;
    assert!(silent.is_silent_for(Duration::from_millis(100)).await);
    set(&world, Switch::IgnoreUpgrades { times: 1 });
    let url = world.sandbox.gateway_url();
    let upgrade = tokio::time::timeout(Duration::from_millis(100), Gateway::open(&url)).await;
    assert!(upgrade.is_err(), "the upgrade is not answered");

    let mut gateway = world.connect(&world.bot("kelly")).await;
    set(&world, Switch::WithholdAcks { bot: Some(kelly()), on: true });
    gateway.send(&json!({ "op": 1, "d": null })).await;
    assert!(gateway.is_silent_for(Duration::from_millis(100)).await);
    set(&world, Switch::WithholdAcks { bot: Some(kelly()), on: false });
    gateway.send(&json!({ "op": 1, "d": null })).await;
    gateway.operation(11).await;
}

#[tokio::test]
async fn events_are_delayed_doubled_and_reordered() {
    let world = start().await;
    let (person, general) = (world.person(), world.channel("general"));
    let mut gateway = world.connect(&world.bot("kelly")).await;
    let frames = |delay_ms, duplicate, reorder, reorder_ms| Switch::Frames { bot: Some(kelly()), delay_ms, duplicate, reorder, reorder_ms };

    set(&world, frames(0, 1.0, 0.0, 0));
    person.say(&general, "twice").await;
    let first = gateway.next().await.expect("an event");
    assert_eq!(first, gateway.next().await.expect("the same again"));

    set(&world, frames(150, 0.0, 0.0, 0));
    let began = Instant::now();
    person.say(&general, "late").await;
    gateway.event("MESSAGE_CREATE").await;
    assert!(began.elapsed() >= Duration::from_millis(150));

    set(&world, Switch::Seed { seed: 7 });
    set(&world, frames(0, 0.0, 0.5, 200));
    let mut received = Vec::new();
    for number in 0..20 {
        person.say(&general, &number.to_string()).await;
    }
    for _ in 0..20 {
        let posted = gateway.event("MESSAGE_CREATE").await["content"].as_str().expect("text").parse::<u32>().expect("a number");
        received.push(posted);
    }
    assert!(!received.is_sorted(), "{received:?}");
    received.sort_unstable();
    assert_eq!(received, (0..20).collect::<Vec<_>>());

    set(&world, Switch::Behave);
    person.say(&general, "at once").await;
    assert_eq!(gateway.event("MESSAGE_CREATE").await["content"], "at once");
}

#[tokio::test]
async fn requests_are_answered_wrongly_as_often_as_asked() {
    let world = start().await;
    let (own, other) = (world.bot("kelly"), world.bot("vince"));
    for (fault, status, header) in [
        (RestFault::RateLimited { retry_after: 1.5, headers: true, global: false }, 429, Some(("retry-after", "2"))),
        (RestFault::RateLimited { retry_after: 1.0, headers: true, global: true }, 429, Some(("x-ratelimit-global", "true"))),
        (RestFault::Status(401), 401, None),
        (RestFault::Status(403), 403, None),
        (RestFault::Status(500), 500, None),
        (RestFault::BadGateway, 502, Some(("content-type", "text/html; charset=UTF-8"))),
    ] {
        set(&world, rest_fault(fault, 1));
        assert_eq!(post(&world, &other).await.expect("an answer").status, 200, "another bot is not concerned");
        let answer = post(&world, &own).await.expect("an answer");
        assert_eq!(answer.status, status, "{fault:?}");
        if let Some((name, value)) = header {
            assert_eq!(answer.header(name), Some(value), "{fault:?}");
        }
        assert_eq!(post(&world, &own).await.expect("an answer").status, 200, "once is enough");
    }
    set(&world, rest_fault(RestFault::RateLimited { retry_after: 1.0, headers: false, global: false }, 1));
    let bare = post(&world, &own).await.expect("an answer");
    assert_eq!((bare.status, bare.header("retry-after")), (429, None));
}

#[tokio::test]
async fn connections_are_reset_before_or_after_the_request_is_run() {
    let world = start().await;
    let own = world.bot("kelly");
    set(&world, rest_fault(RestFault::ResetBefore, 1));
    assert!(post(&world, &own).await.is_err());
    assert_eq!(history(&world).await, 0);
    set(&world, rest_fault(RestFault::ResetAfter, 1));
    assert!(post(&world, &own).await.is_err());
    assert_eq!(history(&world).await, 1);
}

#[tokio::test]
async fn requests_hang_and_headers_are_garbage() {
    let world = start().await;
    let own = world.bot("kelly");
    set(&world, rest_fault(RestFault::Hang, 1));
    assert!(tokio::time::timeout(Duration::from_millis(100), post(&world, &own)).await.is_err());
    set(&world, rest_fault(RestFault::GarbageHeaders, 1));
    let answer = post(&world, &own).await.expect("an answer");
    assert_eq!(answer.status, 200);
    assert!(answer.header("x-ratelimit-remaining").is_some_and(|value| value.parse::<u32>().is_err()));
    assert_eq!(history(&world).await, 1);
}

#[tokio::test]
async fn injected_errors_count_as_invalid_requests_and_are_in_the_journal() {
    let world = start_with(|options| options.journal = true).await;
    let own = world.bot("kelly");
    for fault in [RestFault::Status(401), RestFault::Status(403), RestFault::ResetBefore] {
        set(&world, rest_fault(fault, 1));
        assert!(post(&world, &own).await.is_ok_and(|answer| answer.status >= 400) || fault == RestFault::ResetBefore);
    }
    assert_eq!(world.sandbox.invalid_requests(), 2);
    let statuses = world.sandbox.journal().into_iter().filter_map(|exchange| match exchange {
        Exchange::Rest(exchange) => Some(exchange.status),
        Exchange::Frame(_) => None,
    });
    assert!(statuses.collect::<Vec<_>>().starts_with(&[401, 403, 0]));
}

#[tokio::test]
async fn a_revoked_token_is_rejected_everywhere_until_it_is_restored() {
    let world = start().await;
    let own = world.bot("kelly");
    let mut gateway = world.connect(&own).await;
    set(&world, Switch::RevokeToken { bot: kelly(), on: true });
    assert_eq!(gateway.closed().await, Closed::Close(4004));
    assert_eq!(own.get("/users/@me").await.status, 401);
    set(&world, Switch::RevokeToken { bot: kelly(), on: false });
    world.connect(&own).await;
}

#[tokio::test]
async fn nonces_can_be_forgotten_at_once() {
    let world = start().await;
    let path = format!("/channels/{}/messages", world.channel("general"));
    set(&world, Switch::NonceWindow { millis: 0 });
    for _ in 0..2 {
        let body = json!({ "content": "x", "nonce": "n", "enforce_nonce": true });
        world.bot("kelly").call("POST", &path, body).await.ok();
    }
    assert_eq!(history(&world).await, 2);
}

#[tokio::test]
async fn switches_work_over_http_and_unknown_ones_are_refused() {
    let world = start_with(|_| {}).await;
    let mut gateway = world.connect(&world.bot("kelly")).await;
    let api = world.bot("kelly");
    assert_eq!(api.misbehave(&json!({ "do": "drop", "bot": "kelly", "how": { "close": 4001 } })).await, 204);
    assert_eq!(gateway.closed().await, Closed::Close(4001));
    let hang = json!({ "do": "rest", "path": "/users", "times": 1, "with": { "status": 503 } });
    assert_eq!(api.misbehave(&json!([hang, { "do": "seed", "seed": 1 }])).await, 204);
    assert_eq!(api.get("/users/@me").await.status, 503);
    for wrong in [json!({ "do": "dance" }), json!({ "do": "reconnect", "bot": "nobody" }), Value::Null] {
        assert_eq!(api.misbehave(&wrong).await, 400, "{wrong}");
    }
}
