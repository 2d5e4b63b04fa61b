//! Streamed messages and what an assistant shows.

use std::time::Duration;

use serde_json::json;

use super::harness::{start, start_with};

#[tokio::test]
async fn a_message_is_streamed_and_stopped() {
    let world = start().await;
    let (kelly, ann) = (world.kelly(), world.ann());
    let thread = ann.say(&world.general, "question").expect("posted");
    let place = json!({ "channel": world.general, "thread_ts": thread });
    assert_eq!(kelly.json("chat.startStream", &place).await.error(), "missing_recipient_team_id");
    let begin = json!({
        "channel": world.general, "thread_ts": thread, "recipient_team_id": world.slack.team_id(), "recipient_user_id": ann.id(),
        "markdown_text": "**Hel",
    });
    let ts = kelly.json("chat.startStream", &begin).await.ok()["ts"].clone();
    assert_eq!(ann.message(&world.general, ts.as_str().expect("ts")).expect("it is there")["streaming_state"], "in_progress");
    let change = json!({ "channel": world.general, "ts": ts, "text": "x" });
    assert_eq!(kelly.json("chat.update", &change).await.error(), "streaming_state_conflict");
    let append = json!({ "channel": world.general, "ts": ts, "markdown_text": "lo**" });
    kelly.json("chat.appendStream", &append).await.ok();
    assert_eq!(world.bot("vince").json("chat.appendStream", &append).await.error(), "message_not_owned_by_app");
    let long = json!({ "channel": world.general, "ts": ts, "markdown_text": "x".repeat(12_001) });
    assert_eq!(kelly.json("chat.appendStream", &long).await.error(), "msg_too_long");
    let stop = json!({ "channel": world.general, "ts": ts, "chunks": [{ "type": "markdown_text", "text": "!" }] });
    let stopped = kelly.json("chat.stopStream", &stop).await.ok();
    assert_eq!((&stopped["message"]["text"], &stopped["message"]["thread_ts"]), (&json!("**Hello**!"), &json!(thread)));
    assert_eq!(kelly.json("chat.appendStream", &append).await.error(), "message_not_in_streaming_state");
}

#[tokio::test]
async fn a_stream_ends_after_five_minutes() {
    let world = start().await;
    let kelly = world.kelly();
    let direct = world.ann().open_direct(&[&world.slack.app("kelly").user]);
    let thread = world.ann().say(&direct, "question").expect("posted");
    let begin = json!({ "channel": direct, "thread_ts": thread });
    let ts = kelly.json("chat.startStream", &begin).await.ok()["ts"].clone();
    let append = json!({ "channel": direct, "ts": ts, "markdown_text": "x" });
    world.slack.advance(Duration::from_secs(299));
    kelly.json("chat.appendStream", &append).await.ok();
    world.slack.advance(Duration::from_secs(1));
    assert_eq!(kelly.json("chat.appendStream", &append).await.error(), "message_not_in_streaming_state");
}

#[tokio::test]
async fn a_status_is_shown_until_the_app_posts() {
    let world = start().await;
    let (channel, thread) = world.ann().open_assistant("kelly").expect("opened");
    let asked = world.ann().say(&channel, "question").expect("posted");
    let status = json!({ "channel_id": channel, "thread_ts": asked, "status": "is thinking…" });
    world.kelly().json("assistant.threads.setStatus", &status).await.ok();
    assert_eq!(world.slack.assistant(&channel, &asked).expect("a status")["status"], "is thinking…");
    let reply = json!({ "channel": channel, "thread_ts": asked, "text": "done" });
    world.kelly().json("chat.postMessage", &reply).await.ok();
    assert_eq!(world.slack.assistant(&channel, &asked).expect("a status")["status"], "");

    let title = json!({ "channel_id": channel, "thread_ts": thread, "title": "Costs" });
    world.kelly().json("assistant.threads.setTitle", &title).await.ok();
    let prompts = |count: usize| {
        let prompt = json!({ "title": "t", "message": "m" });
        json!({ "channel_id": channel, "thread_ts": thread, "prompts": vec![prompt; count] })
    };
    world.kelly().json("assistant.threads.setSuggestedPrompts", &prompts(4)).await.ok();
    assert_eq!(world.kelly().json("assistant.threads.setSuggestedPrompts", &prompts(5)).await.error(), "invalid_arguments");
    let shown = world.slack.assistant(&channel, &thread).expect("a thread");
    assert_eq!((&shown["title"], shown["prompts"].as_array().map(Vec::len)), (&json!("Costs"), Some(4)));
}

#[tokio::test]
async fn an_agent_at_work_is_stopped_by_a_person() {
    let world = start().await;
    let (kelly, ann) = (world.kelly(), world.ann());
    let mut socket = world.connect("kelly").await;
    let thread = ann.say(&world.general, "question").expect("posted");
    let place = |status: &str| json!({ "channel_id": world.general, "thread_ts": thread, "status": status, "username": "Solus" });
    assert_eq!(kelly.json("agents.sessions.setStatus", &place("busy")).await.error(), "invalid_arguments");
    let rest = json!({ "channel_id": world.general, "status": "processing" });
    assert_eq!(kelly.json("agents.sessions.setStatus", &rest).await.error(), "invalid_arguments");
    assert!(ann.stop_work(&world.general, &thread).is_err(), "nobody works");
    kelly.json("agents.sessions.setStatus", &place("processing")).await.ok();
    let begin = json!({
        "channel": world.general, "thread_ts": thread, "recipient_team_id": world.slack.team_id(), "recipient_user_id": ann.id(),
        "markdown_text": "Well",
    });
    let streamed = kelly.json("chat.startStream", &begin).await.ok()["ts"].clone();
    ann.stop_work(&world.general, &thread).expect("it is told");
    let told = socket.event("agent_session_stopped").await;
    assert_eq!((&told["channel"], &told["thread_ts"], &told["user"]), (&json!(world.general), &json!(thread), &json!(ann.id())));
    assert_eq!(told["streaming_message_ts"], json!([streamed]));
    let append = json!({ "channel": world.general, "ts": streamed, "markdown_text": "x" });
    assert_eq!(kelly.json("chat.appendStream", &append).await.error(), "message_not_in_streaming_state");
    assert_eq!(
        world.slack.assistant(&world.general, &thread).expect("a session")["session"],
        "processing",
        "the app has to say that it is over"
    );
    kelly.json("agents.sessions.setStatus", &place("active")).await.ok();
    assert!(ann.stop_work(&world.general, &thread).is_err());
}

#[tokio::test]
async fn only_an_agent_has_sessions_and_only_who_listens_can_be_stopped() {
    let world = start_with(|options| {
        options.apps[0].events.retain(|event| event != "agent_session_stopped");
        options.apps[1].scopes.retain(|scope| scope != "assistant:write");
    })
    .await;
    let thread = world.ann().say(&world.general, "question").expect("posted");
    let work = json!({ "channel_id": world.general, "thread_ts": thread, "status": "processing" });
    assert_eq!(world.bot("vince").json("agents.sessions.setStatus", &work).await.error(), "missing_scope");
    let warned = world.kelly().json("agents.sessions.setStatus", &work).await.ok();
    assert_eq!(warned["warning"], "missing_agent_session_stopped_event_subscription");
    assert!(world.ann().stop_work(&world.general, &thread).is_err());
}
