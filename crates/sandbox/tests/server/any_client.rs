//! Behaviour that only foreign clients need: the form of tokens, frames, and responses to requests that our clients never make.

use sandbox::{RateLimits, Sandbox, Switch};
use serde_json::{Value, json};

use super::harness::{Closed, Gateway, INTENTS, World, options, start, start_with};

#[tokio::test]
async fn a_token_begins_with_the_id_of_its_account() {
    let world = start().await;
    for (token, id) in [(world.bot("kelly").token, world.bot("kelly").id), (world.person().token, world.person().id)] {
        let token = token.trim_start_matches("Bot ");
        let first = token.split('.').next().expect("a part");
        assert_eq!(token.split('.').count(), 3, "{token}");
        assert_eq!(decode(first), id.as_bytes(), "{token}");
    }
}

/// Base64 without padding.
fn decode(text: &str) -> Vec<u8> {
    const DIGITS: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let (mut bits, mut count, mut out) = (0_u32, 0, Vec::new());
    for digit in text.chars() {
        bits = bits << 6 | u32::try_from(DIGITS.find(digit).expect("a digit")).expect("below 64");
        count += 6;
        if count >= 8 {
            count -= 8;
            out.push(u8::try_from(bits >> count & 0xff).expect("a byte"));
        }
    }
    out
}

#[tokio::test]
async fn tokens_of_earlier_versions_stay_valid() {
    let dir = tempfile::tempdir().expect("a folder");
    let world = World::of(Sandbox::start(options(&dir)).await.expect("the sandbox starts"));
    let (token, id) = (world.bot("kelly").token, world.bot("kelly").id);
    world.sandbox.stop().await;
    let path = dir.path().join("events.jsonl");
    let old = format!("sandbox.{id}.0193a5c0ffee7abc8def0123456789ab");
    let text = std::fs::read_to_string(&path).expect("the event file").replace(token.trim_start_matches("Bot "), &old);
    std::fs::write(&path, text).expect("written");
    let world = World::of(Sandbox::start(options(&dir)).await.expect("the sandbox starts"));
    let kelly = world.bot("kelly");
    assert_eq!(kelly.token, format!("Bot {old}"));
    assert_eq!(kelly.get("/users/@me").await.ok()["id"], id);
    world.connect(&kelly).await;
}

#[tokio::test]
async fn binary_frames_are_read_as_text() {
    let world = start().await;
    let token = world.bot("kelly").token;
    let identify = json!({ "op": 2, "d": { "token": token.trim_start_matches("Bot "), "intents": 1, "properties": {} } });
    let mut gateway = Gateway::open(&world.sandbox.gateway_url()).await;
    gateway.send_bytes(identify.to_string().into_bytes()).await;
    gateway.ready().await;
    gateway.send_bytes(vec![0xff, 0xfe]).await;
    assert_eq!(gateway.closed().await, Closed::Close(4002));
}

#[tokio::test]
async fn a_close_frame_is_answered_with_the_same_code() {
    let world = start().await;
    for code in [1000, 3064, 4000] {
        let gateway = world.connect(&world.bot("kelly")).await;
        assert_eq!(gateway.leave(Some(code)).await, Closed::Close(code));
    }
}

#[tokio::test]
async fn answers_to_interactions_have_no_rate_limit() {
    let world = start_with(|options| options.rate_limits = RateLimits::Discord).await;
    let kelly = world.bot("kelly");
    assert!(kelly.get("/users/@me").await.header("x-ratelimit-bucket").is_some());
    for _ in 0..60 {
        let answer = kelly.call("POST", "/interactions/1/x/callback", json!({ "type": 5 })).await;
        assert_eq!((answer.refusal(), answer.header("x-ratelimit-bucket")), ((404, 10062), None));
    }
}

#[tokio::test]
async fn ready_has_what_clients_read_and_the_shard_that_was_asked_for() {
    let world = start().await;
    let token = world.bot("kelly").token;
    let mut gateway = Gateway::open(&world.sandbox.gateway_url()).await;
    let asked = json!({ "token": token.trim_start_matches("Bot "), "intents": 1, "properties": {}, "shard": [0, 2] });
    gateway.send(&json!({ "op": 2, "d": asked })).await;
    let (ready, _) = gateway.ready().await;
    assert_eq!(ready["shard"], json!([0, 2]));
    for list in ["private_channels", "relationships", "presences", "guild_join_requests"] {
        assert_eq!(ready[list], json!([]), "{list}");
    }
}

#[tokio::test]
async fn a_client_identifies_again_on_the_same_connection_after_an_invalid_session() {
    let world = start().await;
    let (kelly, person, general) = (world.bot("kelly"), world.person(), world.channel("general"));
    let mut gateway = world.connect(&kelly).await;
    let invalidate = |resumable| Switch::InvalidateSession { bot: Some("kelly".to_owned()), resumable };
    let misbehaviour = world.sandbox.misbehaviour();
    for resumable in [false, true] {
        let before = gateway.session.clone();
        misbehaviour.set(invalidate(resumable)).expect("a known bot");
        assert_eq!(gateway.operation(9).await["d"], resumable);
        gateway.identify(&kelly.token, INTENTS).await;
        gateway.ready().await;
        assert_ne!(gateway.session, before);
        person.say(&general, "heard").await;
        assert_eq!(gateway.event("MESSAGE_CREATE").await["content"], "heard");
    }
    // A resumable session can also be resumed on the same connection, and gets all missed events.
    misbehaviour.set(invalidate(true)).expect("a known bot");
    gateway.operation(9).await;
    person.say(&general, "missed").await;
    let (session, seq) = (gateway.session.clone(), gateway.seq);
    gateway.resume(&kelly.token, &session, seq).await;
    assert_eq!(gateway.event("MESSAGE_CREATE").await["content"], "missed");
    gateway.event("RESUMED").await;
    gateway.identify(&kelly.token, INTENTS).await;
    assert_eq!(gateway.closed().await, Closed::Close(4005));
}

#[tokio::test]
async fn members_are_found_by_the_beginning_of_their_names() {
    let world = start().await;
    let (kelly, vince, guild) = (world.bot("kelly"), world.bot("vince"), world.sandbox.guild_id());
    kelly.call("PATCH", &format!("/guilds/{guild}/members/@me"), json!({ "nick": "Captain" })).await.ok();
    let mut gateway = world.connect(&kelly).await;
    for (query, found) in [("KEL", vec![&kelly.id]), ("capt", vec![&kelly.id]), ("vin", vec![&vince.id]), ("elly", vec![])] {
        let path = format!("/guilds/{guild}/members/search?query={query}&limit=10");
        assert_eq!(ids(&kelly.get(&path).await.ok()), found, "{query}");
        gateway.send(&json!({ "op": 8, "d": { "guild_id": guild, "query": query, "limit": 0 } })).await;
        assert_eq!(ids(&gateway.event("GUILD_MEMBERS_CHUNK").await["members"]), found, "{query}");
    }
    let search = |query: &str| format!("/guilds/{guild}/members/search{query}");
    assert_eq!(kelly.get(&search("?query=k")).await.ok().as_array().map(Vec::len), Some(1), "one by default");
    assert_eq!(kelly.get(&search("")).await.refusal(), (400, 50035));
    assert_eq!(kelly.get(&search("?query=k&limit=1001")).await.refusal(), (400, 50035));
}

/// The ids of the users in a list of members.
fn ids(members: &Value) -> Vec<&str> {
    members.as_array().expect("a list").iter().filter_map(|member| member["user"]["id"].as_str()).collect()
}

#[tokio::test]
async fn members_come_in_pages() {
    let world = start().await;
    let (kelly, guild) = (world.bot("kelly"), world.sandbox.guild_id());
    let page = async |query: String| ids(&kelly.get(&format!("/guilds/{guild}/members?{query}")).await.ok()).join(" ");
    let all = page("limit=1000".to_owned()).await;
    let all: Vec<&str> = all.split(' ').collect();
    assert_eq!(all.len(), 3);
    assert_eq!(page("limit=2".to_owned()).await, all[..2].join(" "));
    assert_eq!(page(format!("limit=2&after={}", all[1])).await, all[2]);
    assert_eq!(page(format!("limit=2&after={}", all[2])).await, "");
}

#[tokio::test]
async fn members_of_a_thread_come_in_pages_and_with_their_membership() {
    let world = start().await;
    let (kelly, vince, person, general) = (world.bot("kelly"), world.bot("vince"), world.person(), world.channel("general"));
    let thread = kelly.call("POST", &format!("/channels/{general}/threads"), json!({ "name": "t", "type": 11 })).await.ok();
    let members = format!("/channels/{}/thread-members", thread["id"].as_str().expect("an id"));
    let mut gateway = world.connect(&person).await;
    kelly.put(&format!("{members}/{}", vince.id)).await.ok();
    let added = &gateway.event("THREAD_MEMBERS_UPDATE").await["added_members"][0];
    assert_eq!((&added["user_id"], &added["member"]["user"]["id"]), (&json!(vince.id), &json!(vince.id)));
    assert!(added.as_object().is_some_and(|added| added.contains_key("presence")), "{added}");
    kelly.put(&format!("{members}/{}", person.id)).await.ok();

    let plain = kelly.get(&format!("{members}?limit=1")).await.ok();
    assert_eq!((plain.as_array().map(Vec::len), &plain[0]["member"]), (Some(3), &Value::Null), "pages only with the member");
    let first = kelly.get(&format!("{members}?with_member=true&limit=2")).await.ok();
    assert_eq!(first[0]["member"]["user"]["id"], first[0]["user_id"]);
    let second = kelly.get(&format!("{members}?with_member=true&after={}", first[1]["user_id"].as_str().expect("an id"))).await.ok();
    assert_eq!((first.as_array().map(Vec::len), second.as_array().map(Vec::len)), (Some(2), Some(1)));
    assert!(first[1]["user_id"].as_str() < second[0]["user_id"].as_str());
    let one = kelly.get(&format!("{members}/{}?with_member=true", vince.id)).await.ok();
    assert_eq!(one["member"]["user"]["username"], "vince");
}

#[tokio::test]
async fn archived_private_threads_are_listed_for_those_who_may_see_them() {
    let world = start().await;
    let (kelly, vince, general) = (world.bot("kelly"), world.bot("vince"), world.channel("general"));
    let thread = kelly.call("POST", &format!("/channels/{general}/threads"), json!({ "name": "t", "type": 12 })).await.ok();
    kelly.call("PATCH", &format!("/channels/{}", thread["id"].as_str().expect("an id")), json!({ "archived": true })).await.ok();
    let (all, own) =
        (format!("/channels/{general}/threads/archived/private"), format!("/channels/{general}/users/@me/threads/archived/private"));
    for (api, path, count) in [(&kelly, &all, 1), (&kelly, &own, 1), (&vince, &all, 1), (&vince, &own, 0)] {
        assert_eq!(api.get(path).await.ok()["threads"].as_array().map(Vec::len), Some(count), "{path}");
    }
    let deny = Switch::Deny { bot: "vince".to_owned(), channel: "general".to_owned(), permission: "MANAGE_THREADS".to_owned(), on: true };
    world.sandbox.misbehaviour().set(deny).expect("a known permission");
    assert_eq!(vince.get(&all).await.refusal(), (403, 50013));
}

#[tokio::test]
async fn guilds_have_counts_where_they_are_asked_for() {
    let world = start().await;
    let (kelly, guild) = (world.bot("kelly"), world.sandbox.guild_id());
    world.connect(&kelly).await;
    let listed = |query: &str| format!("/users/@me/guilds{query}");
    let counted = &kelly.get(&listed("?with_counts=true")).await.ok()[0];
    assert_eq!(counted["approximate_member_count"], 3);
    assert_eq!(kelly.get(&format!("/guilds/{guild}?with_counts=true")).await.ok()["approximate_member_count"], 3);
    assert_eq!(kelly.get(&format!("/guilds/{guild}/preview")).await.ok()["approximate_member_count"], 3);
    assert_eq!(kelly.get(&listed("")).await.ok()[0]["approximate_member_count"], Value::Null);
    assert_eq!(kelly.get(&listed(&format!("?after={guild}"))).await.ok(), json!([]), "there is no further page");
}

#[tokio::test]
async fn what_the_guild_does_not_have_is_answered_as_discord_answers_it() {
    let world = start().await;
    let (kelly, owner) = (world.bot("kelly"), world.person());
    let (guild, own) = (format!("/guilds/{}", world.sandbox.guild_id()), format!("/applications/{}", kelly.id));
    for path in [
        format!("{guild}/emojis"),
        format!("{guild}/stickers"),
        format!("{guild}/scheduled-events"),
        format!("{own}/entitlements"),
        format!("{own}/role-connections/metadata"),
        format!("{own}{guild}/commands/permissions"),
        format!("/channels/{}/invites", world.channel("general")),
        "/soundboard-default-sounds".to_owned(),
    ] {
        assert_eq!(kelly.get(&path).await.ok(), json!([]), "{path}");
    }
    for (path, key) in [
        (format!("{own}/emojis"), "items"),
        (format!("{guild}/soundboard-sounds"), "items"),
        (format!("{guild}/onboarding"), "prompts"),
        ("/sticker-packs".to_owned(), "sticker_packs"),
    ] {
        assert_eq!(kelly.get(&path).await.ok()[key], json!([]), "{path}");
    }
    for (path, code) in [
        (format!("{guild}/emojis/1"), 10014),
        (format!("{guild}/stickers/1"), 10060),
        (format!("{guild}/scheduled-events/1"), 10070),
        (format!("{guild}/voice-states/@me"), 10065),
        (format!("{guild}/welcome-screen"), 10069),
        (format!("{guild}/roles/1"), 10011),
        (format!("{own}/emojis/1"), 10014),
        (format!("{own}{guild}/commands/1/permissions"), 10066),
        ("/invites/abc".to_owned(), 10006),
    ] {
        assert_eq!(kelly.get(&path).await.refusal(), (404, code), "{path}");
    }
    for (method, path) in [
        ("GET", "/bans"),
        ("GET", "/bans/1"),
        ("GET", "/audit-logs"),
        ("GET", "/integrations"),
        ("GET", "/invites"),
        ("GET", "/auto-moderation/rules"),
        ("PUT", "/bans/1"),
        ("DELETE", "/members/1"),
        ("PATCH", "/members/1"),
        ("PUT", "/members/1/roles/1"),
        ("POST", "/roles"),
        ("POST", "/emojis"),
        ("PATCH", ""),
    ] {
        let answer = kelly.call(method, &format!("{guild}{path}"), json!({})).await;
        assert_eq!(answer.refusal(), (403, 50013), "{method} {path}");
    }
    for path in ["/bans", "/integrations", "/invites"] {
        assert_eq!(owner.get(&format!("{guild}{path}")).await.ok(), json!([]), "the owner may see them: {path}");
    }
    assert_eq!(owner.get(&format!("{guild}/audit-logs")).await.ok()["audit_log_entries"], json!([]));
    assert_eq!(kelly.call("POST", &format!("{guild}/nonsense"), json!({})).await.refusal(), (404, 0));
    assert_eq!(kelly.with_token("Bot nonsense").get("/voice/regions").await.status, 401);
    assert_eq!(kelly.get("/voice/regions").await.ok()[0]["optimal"], true);
}

#[tokio::test]
async fn roles_and_the_own_membership_can_be_asked_for() {
    let world = start().await;
    let (kelly, person, guild) = (world.bot("kelly"), world.person(), world.sandbox.guild_id());
    let roles = kelly.get(&format!("/guilds/{guild}/roles")).await.ok();
    let own = roles.as_array().expect("a list").iter().find(|role| role["name"] == "Kelly").expect("a role of its own");
    let path = format!("/guilds/{guild}/roles/{}", own["id"].as_str().expect("an id"));
    assert_eq!(kelly.get(&path).await.ok(), *own);
    let counts = kelly.get(&format!("/guilds/{guild}/roles/member-counts")).await.ok();
    assert_eq!(counts[own["id"].as_str().expect("an id")], 1);
    let membership = format!("/users/@me/guilds/{guild}/member");
    assert_eq!(kelly.get(&membership).await.refusal(), (403, 20001));
    assert_eq!(person.get(&membership).await.ok()["user"]["id"], person.id);
}

#[tokio::test]
async fn polls_and_forwarded_messages_are_refused() {
    let world = start().await;
    let (kelly, general) = (world.bot("kelly"), world.channel("general"));
    let path = format!("/channels/{general}/messages");
    let answers = json!([{ "poll_media": { "text": "yes" } }, { "poll_media": { "text": "no" } }]);
    let poll = json!({ "content": "x", "poll": { "question": { "text": "?" }, "answers": answers } });
    assert_eq!(kelly.call("POST", &path, poll).await.refusal(), (403, 50013));
    let message = kelly.say(&general, "forward me").await;
    let forward = json!({ "message_reference": { "type": 1, "channel_id": general, "message_id": message["id"] } });
    assert_eq!(kelly.call("POST", &path, forward).await.refusal(), (400, 50035));
    assert_eq!(kelly.get(&path).await.ok().as_array().map(Vec::len), Some(1), "nothing of it was posted");
}

#[tokio::test]
async fn a_command_with_sub_commands_is_not_run_without_one() {
    let world = start().await;
    let (kelly, person, general) = (world.bot("kelly"), world.person(), world.channel("general"));
    let add = json!({ "type": 1, "name": "add", "description": "d" });
    let group = json!({ "type": 2, "name": "item", "description": "d", "options": [add] });
    let command = json!({ "name": "list", "description": "d", "options": [add, group] });
    kelly.call("PUT", &format!("/applications/{}/commands", kelly.id), json!([command])).await.ok();
    let mut gateway = world.connect(&kelly).await;
    let run = async |options: Value| {
        let data = json!({ "name": "list", "options": options });
        person.call("POST", "/interactions", json!({ "type": 2, "application_id": kelly.id, "channel_id": general, "data": data })).await
    };
    for options in [json!([]), json!([{ "type": 2, "name": "item", "options": [] }])] {
        assert_eq!(run(options.clone()).await.refusal(), (400, 50035), "{options}");
    }
    assert_eq!(run(json!([{ "type": 1, "name": "add", "options": [] }])).await.status, 204);
    assert_eq!(gateway.event("INTERACTION_CREATE").await["data"]["options"][0]["name"], "add");
}
