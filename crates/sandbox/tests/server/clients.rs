//! discord.js, discord.py and hikari log in and exchange messages, files and commands.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, BufReader, Lines};
use tokio::process::{Child, ChildStdout, Command};

use super::harness::{Gateway, World, start};
use crate::support::{root, skip};

/// Registries can be slow. An installed client needs a second.
const INSTALL_TIMEOUT: Duration = Duration::from_mins(4);
const RUN_TIMEOUT: Duration = Duration::from_mins(1);

fn source(client: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/clients").join(client)
}

/// A folder under `target/`, where installed clients stay for the next run.
fn installed(client: &str) -> PathBuf {
    let folder = root().join("target/clients").join(client);
    std::fs::create_dir_all(&folder).expect("a folder for the client");
    folder
}

/// Runs one step of an installation.
async fn install(program: &str, arguments: &[&str], folder: &Path) -> Result<(), String> {
    let run = Command::new(program).args(arguments).current_dir(folder).stdin(Stdio::null()).kill_on_drop(true).output();
    match tokio::time::timeout(INSTALL_TIMEOUT, run).await {
        Err(_) => Err(format!("{program} took too long")),
        Ok(Err(error)) => Err(format!("{program}: {error}")),
        Ok(Ok(output)) if !output.status.success() => Err(format!("{program} {arguments:?}: {}", String::from_utf8_lossy(&output.stderr))),
        Ok(Ok(_)) => Ok(()),
    }
}

#[tokio::test]
async fn discord_js_logs_in_and_exchanges_messages_files_and_commands() {
    let folder = installed("discord_js");
    for file in ["package.json", "main.js"] {
        std::fs::copy(source("discord_js").join(file), folder.join(file)).expect("the client's files");
    }
    let npm = ["install", "--no-audit", "--no-fund", "--ignore-scripts", "--prefer-offline"];
    if let Err(why) = install("npm", &npm, &folder).await {
        return skip::missing("clients", &why);
    }
    let mut command = Command::new("node");
    command.arg("main.js").current_dir(&folder);
    exchange(command).await;
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
    let folder = installed(client);
    let python = folder.join("venv/bin/python");
    let requirements = source(client).join("requirements.txt");
    let steps = async {
        if !python.exists() {
            install("python3", &["-m", "venv", "venv"], &folder).await?;
        }
        let pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r", requirements.to_str().unwrap_or_default()];
        install(python.to_str().unwrap_or_default(), &pip, &folder).await
    };
    if let Err(why) = steps.await {
        return skip::missing("clients", &why);
    }
    let mut command = Command::new(python);
    command.arg(source(client).join("main.py"));
    exchange(command).await;
}

/// A client while it runs.
struct Running {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Running {
    fn start(mut command: Command, world: &World) -> Self {
        let token = world.bot("kelly").token;
        let mut child = command
            .env("SANDBOX_API", world.sandbox.api_url())
            .env("SANDBOX_GATEWAY", world.sandbox.gateway_url())
            .env("SANDBOX_GUILD", world.sandbox.guild_id())
            .env("SANDBOX_TOKEN", token.trim_start_matches("Bot "))
            .env_remove("HTTP_PROXY")
            .env_remove("http_proxy")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .expect("the client starts");
        let stdout = child.stdout.take().expect("its output");
        Self { child, lines: BufReader::new(stdout).lines() }
    }

    async fn expect_line(&mut self, expected: &str) {
        let line = tokio::time::timeout(RUN_TIMEOUT, self.lines.next_line()).await.expect("the client prints something in time");
        assert_eq!(line.expect("readable output").as_deref(), Some(expected));
    }
}

async fn exchange(command: Command) {
    let world = start().await;
    let (person, general) = (world.person(), world.channel("general"));
    let mut gateway = world.connect(&person).await;
    let mut client = Running::start(command, &world);
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
    let status = tokio::time::timeout(RUN_TIMEOUT, client.child.wait()).await.expect("the client ends");
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
