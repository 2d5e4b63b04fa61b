//! The gateway: events and their receivers, resumes, and close codes.

use std::time::Duration;

use flate2::{Decompress, FlushDecompress};
use futures_util::{SinkExt, StreamExt};
use sandbox::{BotAccount, RateLimits, Switch};
use serde_json::{Value, json};
use tokio_tungstenite::tungstenite::Message;

use super::harness::{Closed, Gateway, INTENTS, start, start_with};

const CONTENT: u64 = 1 << 15;

#[tokio::test]
async fn ready_comes_before_the_guild_and_names_where_to_resume() {
    let world = start().await;
    let kelly = world.bot("kelly");
    let mut gateway = Gateway::open(&world.sandbox.gateway_url()).await;
    gateway.identify(&kelly.token, INTENTS).await;
    let (ready, guild) = gateway.ready().await;
    assert_eq!(ready["user"]["id"], kelly.id);
    assert_eq!(ready["resume_gateway_url"], world.sandbox.gateway_url());
    assert_eq!(ready["guilds"], json!([{ "id": guild["id"], "unavailable": true }]));
    assert_eq!(guild["members"].as_array().map(Vec::len), Some(1), "a bot without the presence intent gets only itself");
    let mut person = Gateway::open(&world.sandbox.gateway_url()).await;
    person.identify(&world.person().token, 0).await;
    let (_, guild) = person.ready().await;
    assert_eq!(guild["members"].as_array().map(Vec::len), Some(3));
    assert!(guild["presences"].to_string().contains("online"));
}

#[tokio::test]
async fn text_is_hidden_without_the_content_intent_unless_it_is_meant_for_the_bot() {
    let world = start().await;
    let (kelly, vince, person) = (world.bot("kelly"), world.bot("vince"), world.person());
    let general = world.channel("general");
    let mut gateway = world.connect_with(&kelly, INTENTS & !CONTENT).await;
    let direct = person.call("POST", "/users/@me/channels", json!({ "recipient_id": kelly.id })).await.ok();
    let direct = direct["id"].as_str().expect("an id");
    let question = kelly.say(&general, "own").await;
    let reply = json!({ "content": "a reply", "message_reference": { "message_id": question["id"] } });
    let quiet = json!({ "content": "quiet", "message_reference": { "message_id": question["id"] }, "allowed_mentions": { "parse": [] } });
    assert_eq!(gateway.event("MESSAGE_CREATE").await["content"], "own");
    for (channel, body, visible) in [
        (general.as_str(), json!({ "content": "for nobody", "embeds": [{ "title": "t" }] }), false),
        (&general, json!({ "content": format!("<@{}> for you", kelly.id) }), true),
        (&general, json!({ "content": format!("<@{}> for another", vince.id) }), false),
        (&general, json!({ "content": "@everyone" }), false),
        (&general, reply, true),
        (&general, quiet, false),
        (direct, json!({ "content": "between us" }), true),
    ] {
        person.call("POST", &format!("/channels/{channel}/messages"), body.clone()).await.ok();
        let received = gateway.event("MESSAGE_CREATE").await;
        assert_eq!(received["content"] != "", visible, "{body}");
        if !visible {
            assert_eq!(received["embeds"], json!([]));
            assert_eq!(received["referenced_message"]["content"].as_str().unwrap_or_default(), "", "{body}");
        }
    }
}

#[tokio::test]
async fn a_switched_off_portal_hides_text_even_with_the_intent() {
    let world = start().await;
    let (kelly, person, general) = (world.bot("kelly"), world.person(), world.channel("general"));
    let mut gateway = world.connect(&kelly).await;
    let off = Switch::ContentIntent { bot: "kelly".to_owned(), on: false };
    world.sandbox.misbehaviour().set(off).expect("a known bot");
    let posted = person.say(&general, "hello").await;
    assert_eq!(gateway.event("MESSAGE_CREATE").await["content"], "");
    let read = kelly.get(&format!("/channels/{general}/messages/{}", posted["id"].as_str().expect("an id"))).await.ok();
    assert_eq!(read["content"], "");
}

#[tokio::test]
async fn intents_decide_which_events_come() {
    let world = start().await;
    let (kelly, person, general) = (world.bot("kelly"), world.person(), world.channel("general"));
    let mut only_reactions = world.connect_with(&kelly, 1 | 1 << 10).await;
    let posted = person.say(&general, "x").await;
    let id = posted["id"].as_str().expect("an id");
    person.put(&format!("/channels/{general}/messages/{id}/reactions/%F0%9F%91%8D/@me")).await.ok();
    assert_eq!(only_reactions.next().await.expect("an event")["t"], "MESSAGE_REACTION_ADD");
}

#[tokio::test]
async fn a_resumed_session_receives_all_missed_events_in_order() {
    let world = start().await;
    let (kelly, person, general) = (world.bot("kelly"), world.person(), world.channel("general"));
    let mut gateway = world.connect(&kelly).await;
    person.say(&general, "heard").await;
    gateway.event("MESSAGE_CREATE").await;
    let (session, seq) = (gateway.session.clone(), gateway.seq);
    gateway.leave(None).await;
    for number in 0..20 {
        person.say(&general, &number.to_string()).await;
    }
    let mut again = Gateway::open(&world.sandbox.gateway_url()).await;
    again.resume(&kelly.token, &session, seq).await;
    for number in 0..20 {
        assert_eq!(again.event("MESSAGE_CREATE").await["content"], number.to_string());
    }
    again.event("RESUMED").await;
    person.say(&general, "live").await;
    assert_eq!(again.event("MESSAGE_CREATE").await["content"], "live");
}

#[tokio::test]
async fn a_closed_or_unknown_session_cannot_be_resumed() {
    let world = start().await;
    let kelly = world.bot("kelly");
    let gateway = world.connect(&kelly).await;
    let (session, seq) = (gateway.session.clone(), gateway.seq);
    gateway.leave(Some(1000)).await;
    for session in [session.as_str(), "nonsense"] {
        let mut again = Gateway::open(&world.sandbox.gateway_url()).await;
        again.resume(&kelly.token, session, seq).await;
        assert_eq!(again.operation(9).await["d"], false);
    }
}

#[tokio::test]
async fn a_session_expires() {
    let world = start_with(|options| options.windows.resume = Duration::from_millis(50)).await;
    let kelly = world.bot("kelly");
    let gateway = world.connect(&kelly).await;
    let (session, seq) = (gateway.session.clone(), gateway.seq);
    gateway.leave(None).await;
    tokio::time::sleep(Duration::from_millis(150)).await;
    let mut again = Gateway::open(&world.sandbox.gateway_url()).await;
    again.resume(&kelly.token, &session, seq).await;
    assert_eq!(again.operation(9).await["d"], false);
}

#[tokio::test]
async fn protocol_errors_have_their_close_codes() {
    let world = start_with(|options| options.bots[1].intents_content = false).await;
    let token = world.bot("kelly").token.trim_start_matches("Bot ").to_owned();
    let gated = world.bot("vince").token.trim_start_matches("Bot ").to_owned();
    let identify = |change: Value| {
        let mut d = json!({ "token": token, "intents": 513, "properties": {} });
        d.as_object_mut().expect("an object").extend(change.as_object().expect("an object").clone());
        json!({ "op": 2, "d": d }).to_string()
    };
    for (payload, code) in [
        (json!({ "op": 77, "d": null }).to_string(), 4001),
        ("nonsense".to_owned(), 4002),
        (json!({ "d": null }).to_string(), 4002),
        (identify(json!({ "padding": "x".repeat(4_096) })), 4002),
        (json!({ "op": 3, "d": {} }).to_string(), 4003),
        (json!({ "op": 8, "d": {} }).to_string(), 4003),
        (identify(json!({ "token": "wrong" })), 4004),
        (json!({ "op": 6, "d": { "token": "wrong", "session_id": "s", "seq": 0 } }).to_string(), 4004),
        (identify(json!({ "shard": [2, 2] })), 4010),
        (identify(json!({ "shard": [0] })), 4010),
        (identify(json!({ "intents": 1_u64 << 40 })), 4013),
        (identify(json!({ "intents": null })), 4013),
        (identify(json!({ "token": gated, "intents": CONTENT })), 4014),
    ] {
        let mut gateway = Gateway::open(&world.sandbox.gateway_url()).await;
        gateway.send_text(&payload).await;
        assert_eq!(gateway.closed().await, Closed::Close(code), "{payload:.200}");
    }
    let mut twice = world.connect(&world.bot("kelly")).await;
    twice.identify(&token, 1).await;
    assert_eq!(twice.closed().await, Closed::Close(4005));
    let one = world.connect(&world.bot("kelly")).await;
    let mut ahead = Gateway::open(&world.sandbox.gateway_url()).await;
    ahead.resume(&token, &one.session, one.seq + 100).await;
    assert_eq!(ahead.closed().await, Closed::Close(4007));
}

#[tokio::test]
async fn more_than_120_payloads_a_minute_are_too_many() {
    let world = start().await;
    let mut gateway = world.connect(&world.bot("kelly")).await;
    for _ in 0..120 {
        gateway.send(&json!({ "op": 1, "d": null })).await;
    }
    assert_eq!(gateway.closed().await, Closed::Close(4008));
}

#[tokio::test]
async fn a_client_without_a_heartbeat_is_timed_out() {
    let world = start_with(|options| options.windows.heartbeat = Duration::from_secs(1)).await;
    let mut gateway = world.connect(&world.bot("kelly")).await;
    for _ in 0..3 {
        gateway.send(&json!({ "op": 1, "d": gateway.seq })).await;
        gateway.operation(11).await;
        tokio::time::sleep(Duration::from_millis(700)).await;
    }
    assert_eq!(gateway.closed().await, Closed::Close(4009));
}

#[tokio::test]
async fn an_old_version_of_the_gateway_is_refused() {
    let world = start().await;
    let url = format!("{}/?v=6", world.sandbox.gateway_url());
    let (mut socket, _) = tokio_tungstenite::connect_async(url).await.expect("an upgrade");
    let Some(Ok(Message::Close(Some(frame)))) = socket.next().await else { panic!("it should close") };
    assert_eq!(u16::from(frame.code), 4012);
}

#[tokio::test]
async fn a_second_login_of_a_bot_has_to_wait_and_other_bots_have_not() {
    let world = start_with(|options| {
        options.rate_limits = RateLimits::Discord;
        options.windows.identify = Duration::from_hours(1);
    })
    .await;
    let kelly = world.bot("kelly");
    let limit = async || kelly.get("/gateway/bot").await.ok()["session_start_limit"].clone();
    assert_eq!((&limit().await["max_concurrency"], &limit().await["remaining"]), (&json!(1), &json!(1_000)));
    let first = world.connect(&kelly).await;
    let (session, seq) = (first.session.clone(), first.seq);
    let mut gateway = Gateway::open(&world.sandbox.gateway_url()).await;
    gateway.identify(&kelly.token, 1).await;
    assert_eq!(gateway.operation(9).await["d"], false);
    assert_eq!(limit().await["remaining"], 998);
    world.connect(&world.bot("vince")).await;
    // A session that is resumed is no login.
    first.leave(Some(4000)).await;
    gateway.resume(&kelly.token, &session, seq).await;
    gateway.event("RESUMED").await;
}

#[tokio::test]
async fn a_compressed_stream_has_the_same_payloads() {
    let world = start().await;
    let url = format!("{}/?v=10&encoding=json&compress=zlib-stream", world.sandbox.gateway_url());
    let (mut socket, _) = tokio_tungstenite::connect_async(url).await.expect("an upgrade");
    let mut stream = Decompress::new(true);
    let mut inflate = |frame| {
        let Some(Ok(Message::Binary(bytes))) = frame else { panic!("a binary frame") };
        let mut text = Vec::with_capacity(1 << 20);
        stream.decompress_vec(&bytes, &mut text, FlushDecompress::Sync).expect("zlib");
        serde_json::from_slice::<Value>(&text).expect("JSON")
    };
    assert_eq!(inflate(socket.next().await)["op"], 10);
    let token = world.bot("kelly").token;
    let identify = json!({ "op": 2, "d": { "token": token.trim_start_matches("Bot "), "intents": 1, "properties": {} } });
    socket.send(Message::text(identify.to_string())).await.expect("sent");
    assert_eq!(inflate(socket.next().await)["t"], "READY");
    assert_eq!(inflate(socket.next().await)["t"], "GUILD_CREATE");
}

#[tokio::test]
async fn stopping_says_goodbye_with_1001() {
    let world = start().await;
    let mut gateway = world.connect(&world.bot("kelly")).await;
    let stop = tokio::spawn(world.sandbox.stop());
    assert_eq!(gateway.closed().await, Closed::Close(1001));
    stop.await.expect("stopped");
}

#[tokio::test]
async fn ten_bots_receive_a_burst_of_messages_in_order() {
    let world = start().await;
    let (kelly, person, general) = (world.bot("kelly"), world.person(), world.channel("general"));
    let mut gateways = Vec::new();
    for _ in 0..10 {
        gateways.push(world.connect(&kelly).await);
    }
    for number in 0..100 {
        person.say(&general, &number.to_string()).await;
    }
    for gateway in &mut gateways {
        for number in 0..100 {
            assert_eq!(gateway.event("MESSAGE_CREATE").await["content"], number.to_string());
        }
    }
}

#[tokio::test]
async fn bots_join_leave_and_are_renamed_while_clients_are_connected() {
    let world = start().await;
    let bot = |slug: &str, name: &str| BotAccount { slug: slug.into(), name: name.into(), color: None, intents_content: true };
    let (token, mut gateway) = (world.bot("kelly").token, world.connect(&world.person()).await);
    world.sandbox.set_bots(&[bot("kelly", "Kelly the Great"), bot("ada", "Ada")]);
    let gone = gateway.event("GUILD_MEMBER_REMOVE").await;
    assert!(gone["user"]["username"] != "kelly", "{gone}");
    assert_eq!(gateway.event("GUILD_MEMBER_UPDATE").await["user"]["global_name"], "Kelly the Great");
    assert_eq!(gateway.event("GUILD_ROLE_CREATE").await["role"]["name"], "Ada");
    assert_eq!(gateway.event("GUILD_MEMBER_ADD").await["user"]["username"], "ada");
    assert_eq!(world.bot("kelly").token, token);
    let mut slugs: Vec<_> = world.sandbox.bots().into_iter().map(|bot| bot.slug).collect();
    slugs.sort_unstable();
    assert_eq!(slugs, ["ada", "kelly"]);
    world.connect(&world.bot("ada")).await;
}
