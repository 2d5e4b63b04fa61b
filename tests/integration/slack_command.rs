//! `teamroom sandbox --slack`: the whole product on a local Slack.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::support::patience::PATIENCE;
use serde_json::{Value, json};

/// A running sandbox, with what it printed. Killed on drop.
struct Running {
    child: Child,
    info: Value,
    http: reqwest::Client,
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn command(dir: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_teamroom"));
    command.arg("sandbox").args(arguments).current_dir(dir).env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default());
    command
}

impl Running {
    fn start(dir: &Path, arguments: &[&str]) -> Self {
        let mut child = command(dir, arguments).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("the binary starts");
        let mut line = String::new();
        BufReader::new(child.stdout.take().expect("a pipe")).read_line(&mut line).expect("a line");
        let http = reqwest::Client::builder().no_proxy().build().expect("a client");
        Self { info: serde_json::from_str(&line).expect("one line of JSON"), child, http }
    }

    fn text(&self, pointer: &str) -> &str {
        self.info.pointer(pointer).and_then(Value::as_str).unwrap_or_else(|| panic!("{pointer} is missing: {}", self.info))
    }

    fn messages(&self) -> String {
        format!("{}people/channels/{}/messages", self.text("/page"), self.text("/channels/general"))
    }

    async fn said(&self) -> Vec<Value> {
        let request = self.http.get(self.messages()).bearer_auth(self.text("/people/0/token"));
        let answer: Value = request.send().await.expect("an answer").json().await.expect("JSON");
        answer["messages"].as_array().unwrap_or_else(|| panic!("{answer}")).clone()
    }

    async fn say(&self, text: &str) {
        let request = self.http.post(self.messages()).bearer_auth(self.text("/people/0/token"));
        let answer = request.json(&json!({ "text": text })).send().await.expect("an answer");
        assert!(answer.status().is_success(), "{}", answer.text().await.unwrap_or_default());
    }
}

#[tokio::test]
async fn the_team_answers_on_a_local_slack_that_remembers() {
    let dir = tempfile::tempdir().expect("a folder");
    let arguments = ["--slack", "--json", "--port", "0", "--no-local-model", "--people", "Ann,Ben", "--channels", "general,ops"];
    let sandbox = Running::start(dir.path(), &arguments);
    assert_eq!((sandbox.text("/platform"), sandbox.text("/people/1/name")), ("slack", "Ben"));
    assert!(sandbox.info["apps"].is_null() && sandbox.info["channels"]["ops"].is_string(), "{}", sandbox.info);
    // Kelly speaks as the app itself, the others under their own names.
    sandbox.say("sentinel, what happened this week?").await;
    let started = Instant::now();
    let answer = loop {
        if let Some(answer) = sandbox.said().await.into_iter().find(|message| message["username"] == "Sentinel") {
            break answer;
        }
        assert!(started.elapsed() < PATIENCE, "{:?}", sandbox.said().await);
        tokio::time::sleep(Duration::from_millis(50)).await;
    };
    assert!(answer["icons"]["emoji"].is_string() && answer["blocks"].to_string().contains("this week"), "{answer}");
    let before = sandbox.said().await;
    let token = sandbox.text("/people/0/token").to_owned();
    // Killed, as by a power failure.
    drop(sandbox);

    let sandbox = Running::start(dir.path(), &arguments);
    assert_eq!(sandbox.text("/people/0/token"), token);
    let stamps = |messages: &[Value]| messages.iter().map(|message| message["ts"].clone()).collect::<Vec<_>>();
    assert_eq!(stamps(&sandbox.said().await)[..before.len()], stamps(&before));
    assert!(dir.path().join(".teamroom/slack-sandbox/teamroom.db").exists(), "the team has a database of its own there");
    assert!(!dir.path().join(".teamroom/sandbox").exists(), "that of Discord is another one");
}

#[test]
fn the_terminal_is_for_the_local_discord() {
    let dir = tempfile::tempdir().expect("a folder");
    let output = command(dir.path(), &["--slack", "--terminal"]).output().expect("it runs");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && said.contains("--terminal works with the local Discord only"), "{said}");
}
