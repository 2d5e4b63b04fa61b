//! Rules that are in no schema: permissions, limits and error codes.

use std::time::Duration;

use sandbox::{RateLimits, Switch};
use serde_json::{Value, json};

use super::all_operations::PICTURE;
use super::harness::{Api, World, start, start_with};

fn messages(channel: &str) -> String {
    format!("/channels/{channel}/messages")
}

#[tokio::test]
async fn requests_that_discord_rejects_are_rejected_with_its_codes() {
    let world = start().await;
    let (kelly, general) = (world.bot("kelly"), world.channel("general"));
    let own = messages(&general);
    let by_person = world.person().say(&general, "mine").await;
    let foreign = format!("{own}/{}", by_person["id"].as_str().expect("an id"));
    let rows = json!({ "content": "x", "components": [{ "type": 2 }] });
    let emojis = format!("/applications/{}/emojis", kelly.id);
    let large = format!("data:image/png;base64,iVBORw0KGgo{}", "A".repeat(400 * 1024 + 1));
    for (method, path, body, expected) in [
        ("POST", own.as_str(), json!({ "content": "" }), (400, 50006)),
        ("POST", &own, json!({ "content": " \n " }), (400, 50006)),
        ("POST", &own, json!({ "content": "x".repeat(2_001) }), (400, 50035)),
        ("POST", &own, json!({ "content": ["x"] }), (400, 50035)),
        ("POST", &own, json!({ "content": "x", "nonce": "n".repeat(26) }), (400, 50035)),
        ("POST", &own, json!({ "content": "x", "embeds": vec![json!({}); 11] }), (400, 50035)),
        ("POST", &own, rows, (400, 50035)),
        ("POST", &own, json!({ "content": "x", "message_reference": { "message_id": "1" } }), (400, 50035)),
        ("POST", "/channels/1/messages", json!({ "content": "x" }), (404, 10003)),
        ("POST", "/channels/x/messages", json!({ "content": "x" }), (400, 50035)),
        ("PATCH", &foreign, json!({ "content": "yours" }), (403, 50005)),
        ("GET", &format!("{own}/1"), Value::Null, (404, 10008)),
        ("GET", &format!("{own}?limit=101"), Value::Null, (400, 50035)),
        ("GET", "/guilds/1", Value::Null, (404, 10004)),
        ("GET", &format!("/guilds/{}/members/1", world.sandbox.guild_id()), Value::Null, (404, 10007)),
        ("GET", "/users/1", Value::Null, (404, 10013)),
        ("GET", "/no/such/route", Value::Null, (404, 0)),
        ("GET", "/webhooks/1/nonsense", Value::Null, (404, 10015)),
        ("POST", "/interactions/1/nonsense/callback", json!({ "type": 5 }), (404, 10062)),
        ("PUT", &format!("{foreign}/reactions/word/@me"), Value::Null, (400, 10014)),
        ("POST", &format!("{own}/bulk-delete"), json!({ "messages": ["1"] }), (400, 50016)),
        ("POST", "/users/@me/channels", json!({ "recipient_id": kelly.id }), (400, 50033)),
        ("PATCH", "/users/@me", json!({ "username": "K", "avatar": "https://example.com/a.png" }), (400, 50035)),
        ("PATCH", "/users/@me", json!({ "username": "K", "avatar": PICTURE.replace("png", "webp") }), (400, 50035)),
        ("POST", &emojis, json!({ "name": "x", "image": PICTURE }), (400, 50035)),
        ("POST", &emojis, json!({ "name": "a-b", "image": PICTURE }), (400, 50035)),
        ("POST", &emojis, json!({ "name": "face" }), (400, 50035)),
        ("POST", &emojis, json!({ "name": "face", "image": large }), (400, 50035)),
        ("GET", &format!("{emojis}/1"), Value::Null, (404, 10014)),
        ("GET", &format!("/applications/{}/emojis", world.bot("vince").id), Value::Null, (403, 20012)),
        ("PUT", "/applications/1/commands", json!([]), (404, 10002)),
        ("PUT", &format!("/applications/{}/commands", world.bot("vince").id), json!([]), (403, 20012)),
    ] {
        let answer = kelly.call(method, path, body).await;
        assert_eq!(answer.refusal(), expected, "{method} {path}: {answer:?}");
    }
    for token in ["Bot nonsense", "", "Bot ", kelly.token.trim_start_matches("Bot ")] {
        assert_eq!(kelly.with_token(token).get("/users/@me").await.status, 401, "{token}");
    }
}

#[tokio::test]
async fn invalid_json_is_an_error_and_no_crash() {
    let world = start().await;
    let http = reqwest::Client::builder().no_proxy().build().expect("a client");
    let url = format!("{}/api/v10{}", world.sandbox.api_url(), messages(&world.channel("general")));
    for (content_type, body) in [
        ("application/json", "{"),
        ("application/json", "7"),
        ("multipart/form-data", "no boundary"),
        ("multipart/form-data; boundary=x", "--x\r\nnonsense"),
    ] {
        let request = http.post(&url).header("authorization", world.bot("kelly").token).header("content-type", content_type);
        let status = request.body(body).send().await.expect("an answer").status();
        assert_eq!(status, 400, "{content_type} {body}");
    }
}

#[tokio::test]
async fn replies_mention_the_author_only_if_allowed() {
    let world = start().await;
    let (kelly, person, general) = (world.bot("kelly"), world.person(), world.channel("general"));
    let question = person.say(&general, "why?").await;
    let reply =
        |allowed: Value| json!({ "content": "so", "message_reference": { "message_id": question["id"] }, "allowed_mentions": allowed });
    for (allowed, pinged) in [(Value::Null, true), (json!({ "parse": [] }), false), (json!({ "parse": [], "replied_user": true }), true)] {
        let posted = kelly.call("POST", &messages(&general), reply(allowed.clone())).await.ok();
        assert_eq!((&posted["type"], &posted["referenced_message"]["id"]), (&json!(19), &question["id"]));
        let pings = world.sandbox.pings(posted["id"].as_str().expect("an id")).expect("a known message");
        assert_eq!(pings.contains(&person.id), pinged, "{allowed}");
    }
    let loose = json!({ "content": "x", "message_reference": { "message_id": "1", "fail_if_not_exists": false } });
    assert_eq!(kelly.call("POST", &messages(&general), loose).await.ok()["type"], 0);
}

#[tokio::test]
async fn everyone_is_pinged_only_when_allowed() {
    let world = start().await;
    let (kelly, general) = (world.bot("kelly"), world.channel("general"));
    for (allowed, pinged) in [(Value::Null, 2), (json!({ "parse": [] }), 0)] {
        let body = json!({ "content": "@everyone", "allowed_mentions": allowed });
        let posted = kelly.call("POST", &messages(&general), body).await.ok();
        assert_eq!(posted["mention_everyone"], pinged > 0);
        assert_eq!(world.sandbox.pings(posted["id"].as_str().expect("an id")).map(|pings| pings.len()), Some(pinged));
    }
}

#[tokio::test]
async fn a_nonce_posts_once_inside_its_window() {
    let world = start_with(|options| options.windows.nonce = Duration::from_secs(2)).await;
    let (kelly, vince, general) = (world.bot("kelly"), world.bot("vince"), world.channel("general"));
    let body = json!({ "content": "once", "nonce": "abc", "enforce_nonce": true });
    let post = async |api: &Api| api.call("POST", &messages(&general), body.clone()).await.ok();
    let first = post(&kelly).await;
    let second = post(&kelly).await;
    assert_eq!((&second["id"], &second["nonce"]), (&first["id"], &json!("abc")));
    assert_ne!(post(&vince).await["id"], first["id"], "another author");
    tokio::time::sleep(Duration::from_millis(2050)).await;
    assert_ne!(post(&kelly).await["id"], first["id"], "after the window");
}

#[tokio::test]
async fn files_keep_their_bytes_whatever_the_order_of_the_parts() {
    let world = start().await;
    let (kelly, general) = (world.bot("kelly"), world.channel("general"));
    let bytes: Vec<u8> = (0..=255).collect();
    for json_first in [true, false] {
        let body = json!({ "content": "a file", "attachments": [{ "id": 0, "filename": "../../x.bin" }] });
        let posted = kelly.upload(&messages(&general), &body, &[("x.bin", bytes.clone())], json_first).await.ok();
        let file = &posted["attachments"][0];
        assert_eq!((&file["filename"], &file["size"]), (&json!("x.bin"), &json!(256)));
        let url = file["url"].as_str().expect("an address");
        assert_eq!(kelly.fetch(url).await, (200, bytes.clone()));
        let without_signature = url.split('?').next().expect("a path");
        assert_eq!(kelly.fetch(without_signature).await.0, 404);
        assert_eq!(kelly.fetch(&url.replace("hm=", "hm=0")).await.0, 404);
    }
}

#[tokio::test]
async fn addresses_of_files_expire() {
    let world = start_with(|options| options.windows.attachment_url = Duration::ZERO).await;
    let kelly = world.bot("kelly");
    let posted = kelly.upload(&messages(&world.channel("general")), &json!({}), &[("x", vec![1])], true).await.ok();
    assert_eq!(kelly.fetch(posted["attachments"][0]["url"].as_str().expect("an address")).await.0, 404);
}

#[tokio::test]
async fn files_that_are_too_large_are_refused() {
    let world = start().await;
    let (kelly, path) = (world.bot("kelly"), messages(&world.channel("general")));
    let mebibytes = |count: usize| vec![0_u8; count * 1024 * 1024];
    let one = kelly.upload(&path, &json!({}), &[("x", mebibytes(11))], true).await;
    assert_eq!(one.refusal(), (413, 40005));
    let several = kelly.upload(&path, &json!({}), &[("a", mebibytes(9)), ("b", mebibytes(9)), ("c", mebibytes(9))], true).await;
    assert_eq!(several.refusal(), (413, 40005));
    kelly.upload(&path, &json!({}), &[("x", mebibytes(10))], true).await.ok();
}

#[tokio::test]
async fn a_denied_permission_is_refused_where_it_is_denied() {
    let world = start().await;
    let (kelly, general, ops) = (world.bot("kelly"), world.channel("general"), world.channel("ops"));
    let deny = |permission: &str, on: bool| Switch::Deny {
        bot: "kelly".to_owned(),
        channel: "general".to_owned(),
        permission: permission.to_owned(),
        on,
    };
    let misbehaviour = world.sandbox.misbehaviour();
    misbehaviour.set(deny("SEND_MESSAGES", true)).expect("a known permission");
    let body = json!({ "content": "x" });
    assert_eq!(kelly.call("POST", &messages(&general), body.clone()).await.refusal(), (403, 50013));
    kelly.say(&ops, "elsewhere").await;
    misbehaviour.set(deny("SEND_MESSAGES", false)).expect("a known permission");
    kelly.say(&general, "again").await;
    misbehaviour.set(deny("VIEW_CHANNEL", true)).expect("a known permission");
    assert_eq!(kelly.get(&messages(&general)).await.refusal(), (403, 50001));
    assert!(misbehaviour.set(deny("DANCE", true)).is_err());
}

#[tokio::test]
async fn the_sixth_message_in_five_seconds_is_told_how_long_to_wait() {
    let world = start_with(|options| options.rate_limits = RateLimits::Discord).await;
    let (kelly, general) = (world.bot("kelly"), world.channel("general"));
    let post = async || kelly.call("POST", &messages(&general), json!({ "content": "x" })).await;
    for left in ["4", "3", "2", "1", "0"] {
        let answer = post().await;
        assert_eq!((answer.status, answer.header("x-ratelimit-remaining")), (200, Some(left)));
        for header in ["x-ratelimit-limit", "x-ratelimit-reset", "x-ratelimit-reset-after", "x-ratelimit-bucket"] {
            assert!(answer.header(header).is_some(), "{header}");
        }
    }
    let limited = post().await;
    assert_eq!((limited.status, limited.header("x-ratelimit-scope")), (429, Some("user")));
    assert!(limited.header("retry-after").is_some());
    let wait = limited.json["retry_after"].as_f64().expect("a number");
    assert!(wait > 3.0 && wait <= 5.0, "{wait}");
    assert_eq!(limited.json["global"], false);
    kelly.say(&world.channel("ops"), "elsewhere").await;
    world.person().say(&general, "people are not limited").await;
    assert_eq!(world.sandbox.invalid_requests(), 1);
}

#[tokio::test]
async fn history_comes_newest_first_in_pages() {
    let world = start().await;
    let (kelly, general) = (world.bot("kelly"), world.channel("general"));
    let mut ids = Vec::new();
    for number in 0..7 {
        ids.push(kelly.say(&general, &number.to_string()).await["id"].as_str().expect("an id").to_owned());
    }
    for (query, expected) in [
        ("limit=3".to_owned(), vec!["6", "5", "4"]),
        (format!("before={}&limit=2", ids[3]), vec!["2", "1"]),
        (format!("after={}&limit=2", ids[3]), vec!["5", "4"]),
        (format!("around={}&limit=3", ids[3]), vec!["4", "3", "2"]),
    ] {
        let page = kelly.get(&format!("{}?{query}", messages(&general))).await.ok();
        let posted: Vec<&str> = page.as_array().expect("a list").iter().filter_map(|m| m["content"].as_str()).collect();
        assert_eq!(posted, expected, "{query}");
    }
}

#[tokio::test]
async fn threads_have_the_id_of_their_message_and_are_unarchived_by_a_message() {
    let world = start().await;
    let (kelly, person, general) = (world.bot("kelly"), world.person(), world.channel("general"));
    let message = person.say(&general, "a topic").await;
    let id = message["id"].as_str().expect("an id");
    let path = format!("{}/{id}/threads", messages(&general));
    let thread = kelly.call("POST", &path, json!({ "name": "topic" })).await.ok();
    assert_eq!((&thread["id"], &thread["parent_id"]), (&message["id"], &json!(general)));
    assert_eq!(kelly.call("POST", &path, json!({ "name": "again" })).await.refusal(), (400, 160_004));
    let starter = &kelly.get(&messages(id)).await.ok()[0];
    assert_eq!((&starter["type"], &starter["referenced_message"]["content"]), (&json!(21), &json!("a topic")));
    kelly.call("PATCH", &format!("/channels/{id}"), json!({ "archived": true })).await.ok();
    let archived = format!("/channels/{general}/threads/archived/public");
    assert_eq!(kelly.get(&archived).await.ok()["threads"][0]["id"], message["id"]);
    person.say(id, "wake up").await;
    assert_eq!(kelly.get(&archived).await.ok()["threads"], json!([]));
    kelly.call("PATCH", &format!("/channels/{id}"), json!({ "archived": true, "locked": true })).await.ok();
    assert_eq!(kelly.call("POST", &messages(id), json!({ "content": "x" })).await.refusal(), (400, 50083));
}

#[tokio::test]
async fn webhooks_post_under_the_given_names() {
    let world = start().await;
    let (kelly, general) = (world.bot("kelly"), world.channel("general"));
    let hooks = format!("/channels/{general}/webhooks");
    assert_eq!(kelly.call("POST", &hooks, json!({ "name": "my Discord" })).await.refusal(), (400, 50035));
    let webhook = kelly.call("POST", &hooks, json!({ "name": "personas" })).await.ok();
    let path = format!("/webhooks/{}/{}", webhook["id"].as_str().expect("an id"), webhook["token"].as_str().expect("a token"));
    let posted = kelly.call("POST", &format!("{path}?wait=true"), json!({ "content": "hi", "username": "Solus" })).await.ok();
    assert_eq!((&posted["author"]["username"], &posted["webhook_id"]), (&json!("Solus"), &webhook["id"]));
    assert_eq!(kelly.call("POST", &path, json!({ "content": "hi" })).await.status, 204);
    assert_eq!(kelly.get(&format!("{path}x")).await.refusal(), (401, 50027));
    kelly.delete(&path).await.ok();
    assert_eq!(kelly.call("POST", &path, json!({ "content": "hi" })).await.refusal(), (404, 10015));
}

#[tokio::test]
async fn commands_keep_their_ids_and_their_number_is_limited() {
    let world = start().await;
    let kelly = world.bot("kelly");
    let path = format!("/applications/{}/commands", kelly.id);
    let named = |name: String| json!({ "name": name, "description": "d" });
    let first = kelly.call("PUT", &path, json!([named("ask".to_owned())])).await.ok();
    let second = kelly.call("PUT", &path, json!([named("team".to_owned()), named("ask".to_owned())])).await.ok();
    assert_eq!(second[1], first[0], "unchanged, with its id and version");
    let many: Vec<Value> = (0..101).map(|number| named(format!("c{number}"))).collect();
    assert_eq!(kelly.call("PUT", &path, json!(many)).await.refusal(), (400, 30032));
    let double = json!([named("ask".to_owned()), named("ask".to_owned())]);
    assert_eq!(kelly.call("PUT", &path, double).await.refusal(), (400, 50035));
    for round in 0..2 {
        let fresh: Vec<Value> = (0..99).map(|number| named(format!("r{round}-{number}"))).collect();
        kelly.call("PUT", &path, json!(fresh)).await.ok();
    }
    assert_eq!(kelly.call("POST", &path, named("one-more".to_owned())).await.refusal(), (400, 30034));
}

#[tokio::test]
async fn only_this_machine_may_ask_for_tokens() {
    let world = start().await;
    let url = format!("{}/sandbox/info", world.sandbox.api_url());
    let http = reqwest::Client::builder().no_proxy().build().expect("a client");
    let status = async |name: &str, value: &str| http.get(&url).header(name, value).send().await.expect("an answer").status();
    assert_eq!(status("host", "rebound.example").await, 403);
    assert_eq!(status("origin", "https://example.com").await, 403);
    let info: Value = http.get(&url).send().await.expect("an answer").json().await.expect("JSON");
    assert_eq!(info, world.sandbox.info());
    assert_eq!(info["personas"][0], json!({ "role": null, "slug": "kelly", "id": world.bot("kelly").id }));
    assert_eq!(info["channels"]["general"], world.channel("general"));
}

#[tokio::test]
async fn a_reset_while_running_deletes_messages_and_notifies_clients() {
    let world = start().await;
    let (kelly, general) = (world.bot("kelly"), world.channel("general"));
    let posted = kelly.say(&general, "x").await;
    let path = format!("{}/{}/threads", messages(&general), posted["id"].as_str().expect("an id"));
    kelly.call("POST", &path, json!({ "name": "t" })).await.ok();
    let mut gateway = world.connect(&kelly).await;
    let http = reqwest::Client::builder().no_proxy().build().expect("a client");
    let reset = http.post(format!("{}/sandbox/reset", world.sandbox.api_url())).send().await.expect("an answer");
    assert_eq!(reset.status(), 204);
    assert_eq!(gateway.event("MESSAGE_DELETE").await["id"], posted["id"]);
    assert_eq!(gateway.event("THREAD_DELETE").await["id"], posted["id"]);
    assert_eq!(kelly.get(&messages(&general)).await.ok(), json!([]));
    assert_eq!(kelly.get("/users/@me").await.status, 200, "accounts stay");
}

#[tokio::test]
async fn a_channel_with_thousands_of_messages_is_read() {
    let world: World = start().await;
    let (kelly, general) = (world.bot("kelly"), world.channel("general"));
    let clients = (0..4).map(|_| kelly.clone());
    let posting = clients.map(|api| {
        let general = general.clone();
        tokio::spawn(async move {
            for number in 0..500 {
                api.say(&general, &number.to_string()).await;
            }
        })
    });
    for task in posting.collect::<Vec<_>>() {
        task.await.expect("posted");
    }
    assert_eq!(kelly.get(&format!("{}?limit=100", messages(&general))).await.ok().as_array().map(Vec::len), Some(100));
}
