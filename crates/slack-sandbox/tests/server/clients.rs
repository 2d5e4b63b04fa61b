//! Slack's own clients log in and work: `slack_sdk` and `slack_bolt` of Python, `@slack/web-api` with `@slack/socket-mode` and
//! `@slack/bolt` of Node.

use serde_json::{Value, json};
use slack_sandbox::{ApiFault, Clock, DisconnectReason, Options, Progress, RateLimits, Switch, Workspace};
use tokio::process::Command;

use super::harness::{World, start_with};
use crate::support::clients::{self, Running};
use crate::support::patience::PATIENCE;

#[tokio::test]
async fn the_web_and_socket_mode_clients_of_python_work() {
    work_with_python("python").await;
}

#[tokio::test]
async fn bolt_for_python_works() {
    work_with_python("python_bolt").await;
}

#[tokio::test]
async fn the_web_api_and_socket_mode_clients_of_node_work() {
    work_with_node("node").await;
}

#[tokio::test]
async fn bolt_for_node_works() {
    work_with_node("node_bolt").await;
}

async fn work_with_python(client: &str) {
    if let Some(command) = clients::python(client).await {
        work_together(command).await;
    }
}

async fn work_with_node(client: &str) {
    if let Some(command) = clients::node(client).await {
        work_together(command).await;
    }
}

/// Waits until something is there.
async fn until<T>(world: &World, what: &str, find: impl Fn(&Workspace) -> Option<T>) -> T {
    tokio::time::timeout(PATIENCE, world.slack.until(find)).await.unwrap_or_else(|_| panic!("{what} comes in time"))
}

/// The first message of the channel for which `fits` is true.
async fn message(world: &World, channel: &str, what: &str, fits: impl Fn(&Value) -> bool) -> Value {
    let ann = world.ann();
    until(world, what, |_| ann.messages(channel).into_iter().find(|message| fits(message))).await
}

async fn work_together(command: Command) {
    // Real clients need real time, because they send pings and pause before they connect again.
    let real = |options: &mut Options| {
        options.clock = Clock::system();
        options.rate_limits = RateLimits::Slack;
    };
    let world = start_with(real).await;
    let (ann, general) = (world.ann(), world.general.clone());
    let app = world.slack.app("kelly");
    let variables = [("SANDBOX_API", world.slack.api_url()), ("SANDBOX_TOKEN", app.bot_token), ("SANDBOX_APP_TOKEN", app.app_token)];
    let mut client = Running::start(command, &variables);
    client.expect_line("ready").await;

    // A client that gets this rate limit waits as long as it says.
    world.set(Switch::Api { app: None, method: "reactions.add".to_owned(), times: 1, with: ApiFault::RateLimited(1) });
    let asked = ann.upload(&general, None, "in.txt", "Grüße", "hello").expect("posted");
    message(&world, &general, "the answer", |m| m["text"] == "heard: Grüße" && m["thread_ts"] == asked).await;
    message(&world, &general, "the reaction", |m| m["ts"] == asked && m["reactions"][0]["name"] == "thumbsup").await;
    let file = message(&world, &general, "the file", |m| m["files"][0]["name"] == "echo.txt" && m["thread_ts"] == asked).await;
    assert_eq!((&file["files"][0]["title"], &file["files"][0]["size"]), (&json!("Echo"), &json!("Grüße".len())));
    message(&world, &general, "the streamed text", |m| m["text"] == "**streamed**" && m["streaming_state"].is_null()).await;
    let posted = message(&world, &general, "the button", |m| m["text"] == "people: ann,ben,kelly,vince").await;
    assert_eq!(posted["username"], "Echo");

    ann.press(&general, posted["ts"].as_str().expect("ts"), "go").expect("it is there");
    message(&world, &general, "the pressed button", |m| m["text"] == "pressed: 42" && m["ts"] == posted["ts"]).await;
    let ran = ann.command(&general, "/kelly ping").expect("known");
    let ended = tokio::time::timeout(PATIENCE, ran.ended()).await.expect("an answer in time");
    assert!(matches!(ended, Progress::Acknowledged(_)), "{ended:?}");
    message(&world, &general, "the answer to the command", |m| m["text"] == "pong: ping").await;
    let view = until(&world, "the modal", |_| ann.modals().pop()).await;
    ann.submit(view["id"].as_str().expect("an id"), &[("name", &["Ann"])]).expect("open");
    let direct = ann.open_direct(&[&world.slack.app("kelly").user]);
    message(&world, &direct, "the direct message", |m| m["text"] == "saved: Ann").await;
    // Bolt for Python may acknowledge the submission only now.
    until(&world, "the end of the modal", |_| ann.modals().is_empty().then_some(())).await;
    ann.open_home("kelly").expect("it has one");
    until(&world, "the home tab", |_| ann.home("kelly")).await;

    // A refresh: the client connects again by itself.
    world.set(Switch::Disconnect { app: None, reason: DisconnectReason::RefreshRequested });
    until(&world, "the new connection", |slack| (slack.connections("kelly") == 1).then_some(())).await;
    let again = ann.say(&general, "again").expect("posted");
    message(&world, &general, "the second reaction", |m| m["ts"] == again && m["reactions"][0]["name"] == "eyes").await;
    ann.say(&general, "bye").expect("posted");
    client.expect_line("ok").await;
    let status = tokio::time::timeout(PATIENCE, client.child.wait()).await.expect("the client ends");
    assert!(status.expect("a status").success());
}
