//! The actions of people, and the events that apps get of them.

use serde_json::{Value, json};
use slack_sandbox::{AppConfig, ChannelConfig, PersonConfig, Refused};

use super::harness::{start, start_with};

#[tokio::test]
async fn a_message_arrives_in_its_wrapper() {
    let world = start().await;
    let mut socket = world.connect("kelly").await;
    let ts = world.ann().say(&world.general, "hello & <@U00000000X>").expect("posted");
    let payload = socket.envelope("events_api").await["payload"].clone();
    let kelly = world.slack.app("kelly");
    assert_eq!((&payload["type"], &payload["api_app_id"]), (&json!("event_callback"), &json!(kelly.id)));
    assert_eq!(payload["authorizations"][0]["user_id"], kelly.user);
    let event = &payload["event"];
    assert_eq!((&event["ts"], &event["event_ts"], &event["channel_type"]), (&json!(ts), &json!(ts), &json!("channel")));
    assert_eq!((&event["user"], &event["text"]), (&json!(world.ann().id()), &json!("hello &amp; <@U00000000X>")));
    assert_eq!(event["blocks"][0]["elements"][0]["elements"][1], json!({ "type": "user", "user_id": "U00000000X" }));
}

#[tokio::test]
async fn a_mention_comes_as_a_second_event_to_the_one_who_is_meant() {
    let world = start().await;
    let (mut kelly, mut vince) = (world.connect("kelly").await, world.connect("vince").await);
    world.ann().say(&world.general, &format!("<@{}> hi", world.slack.app("kelly").user)).expect("posted");
    let (message, mention) = (kelly.event("message").await, kelly.event("app_mention").await);
    assert_eq!((&message["ts"], &message["text"]), (&mention["ts"], &mention["text"]));
    assert!(mention.get("channel_type").is_none());
    vince.event("message").await;
    assert!(vince.is_silent().await);
    // The message that the bot has joined names the bot, but is not a mention.
    world.ann().invite(&world.slack.channel("random"), &world.slack.app("kelly").user);
    assert_eq!(kelly.event("message").await["subtype"], "channel_join");
    assert_eq!(kelly.envelope("events_api").await["payload"]["event"]["type"], "member_joined_channel");
    // A mention in a direct conversation has no event of its own.
    let direct = world.ann().open_direct(&[&world.slack.app("kelly").user]);
    world.ann().say(&direct, &format!("<@{}> hi", world.slack.app("kelly").user)).expect("posted");
    assert_eq!(kelly.event("message").await["channel_type"], "im");
    assert!(kelly.is_silent().await);
}

/// Slack also sends an app the messages that it posted itself, so each client has to skip them.
#[tokio::test]
async fn an_app_hears_itself_and_the_others() {
    let world = start().await;
    let (mut kelly, mut vince) = (world.connect("kelly").await, world.connect("vince").await);
    world.kelly().say(&world.general, "I said").await;
    for socket in [&mut kelly, &mut vince] {
        let event = socket.event("message").await;
        assert_eq!((&event["bot_id"], &event["app_id"]), (&json!(world.slack.app("kelly").bot), &json!(world.slack.app("kelly").id)));
    }
    let custom = json!({ "channel": world.general, "text": "x", "username": "Echo" });
    world.kelly().json("chat.postMessage", &custom).await.ok();
    let event = kelly.event("message").await;
    assert_eq!((&event["subtype"], &event["username"], event.get("user")), (&json!("bot_message"), &json!("Echo"), None));
}

#[tokio::test]
async fn edits_deletions_and_threads_have_their_events() {
    let world = start().await;
    let (ann, mut socket) = (world.ann(), world.connect("kelly").await);
    let ts = ann.say(&world.general, "old").expect("posted");
    socket.event("message").await;
    ann.edit(&world.general, &ts, "new").expect("edited");
    let changed = socket.event("message").await;
    assert_eq!((&changed["subtype"], &changed["hidden"]), (&json!("message_changed"), &json!(true)));
    assert_eq!((&changed["message"]["text"], &changed["previous_message"]["text"]), (&json!("new"), &json!("old")));
    assert_eq!(changed["message"]["edited"]["user"], ann.id());
    assert_ne!(changed["ts"], json!(ts));

    let reply = ann.reply(&world.general, &ts, "in the thread").expect("posted");
    let event = socket.event("message").await;
    assert_eq!((&event["thread_ts"], &event["parent_user_id"]), (&json!(ts), &json!(ann.id())));
    ann.broadcast(&world.general, &reply, "and for all").expect("posted");
    let event = socket.event("message").await;
    assert_eq!((&event["subtype"], &event["root"]["ts"]), (&json!("thread_broadcast"), &json!(ts)));

    ann.delete(&world.general, &reply).expect("deleted");
    let deleted = socket.event("message").await;
    assert_eq!((&deleted["subtype"], &deleted["deleted_ts"]), (&json!("message_deleted"), &json!(reply)));
    assert_eq!(deleted["previous_message"]["text"], "in the thread");
    ann.delete(&world.general, &ts).expect("deleted");
    assert_eq!(socket.event("message").await["message"]["subtype"], "tombstone");
}

#[tokio::test]
async fn files_reactions_and_membership_have_their_events() {
    let world = start().await;
    let (ann, mut socket) = (world.ann(), world.connect("kelly").await);
    let ts = ann.upload(&world.general, None, "notes.md", "# Notes", "look").expect("posted");
    let message = socket.event("message").await;
    assert_eq!((&message["subtype"], &message["files"][0]["name"]), (&json!("file_share"), &json!("notes.md")));
    let shared = socket.event("file_shared").await;
    assert_eq!((&shared["file_id"], &shared["channel_id"]), (&message["files"][0]["id"], &json!(world.general)));

    ann.react(&world.general, &ts, "eyes").expect("added");
    let added = socket.event("reaction_added").await;
    assert_eq!((&added["reaction"], &added["item"]["ts"], &added["item_user"]), (&json!("eyes"), &json!(ts), &json!(ann.id())));
    ann.unreact(&world.general, &ts, "eyes").expect("removed");
    socket.event("reaction_removed").await;

    let random = world.slack.channel("random");
    ann.invite(&random, &world.slack.app("kelly").user);
    let joined = socket.event("member_joined_channel").await;
    assert_eq!((&joined["user"], &joined["inviter"]), (&json!(world.slack.app("kelly").user), &json!(ann.id())));
    ann.leave(&random);
    assert_eq!(socket.event("member_left_channel").await["user"], ann.id());
    ann.rename_channel(&random, "chatter");
    assert_eq!(socket.event("channel_rename").await["channel"]["name"], "chatter");
    ann.archive(&random, true);
    assert_eq!(socket.event("channel_archive").await["channel"], random);
    assert!(ann.kick(&random, &world.slack.app("kelly").user) && !ann.kick(&random, &world.slack.app("kelly").user));
    assert_eq!(socket.event("member_left_channel").await["user"], world.slack.app("kelly").user);
    ann.rename("Ann Lee");
    assert_eq!(socket.event("user_change").await["user"]["real_name"], "Ann Lee");
    ann.deactivate();
    assert_eq!(socket.event("user_change").await["user"]["deleted"], true);
    let open = world.kelly().json("conversations.open", &json!({ "users": ann.id() })).await;
    assert_eq!(open.error(), "user_disabled");
    world.slack.add_person(&PersonConfig::new("Zoe"));
    assert_eq!(socket.event("team_join").await["user"]["name"], "zoe");
    world.slack.add_channel(&ChannelConfig::new("new"));
    assert_eq!(socket.event("channel_created").await["channel"]["name"], "new");
}

#[tokio::test]
async fn an_app_gets_only_what_it_subscribed_to_may_read_and_is_a_member_of() {
    let world = start_with(|options| {
        options.apps = vec![
            AppConfig { events: vec!["app_mention".to_owned()], ..AppConfig::new("mentions", "Mentions") },
            AppConfig { scopes: vec!["chat:write".to_owned()], ..AppConfig::new("scopeless", "Scopeless") },
            AppConfig { channels: Vec::new(), ..AppConfig::new("outside", "Outside") },
        ];
    })
    .await;
    let mut sockets = Vec::new();
    for slug in ["mentions", "scopeless", "outside"] {
        sockets.push(world.connect(slug).await);
    }
    world.ann().say(&world.general, "hello").expect("posted");
    for socket in &mut sockets {
        assert!(socket.is_silent().await);
    }
}

#[tokio::test]
async fn people_are_refused_what_slack_refuses() {
    let world = start().await;
    let (ann, ben) = (world.ann(), world.slack.person("Ben"));
    let ts = ann.say(&world.general, "mine").expect("posted");
    assert_eq!(ben.edit(&world.general, &ts, "x"), Err(Refused("cant_update_message")));
    assert_eq!(ben.reply(&world.general, "1.000001", "x"), Err(Refused("thread_not_found")));
    assert_eq!(ben.say("C0UNKNOWN0", "x"), Err(Refused("channel_not_found")));
    ben.leave(&world.general);
    assert_eq!(ben.say(&world.general, "x"), Err(Refused("not_in_channel")));
    assert!(ben.join(&world.general) && !ben.join(&world.general));
    ann.react(&world.general, &ts, "eyes").expect("added");
    assert_eq!(ann.react(&world.general, &ts, "eyes"), Err(Refused("already_reacted")));
}

#[tokio::test]
async fn a_group_conversation_has_events_of_its_own_kind() {
    let world = start().await;
    let mut socket = world.connect("kelly").await;
    let group = world.ann().open_direct(&[world.slack.person("Ben").id(), &world.slack.app("kelly").user]);
    world.ann().say(&group, "we three").expect("posted");
    assert_eq!(socket.event("message").await["channel_type"], "mpim");
    let private = world.slack.add_channel(&ChannelConfig { private: true, ..ChannelConfig::new("secret") });
    world.ann().invite(&private, &world.slack.app("kelly").user);
    socket.event("member_joined_channel").await;
    world.ann().say(&private, "psst").expect("posted");
    let event: Value = socket.event("message").await;
    assert_eq!((&event["channel_type"], &event["text"]), (&json!("group"), &json!("psst")));
}

/// The change looks like an edit, but is none.
#[tokio::test]
async fn a_link_is_unfurled_by_a_change_that_nobody_made() {
    let world = start().await;
    let mut socket = world.connect("kelly").await;
    let ts = world.ann().say(&world.general, "see https://example.com").expect("posted");
    socket.event("message").await;
    assert!(world.slack.unfurl(&world.general, &ts, "https://example.com", "Example"));
    let changed = socket.event("message").await;
    assert_eq!((&changed["subtype"], changed["message"].get("edited")), (&json!("message_changed"), None));
    assert_eq!(changed["message"]["text"], changed["previous_message"]["text"]);
    assert_eq!(changed["message"]["attachments"][0]["title"], "Example");
    for (flag, unfurls) in [(false, false), (true, true)] {
        let message = json!({ "channel": world.general, "text": "https://example.com", "unfurl_links": flag });
        let posted = world.kelly().json("chat.postMessage", &message).await.ok();
        assert_eq!(world.slack.unfurl(&world.general, posted["ts"].as_str().expect("ts"), "https://example.com", "x"), unfurls);
    }
}
