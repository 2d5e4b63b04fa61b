//! Conversations, users and reactions.

use serde_json::{Value, json};
use slack_sandbox::{AppConfig, ChannelConfig, Distribution, PersonConfig, RateLimits, Role};

use super::harness::{start, start_with};

fn names(answer: &Value) -> Vec<&str> {
    let channels = answer["channels"].as_array().expect("channels");
    channels.iter().map(|channel| channel["name"].as_str().unwrap_or("direct")).collect()
}

#[tokio::test]
async fn a_bot_sees_public_channels_and_its_own_private_ones() {
    let world = start_with(|options| {
        let private = |name: &str| ChannelConfig { private: true, ..ChannelConfig::new(name) };
        options.channels.extend([private("secret"), private("board")]);
        options.apps[0].channels.push("board".to_owned());
    })
    .await;
    let kelly = world.kelly();
    let all = json!({ "types": "public_channel,private_channel,im,mpim" });
    assert_eq!(names(&kelly.call("conversations.list", all.clone()).await.ok()), ["general", "random", "board"]);
    assert_eq!(names(&kelly.call("users.conversations", all.clone()).await.ok()), ["general", "board"]);
    world.ann().open_direct(&[&world.slack.app("kelly").user]);
    assert_eq!(names(&kelly.call("users.conversations", all).await.ok()), ["general", "board", "direct"]);
    let secret = world.slack.channel("secret");
    assert_eq!(kelly.call("conversations.info", json!({ "channel": secret })).await.error(), "channel_not_found");
    let random = world.slack.channel("random");
    let info = kelly.call("conversations.info", json!({ "channel": random, "include_num_members": true })).await.ok();
    assert_eq!((&info["channel"]["is_member"], &info["channel"]["num_members"]), (&json!(false), &json!(2)));
    assert_eq!(kelly.call("conversations.history", json!({ "channel": random })).await.error(), "not_in_channel");
    assert_eq!(kelly.call("conversations.list", json!({ "types": "cupboard" })).await.error(), "invalid_types");
}

#[tokio::test]
async fn lists_come_in_pages() {
    let world = start_with(|options| options.channels.extend((0..10).map(|n| ChannelConfig::new(&format!("c{n}"))))).await;
    let (kelly, mut cursor, mut seen) = (world.kelly(), String::new(), Vec::new());
    loop {
        let page = kelly.call("conversations.list", json!({ "limit": 5, "cursor": cursor })).await.ok();
        seen.extend(names(&page).into_iter().map(str::to_owned));
        cursor = page["response_metadata"]["next_cursor"].as_str().expect("a cursor").to_owned();
        if cursor.is_empty() {
            break;
        }
    }
    assert_eq!(seen.len(), 12);
    assert_eq!(kelly.call("conversations.list", json!({ "cursor": "nonsense" })).await.error(), "invalid_cursor");
    assert_eq!(kelly.call("conversations.list", json!({ "limit": "many" })).await.error(), "invalid_limit");
    let members = kelly.call("conversations.members", json!({ "channel": world.general, "limit": 3 })).await.ok();
    assert_eq!(members["members"].as_array().map(Vec::len), Some(3));
    assert_ne!(members["response_metadata"]["next_cursor"], "");
}

#[tokio::test]
async fn history_is_read_by_range_and_page() {
    let world = start().await;
    let (kelly, ann) = (world.kelly(), world.ann());
    let posted: Vec<String> = (0..5).map(|n| ann.say(&world.general, &n.to_string()).expect("posted")).collect();
    let read = |more: Value| {
        let mut arguments = json!({ "channel": world.general });
        arguments.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
        let kelly = kelly.clone();
        async move {
            let answer = kelly.call("conversations.history", arguments).await.ok();
            let texts = answer["messages"].as_array().expect("messages").iter();
            (texts.map(|m| m["text"].as_str().unwrap_or_default().to_owned()).collect::<String>(), answer)
        }
    };
    assert_eq!(read(json!({})).await.0, "43210");
    assert_eq!(read(json!({ "oldest": posted[1], "latest": posted[4] })).await.0, "32");
    assert_eq!(read(json!({ "oldest": posted[1], "latest": posted[4], "inclusive": true })).await.0, "4321");
    let (first, answer) = read(json!({ "limit": 2 })).await;
    assert_eq!((first.as_str(), &answer["has_more"]), ("43", &json!(true)));
    let (rest, answer) = read(json!({ "limit": 9, "cursor": answer["response_metadata"]["next_cursor"] })).await;
    assert_eq!((rest.as_str(), answer.get("response_metadata")), ("210", None));
    let wrong = kelly.call("conversations.history", json!({ "channel": world.general, "oldest": "then" })).await;
    assert_eq!(wrong.error(), "invalid_ts_oldest");
}

#[tokio::test]
async fn a_thread_has_its_parent_and_its_replies() {
    let world = start().await;
    let (kelly, ann, ben) = (world.kelly(), world.ann(), world.slack.person("Ben"));
    let parent = ann.say(&world.general, "p").expect("posted");
    let first = ben.reply(&world.general, &parent, "1").expect("posted");
    ann.reply(&world.general, &first, "2").expect("posted");
    let replies = kelly.call("conversations.replies", json!({ "channel": world.general, "ts": first })).await.ok();
    let texts: Vec<&str> = replies["messages"].as_array().expect("messages").iter().filter_map(|m| m["text"].as_str()).collect();
    assert_eq!(texts, ["p", "1", "2"]);
    let shown = &replies["messages"][0];
    assert_eq!((&shown["reply_count"], &shown["reply_users_count"], &shown["thread_ts"]), (&json!(2), &json!(2), &json!(parent)));
    assert_eq!(shown["latest_reply"], replies["messages"][2]["ts"]);
    assert_eq!(kelly.history(&world.general).await, ["p"]);
    let newer = kelly.call("conversations.replies", json!({ "channel": world.general, "ts": parent, "oldest": first })).await.ok();
    assert_eq!(newer["messages"].as_array().map(Vec::len), Some(2), "the parent is always there");
    let unknown = kelly.call("conversations.replies", json!({ "channel": world.general, "ts": "1.000001" })).await;
    assert_eq!(unknown.error(), "thread_not_found");
    // A deleted parent with replies stays as a tombstone.
    ann.delete(&world.general, &parent).expect("deleted");
    let rest = kelly.call("conversations.replies", json!({ "channel": world.general, "ts": parent })).await.ok();
    assert_eq!((&rest["messages"][0]["subtype"], &rest["messages"][1]["text"]), (&json!("tombstone"), &json!("1")));
}

#[tokio::test]
async fn commercially_distributed_apps_get_little_history() {
    let world = start_with(|options| {
        options.apps[0].distribution = Distribution::Commercial;
        options.rate_limits = RateLimits::Slack;
    })
    .await;
    for n in 0..20 {
        world.ann().say(&world.general, &n.to_string()).expect("posted");
    }
    let read = json!({ "channel": world.general, "limit": 100 });
    let sold = world.kelly().call("conversations.history", read.clone()).await.ok();
    assert_eq!(sold["messages"].as_array().map(Vec::len), Some(15));
    let again = world.kelly().call("conversations.history", read.clone()).await;
    assert_eq!((again.status, again.header("retry-after")), (429, Some("60")));
    let internal = world.bot("vince");
    for _ in 0..3 {
        assert_eq!(internal.call("conversations.history", read.clone()).await.ok()["messages"].as_array().map(Vec::len), Some(20));
    }
}

#[tokio::test]
async fn channels_are_created_joined_and_left() {
    let world = start().await;
    let kelly = world.kelly();
    let created = kelly.json("conversations.create", &json!({ "name": "projects" })).await.ok();
    let id = created["channel"]["id"].clone();
    for (name, error) in [("projects", "name_taken"), ("Two Words", "invalid_name_specials"), ("", "invalid_name_required")] {
        assert_eq!(kelly.json("conversations.create", &json!({ "name": name })).await.error(), error);
    }
    let invite = |users: &str| json!({ "channel": id, "users": users });
    kelly.json("conversations.invite", &invite(world.ann().id())).await.ok();
    for (users, error) in [
        (world.ann().id().to_owned(), "already_in_channel"),
        (world.slack.app("kelly").user, "cant_invite_self"),
        ("U0NOBODY00".to_owned(), "user_not_found"),
        (String::new(), "no_user"),
    ] {
        assert_eq!(kelly.json("conversations.invite", &invite(&users)).await.error(), error);
    }
    let joined = world.bot("vince").json("conversations.join", &json!({ "channel": id })).await.ok();
    assert_eq!(joined["channel"]["is_member"], true);
    let again = world.bot("vince").json("conversations.join", &json!({ "channel": id })).await.ok();
    assert_eq!(again["warning"], "already_in_channel");
    world.bot("vince").json("conversations.leave", &json!({ "channel": id })).await.ok();
    kelly.json("conversations.archive", &json!({ "channel": id })).await.ok();
    assert_eq!(kelly.json("conversations.archive", &json!({ "channel": id })).await.error(), "already_archived");
    assert_eq!(world.bot("vince").json("conversations.join", &json!({ "channel": id })).await.error(), "is_archived");
    assert_eq!(kelly.json("conversations.archive", &json!({ "channel": world.general })).await.error(), "cant_archive_general");
}

#[tokio::test]
async fn direct_and_group_conversations_are_opened_once() {
    let world = start().await;
    let (kelly, ann, ben) = (world.kelly(), world.ann(), world.slack.person("Ben"));
    let open = |users: String| {
        let kelly = kelly.clone();
        async move { kelly.json("conversations.open", &json!({ "users": users, "return_im": true })).await }
    };
    let direct = open(ann.id().to_owned()).await.ok();
    assert_eq!((&direct["channel"]["is_im"], &direct["channel"]["user"]), (&json!(true), &json!(ann.id())));
    let again = open(ann.id().to_owned()).await.ok();
    assert_eq!((&again["already_open"], &again["channel"]["id"]), (&json!(true), &direct["channel"]["id"]));
    assert_eq!(ann.open_direct(&[&world.slack.app("kelly").user]), direct["channel"]["id"]);
    let group = open(format!("{},{}", ann.id(), ben.id())).await.ok();
    assert_eq!(group["channel"]["is_mpim"], true);
    for (users, error) in [
        (String::new(), "users_list_not_supplied"),
        ("U0NOBODY00".to_owned(), "user_not_found"),
        (world.slack.app("vince").user, "cannot_dm_bot"),
        ((0..9).map(|n| format!("U{n}")).collect::<Vec<_>>().join(","), "too_many_users"),
    ] {
        assert_eq!(open(users).await.error(), error);
    }
}

#[tokio::test]
async fn people_guests_and_strangers_are_told_apart() {
    let world = start_with(|options| {
        options.people.push(PersonConfig { role: Role::Guest, ..PersonConfig::new("Gus") });
        options.people.push(PersonConfig { role: Role::Stranger, ..PersonConfig::new("Eve Stone") });
        options.channels.push(ChannelConfig { shared: true, ..ChannelConfig::new("partners") });
        options.apps[0].channels.push("partners".to_owned());
    })
    .await;
    let info = |name: &str| {
        let (kelly, id) = (world.kelly(), world.slack.person(name).id().to_owned());
        async move { kelly.call("users.info", json!({ "user": id })).await.ok()["user"].clone() }
    };
    let (gus, eve) = (info("Gus").await, info("Eve Stone").await);
    assert_eq!((&gus["is_restricted"], &gus["is_stranger"]), (&json!(true), &json!(false)));
    assert_eq!((&eve["is_stranger"], &eve["name"]), (&json!(true), &json!("eve.stone")));
    assert_ne!(eve["team_id"], gus["team_id"]);
    assert!(world.slack.person("Gus").say(&world.general, "x").is_err(), "a guest is in shared channels only");
    let shared = world.slack.channel("partners");
    world.slack.person("Eve Stone").say(&shared, "hello").expect("posted");
    let shown = world.kelly().call("conversations.info", json!({ "channel": shared })).await.ok();
    assert_eq!(shown["channel"]["is_ext_shared"], true);
    let members = world.kelly().call("users.list", json!({})).await.ok();
    assert_eq!(members["members"].as_array().map(Vec::len), Some(6));
}

#[tokio::test]
async fn addresses_and_bots_have_their_own_rules() {
    let world = start_with(|options| options.apps[1].scopes.retain(|scope| scope != "users:read.email")).await;
    let ann = json!({ "user": world.ann().id() });
    let profile = world.kelly().call("users.profile.get", ann.clone()).await.ok();
    assert_eq!(profile["profile"]["email"], "ann@example.com");
    assert!(world.bot("vince").call("users.profile.get", ann).await.ok()["profile"].get("email").is_none());
    let kelly = world.slack.app("kelly");
    let bot = world.kelly().call("bots.info", json!({ "bot": kelly.bot })).await.ok();
    assert_eq!((&bot["bot"]["user_id"], &bot["bot"]["name"]), (&json!(kelly.user), &json!("Kelly")));
    assert_eq!(world.kelly().call("bots.info", json!({ "bot": "B0NOBODY00" })).await.error(), "bot_not_found");
    assert_eq!(world.kelly().call("users.info", json!({ "user": "U0NOBODY00" })).await.error(), "user_not_found");
    assert!(world.kelly().call("emoji.list", json!({})).await.ok()["emoji"].is_object());
}

#[tokio::test]
async fn reactions_are_added_and_removed_once() {
    let world = start().await;
    let (kelly, ann) = (world.kelly(), world.ann());
    let ts = ann.say(&world.general, "x").expect("posted");
    let item = |name: &str| json!({ "channel": world.general, "timestamp": ts, "name": name });
    kelly.json("reactions.add", &item("thumbsup")).await.ok();
    ann.react(&world.general, &ts, "thumbsup").expect("added");
    assert_eq!(kelly.json("reactions.add", &item("thumbsup")).await.error(), "already_reacted");
    let got = kelly.call("reactions.get", item("x")).await.ok();
    assert_eq!(got["message"]["reactions"][0]["count"], 2);
    kelly.json("reactions.remove", &item("thumbsup")).await.ok();
    assert_eq!(kelly.json("reactions.remove", &item("thumbsup")).await.error(), "no_reaction");
    for (arguments, error) in [
        (json!({ "channel": world.general, "timestamp": ts, "name": "no such" }), "invalid_name"),
        (json!({ "channel": world.general, "timestamp": "1.000001", "name": "x" }), "message_not_found"),
        (json!({ "channel": world.general, "timestamp": "soon", "name": "x" }), "bad_timestamp"),
        (json!({ "name": "x" }), "no_item_specified"),
    ] {
        assert_eq!(kelly.json("reactions.add", &arguments).await.error(), error);
    }
    for n in 0..23 {
        kelly.json("reactions.add", &item(&format!("e{n}"))).await.ok();
    }
    assert_eq!(kelly.json("reactions.add", &item("one-more")).await.error(), "too_many_reactions");
    let outside = world.slack.install(&AppConfig { channels: Vec::new(), ..AppConfig::new("sol", "Solus") });
    assert_eq!(world.api(&outside.bot_token).json("reactions.add", &item("x")).await.error(), "not_in_channel");
}
