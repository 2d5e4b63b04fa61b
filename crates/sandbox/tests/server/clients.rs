//! discord.js, discord.py and hikari log in and exchange messages, files and commands.

use serde_json::{Value, json};
use tokio::process::Command;

use super::harness::{Gateway, start};
use crate::support::clients::{self, Running};
use crate::support::patience::PATIENCE;

#[tokio::test]
async fn discord_js_logs_in_and_exchanges_messages_files_and_commands() {
    if let Some(command) = clients::node("discord_js").await {
        exchange(command).await;
    }
}

#[tokio::test]
async fn discord_py_logs_in_and_exchanges_messages_files_and_commands() {
    exchange_with_python("discord_py").await;
}

#[tokio::test]
async fn hikari_logs_in_and_exchanges_messages_files_and_commands() {
    exchange_with_python("hikari").await;
}

async fn exchange_with_python(client: &str) {
    if let Some(command) = clients::python(client).await {
        exchange(command).await;
    }
}

async fn exchange(command: Command) {
    let world = start().await;
    let (person, general) = (world.person(), world.channel("general"));
    let mut gateway = world.connect(&person).await;
    let variables = [
        ("SANDBOX_API", world.sandbox.api_url()),
        ("SANDBOX_GATEWAY", world.sandbox.gateway_url()),
        ("SANDBOX_GUILD", world.sandbox.guild_id()),
        ("SANDBOX_TOKEN", world.bot("kelly").token.trim_start_matches("Bot ").to_owned()),
    ];
    let mut client = Running::start(command, &variables);
    client.expect_line("ready").await;

    let path = format!("/channels/{general}/messages");
    let posted = person.upload(&path, &json!({ "content": "hello" }), &[("in.txt", "Grüße".into())], true).await.ok();
    let reply = message_of(&mut gateway, "MESSAGE_CREATE", &world.bot("kelly").id).await;
    assert_eq!((&reply["content"], &reply["referenced_message"]["id"]), (&json!("first"), &posted["id"]));
    let file = &reply["attachments"][0];
    assert_eq!(file["filename"], "echo.txt");
    assert_eq!(person.fetch(file["url"].as_str().expect("an address")).await.1, "heard: Grüße".as_bytes());
    assert_eq!(message_of(&mut gateway, "MESSAGE_UPDATE", &world.bot("kelly").id).await["content"], "hello, edited");
    assert_eq!(gateway.event("MESSAGE_REACTION_ADD").await["emoji"]["name"], "👍");

    let data = json!({ "name": "ping", "options": [{ "type": 3, "name": "text", "value": "x" }] });
    let request = json!({ "type": 2, "application_id": world.bot("kelly").id, "channel_id": general, "data": data });
    assert_eq!(person.call("POST", "/interactions", request).await.status, 204);
    assert_eq!(message_of(&mut gateway, "MESSAGE_UPDATE", &world.bot("kelly").id).await["content"], "pong: x");

    client.expect_line("ok").await;
    let status = tokio::time::timeout(PATIENCE, client.child.wait()).await.expect("the client ends");
    assert!(status.expect("a status").success());
}

/// The next event about a message of this author.
async fn message_of(gateway: &mut Gateway, event: &str, author: &str) -> Value {
    loop {
        let message = gateway.event(event).await;
        if message["author"]["id"] == *author {
            return message;
        }
    }
}
