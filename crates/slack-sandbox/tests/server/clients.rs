//! Slack's own clients log in and work: `slack_sdk` and `slack_bolt` of Python, `@slack/web-api` with `@slack/socket-mode` and
//! `@slack/bolt` of Node.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use serde_json::{Value, json};
use slack_sandbox::{ApiFault, Clock, DisconnectReason, Options, Progress, RateLimits, Switch, Workspace};
use tokio::io::{AsyncBufReadExt, BufReader, Lines};
use tokio::process::{Child, ChildStdout, Command};

use super::harness::{World, start_with};
use super::{root, skip};

/// Registries can be slow. An installed client needs a second.
const INSTALL_TIMEOUT: Duration = Duration::from_mins(4);
const RUN_TIMEOUT: Duration = Duration::from_mins(1);

fn source(client: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/clients").join(client)
}

/// A folder under `target/`, where installed clients stay for the next run.
fn installed(client: &str) -> PathBuf {
    let folder = root().join("target/clients").join(format!("slack_{client}"));
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
    work_together(command).await;
}

async fn work_with_node(client: &str) {
    let folder = installed(client);
    for file in ["package.json", "main.js"] {
        std::fs::copy(source(client).join(file), folder.join(file)).expect("the client's files");
    }
    let npm = ["install", "--no-audit", "--no-fund", "--ignore-scripts", "--prefer-offline"];
    if let Err(why) = install("npm", &npm, &folder).await {
        return skip::missing("clients", &why);
    }
    let mut command = Command::new("node");
    command.arg("main.js").current_dir(&folder);
    work_together(command).await;
}

/// A client while it runs.
struct Running {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Running {
    fn start(mut command: Command, world: &World) -> Self {
        let app = world.slack.app("kelly");
        let mut child = command
            .env("SANDBOX_API", world.slack.api_url())
            .env("SANDBOX_TOKEN", app.bot_token)
            .env("SANDBOX_APP_TOKEN", app.app_token)
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

/// Waits until something is there.
async fn until<T>(world: &World, what: &str, find: impl Fn(&Workspace) -> Option<T>) -> T {
    tokio::time::timeout(RUN_TIMEOUT, world.slack.until(find)).await.unwrap_or_else(|_| panic!("{what} comes in time"))
}

/// A message of the channel that fits.
async fn message(world: &World, channel: &str, what: &str, fits: impl Fn(&Value) -> bool) -> Value {
    let ann = world.ann();
    until(world, what, |_| ann.messages(channel).into_iter().find(|message| fits(message))).await
}

async fn work_together(command: Command) {
    // Real clients have real time: pings, and pauses before they connect again.
    let real = |options: &mut Options| {
        options.clock = Clock::system();
        options.rate_limits = RateLimits::Slack;
    };
    let world = start_with(real).await;
    let (ann, general) = (world.ann(), world.general.clone());
    let mut client = Running::start(command, &world);
    client.expect_line("ready").await;

    // The clients wait as long as they are told to.
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
    let ended = tokio::time::timeout(RUN_TIMEOUT, ran.ended()).await.expect("an answer in time");
    assert!(matches!(ended, Progress::Acknowledged(_)), "{ended:?}");
    message(&world, &general, "the answer to the command", |m| m["text"] == "pong: ping").await;
    let view = until(&world, "the modal", |_| ann.modals().pop()).await;
    ann.submit(view["id"].as_str().expect("an id"), &[("name", &["Ann"])]).expect("open");
    let direct = ann.open_direct(&[&world.slack.app("kelly").user]);
    message(&world, &direct, "the direct message", |m| m["text"] == "saved: Ann").await;
    // Bolt for Python may acknowledge only now.
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
    let status = tokio::time::timeout(RUN_TIMEOUT, client.child.wait()).await.expect("the client ends");
    assert!(status.expect("a status").success());
}
