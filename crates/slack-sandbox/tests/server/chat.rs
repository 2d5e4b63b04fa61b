//! `chat.*`: posting, updating, deleting, and what is refused.

use serde_json::{Value, json};

use super::harness::{Answer, World, start, start_with};

async fn post(world: &World, more: Value) -> Answer {
    let mut arguments = json!({ "channel": world.general });
    arguments.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
    world.kelly().json("chat.postMessage", &arguments).await
}

#[tokio::test]
async fn a_message_is_posted_as_slack_stores_it() {
    let world = start().await;
    let kelly = world.slack.app("kelly");
    let posted = post(&world, json!({ "text": "a & b, see https://example.com" })).await.ok();
    let message = &posted["message"];
    assert_eq!(message["text"], "a &amp; b, see <https://example.com>");
    assert_eq!((&message["user"], &message["bot_id"], &message["app_id"]), (&json!(kelly.user), &json!(kelly.bot), &json!(kelly.id)));
    assert_eq!(message["bot_profile"]["name"], "Kelly");
    assert_eq!(message["blocks"][0]["type"], "rich_text");
    assert_eq!(world.ann().message(&world.general, posted["ts"].as_str().expect("ts")).expect("it is there")["text"], message["text"]);
    // A channel may be given by name. The id of a person means the direct conversation.
    world.kelly().call("chat.postMessage", json!({ "channel": "#general", "text": "x" })).await.ok();
    let direct = world.kelly().call("chat.postMessage", json!({ "channel": world.ann().id(), "text": "psst" })).await.ok();
    assert!(direct["channel"].as_str().expect("a channel").starts_with('D'));
    assert_eq!(world.ann().messages(direct["channel"].as_str().expect("a channel")).len(), 1);
}

#[tokio::test]
async fn another_name_and_picture_need_their_scope() {
    let world = start_with(|options| options.apps[1].scopes.retain(|scope| scope != "chat:write.customize")).await;
    let custom = json!({ "channel": world.general, "text": "x", "username": "Echo", "icon_emoji": ":robot_face:" });
    let message = world.kelly().json("chat.postMessage", &custom).await.ok()["message"].clone();
    assert_eq!((&message["subtype"], &message["username"]), (&json!("bot_message"), &json!("Echo")));
    assert_eq!(message["icons"], json!({ "emoji": ":robot_face:" }));
    assert!(message["user"].is_null(), "a message under another name has no user: {message}");
    // Without the scope, Slack ignores the name and the picture.
    let plain = world.bot("vince").json("chat.postMessage", &custom).await.ok()["message"].clone();
    assert_eq!((&plain["user"], plain.get("username")), (&json!(world.slack.app("vince").user), None));
}

#[tokio::test]
async fn what_cannot_be_posted_is_refused_with_slacks_errors() {
    let world = start().await;
    let section = |length: usize| json!({ "type": "section", "text": { "type": "mrkdwn", "text": "x".repeat(length) } });
    let over = json!(vec![json!({ "type": "divider" }); 51]);
    for (arguments, error) in [
        (json!({}), "no_text"),
        (json!({ "text": "  " }), "no_text"),
        (json!({ "channel": "C0UNKNOWN0", "text": "x" }), "channel_not_found"),
        (json!({ "text": "x", "blocks": [section(3_001)] }), "invalid_blocks"),
        (json!({ "text": "x", "blocks": over }), "invalid_blocks"),
        (json!({ "text": "x", "blocks": "{}" }), "invalid_blocks_format"),
        (json!({ "text": "x", "blocks": vec![section(3_000); 5] }), "msg_blocks_too_long"),
        (json!({ "text": "x", "attachments": vec![json!({ "text": "a" }); 101] }), "too_many_attachments"),
        (json!({ "text": "x", "metadata": { "event_type": "t" } }), "invalid_metadata_schema"),
        (json!({ "text": "x", "metadata": [] }), "invalid_metadata_format"),
        (json!({ "text": "x", "thread_ts": "soon" }), "invalid_thread_ts"),
        (json!({ "text": "x", "markdown_text": "y" }), "markdown_text_conflict"),
        (json!({ "markdown_text": "y".repeat(12_001) }), "msg_too_long"),
    ] {
        assert_eq!(post(&world, arguments.clone()).await.error(), error, "{arguments:.200}");
    }
    let answer = post(&world, json!({ "text": "x", "blocks": [section(3_001)] })).await;
    assert_eq!(answer.complaint(), "[ERROR] must be less than 3001 characters [json-pointer:/blocks/0/text/text]");
    let missing = world.kelly().call("chat.postMessage", json!({ "text": "x" })).await;
    assert_eq!((missing.error(), missing.complaint()), ("invalid_arguments", "[ERROR] missing required field: channel"));
    assert!(world.kelly().history(&world.general).await.is_empty());
}

#[tokio::test]
async fn a_very_long_text_is_cut_with_a_warning() {
    let world = start().await;
    let posted = post(&world, json!({ "text": "ä".repeat(40_001) })).await.ok();
    assert_eq!(posted["message"]["text"].as_str().expect("a text").chars().count(), 40_000);
    assert_eq!(posted["warning"], "message_truncated");
}

#[tokio::test]
async fn a_bot_posts_where_it_is_a_member() {
    let world = start().await;
    let random = world.slack.channel("random");
    let kelly = world.kelly();
    let refused = kelly.call("chat.postMessage", json!({ "channel": random, "text": "x" })).await;
    assert_eq!(refused.error(), "not_in_channel");
    kelly.call("conversations.join", json!({ "channel": random })).await.ok();
    kelly.say(&random, "here I am").await;
    world.ann().archive(&random, true);
    let archived = kelly.call("chat.postMessage", json!({ "channel": random, "text": "x" })).await;
    assert_eq!(archived.error(), "is_archived");
    // With `chat:write.public` an app posts to public channels without an invitation.
    let uninvited = world.slack.install(&slack_sandbox::AppConfig {
        channels: Vec::new(),
        scopes: ["chat:write", "chat:write.public"].map(str::to_owned).to_vec(),
        ..slack_sandbox::AppConfig::new("sol", "Solus")
    });
    world.api(&uninvited.bot_token).say(&world.general, "hi").await;
}

#[tokio::test]
async fn a_reply_goes_to_its_thread() {
    let world = start().await;
    let parent = world.ann().say(&world.general, "question").expect("posted");
    let reply = post(&world, json!({ "text": "answer", "thread_ts": parent })).await.ok();
    assert_eq!(reply["message"]["thread_ts"], parent);
    assert_eq!(reply["message"]["parent_user_id"], world.ann().id());
    // The timestamp of a reply means the thread of that reply.
    let second = post(&world, json!({ "text": "more", "thread_ts": reply["ts"], "reply_broadcast": true })).await.ok();
    assert_eq!((&second["message"]["thread_ts"], &second["message"]["subtype"]), (&json!(parent), &json!("thread_broadcast")));
    assert_eq!(second["message"]["root"]["text"], "question");
    assert_eq!(world.kelly().history(&world.general).await, ["more", "question"], "only the broadcast one is in the channel");
    // A thread that does not exist is ignored, and a system message cannot be answered.
    let lost = post(&world, json!({ "text": "lost", "thread_ts": "1790000000.000001" })).await.ok();
    assert!(lost["message"]["thread_ts"].is_null());
    world.slack.person("Ben").leave(&world.general);
    world.slack.person("Ben").join(&world.general);
    let joined = world.ann().messages(&world.general).pop().expect("a message")["ts"].clone();
    assert_eq!(post(&world, json!({ "text": "x", "thread_ts": joined })).await.error(), "cannot_reply_to_message");
}

#[tokio::test]
async fn an_update_replaces_text_and_blocks() {
    let world = start().await;
    let kelly = world.kelly();
    let block = |text: &str| json!([{ "type": "section", "text": { "type": "mrkdwn", "text": text } }]);
    let ts = post(&world, json!({ "text": "old", "blocks": block("old block") })).await.ok()["ts"].clone();
    let update = |more: Value| {
        let mut arguments = json!({ "channel": world.general, "ts": ts });
        arguments.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
        let kelly = kelly.clone();
        async move { kelly.json("chat.update", &arguments).await }
    };
    let blocks_only = update(json!({ "blocks": block("new block") })).await.ok();
    assert_eq!((&blocks_only["text"], blocks_only["message"].get("edited")), (&json!("old"), None));
    // A text without blocks removes the blocks.
    let text_only = update(json!({ "text": "new" })).await.ok();
    assert_eq!(text_only["message"]["blocks"][0]["type"], "rich_text");
    assert_eq!(text_only["message"]["edited"]["user"], world.slack.app("kelly").user);
    for (arguments, error) in [
        (json!({}), "no_text"),
        (json!({ "text": "x".repeat(4_001) }), "msg_too_long"),
        (json!({ "text": "x", "ts": "1.000000" }), "message_not_found"),
    ] {
        assert_eq!(update(arguments).await.error(), error);
    }
    let other = world.bot("vince").json("chat.update", &json!({ "channel": world.general, "ts": ts, "text": "mine" })).await;
    assert_eq!(other.error(), "cant_update_message");
    let other = world.bot("vince").json("chat.delete", &json!({ "channel": world.general, "ts": ts })).await;
    assert_eq!(other.error(), "cant_delete_message");
    kelly.call("chat.delete", json!({ "channel": world.general, "ts": ts })).await.ok();
    assert_eq!(update(json!({ "text": "gone" })).await.error(), "message_not_found");
}

#[tokio::test]
async fn an_ephemeral_message_is_for_one_person() {
    let world = start().await;
    let (ann, ben) = (world.ann(), world.slack.person("Ben"));
    let ephemeral = json!({ "channel": world.general, "user": ann.id(), "text": "only you" });
    let answer = world.kelly().json("chat.postEphemeral", &ephemeral).await.ok();
    assert!(answer["message_ts"].is_string());
    assert_eq!((ann.messages(&world.general).len(), ben.messages(&world.general).len()), (1, 0));
    assert!(world.kelly().history(&world.general).await.is_empty());
    let stranger = json!({ "channel": world.general, "user": "U0NOBODY00", "text": "x" });
    assert_eq!(world.kelly().json("chat.postEphemeral", &stranger).await.error(), "user_not_in_channel");
}

#[tokio::test]
async fn metadata_comes_back_only_when_it_is_asked_for() {
    let world = start().await;
    let metadata = json!({ "event_type": "answer", "event_payload": { "id": 7 } });
    let ts = post(&world, json!({ "text": "x", "metadata": metadata })).await.ok()["ts"].clone();
    let history = |all: bool| json!({ "channel": world.general, "include_all_metadata": all, "latest": ts, "inclusive": true });
    let without = world.kelly().call("conversations.history", history(false)).await.ok();
    assert!(without["messages"][0]["metadata"].is_null());
    let with = world.kelly().call("conversations.history", history(true)).await.ok();
    assert_eq!(with["messages"][0]["metadata"], metadata);
}

#[tokio::test]
async fn a_permalink_leads_to_a_message_or_a_reply() {
    let world = start().await;
    let parent = world.ann().say(&world.general, "x").expect("posted");
    let reply = world.ann().reply(&world.general, &parent, "y").expect("posted");
    for (ts, has_thread) in [(&parent, false), (&reply, true)] {
        let link = world.kelly().call("chat.getPermalink", json!({ "channel": world.general, "message_ts": ts })).await.ok();
        let link = link["permalink"].as_str().expect("a link").to_owned();
        assert!(link.contains(&format!("/p{}", ts.replace('.', ""))) && link.contains("thread_ts=") == has_thread, "{link}");
    }
}
