//! Setup for benchmarks of the whole team: the sandbox and the team in separate processes, and a person at a gateway connection.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use futures_util::{SinkExt, StreamExt};
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio_tungstenite::tungstenite::Message;

/// Linux's clock ticks per second.
const TICKS: f64 = 100.0;

/// The time limit for the start of a process.
const STARTING: Duration = Duration::from_secs(30);

/// The time limit for a message. A running team notices changes by other processes within half a minute.
const PATIENCE: Duration = Duration::from_mins(1);

/// A process that is killed on drop.
pub(crate) struct Ended(pub(crate) Child);

impl Drop for Ended {
    fn drop(&mut self) {
        // The process may have ended by itself. The measurement has noticed that already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The program of this checkout.
pub(crate) const PROGRAM: &str = env!("CARGO_BIN_EXE_teamroom");

/// A program in a separate folder, without this machine's settings.
pub(crate) fn command(program: &str, dir: &Path) -> Command {
    let mut command = Command::new(program);
    command.current_dir(dir).env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default()).stdin(Stdio::null());
    command
}

pub(crate) struct Sandbox {
    /// The JSON that the sandbox prints about itself.
    pub(crate) info: Value,
    _process: Ended,
}

impl Sandbox {
    pub(crate) fn start(dir: &Path, rooms: &[String]) -> Self {
        let mut child = command(PROGRAM, dir)
            .args(["sandbox", "--no-team", "--json", "--no-rate-limits", "--port", "0", "--channels", &rooms.join(",")])
            .stdout(Stdio::piped())
            .spawn()
            .expect("the binary starts");
        let mut line = String::new();
        BufReader::new(child.stdout.take().expect("a pipe")).read_line(&mut line).expect("a line");
        Self { info: serde_json::from_str(&line).expect("JSON"), _process: Ended(child) }
    }

    fn text(&self, key: &str) -> String {
        self.info[key].as_str().expect("a text").to_owned()
    }
}

/// A team connected to a sandbox.
pub(crate) struct Team {
    process: Ended,
    /// From the start until all identities are READY.
    pub(crate) ready: Duration,
    /// Megabytes, two seconds after READY.
    pub(crate) idle: f64,
}

impl Team {
    /// Starts the team on a local Discord, with additional settings.
    pub(crate) async fn start(program: &str, dir: &Path, sandbox: &Sandbox, settings: &[(&str, String)]) -> Self {
        let addresses = [("DISCORD_API_URL", "api"), ("DISCORD_GATEWAY_URL", "gateway"), ("TEAMROOM_DISCORD_GUILD", "guild")];
        let mut all: Vec<(String, String)> = addresses.map(|(name, key)| (name.to_owned(), sandbox.text(key))).to_vec();
        for bot in sandbox.info["bots"].as_array().expect("bots") {
            let slug = bot["slug"].as_str().expect("a slug").to_uppercase();
            all.push((format!("DISCORD_TOKEN_{slug}"), bot["token"].as_str().expect("a token").to_owned()));
        }
        all.extend(settings.iter().map(|(name, value)| ((*name).to_owned(), value.clone())));
        Self::start_with(program, dir, all).await
    }

    /// Starts with these environment variables.
    pub(crate) async fn start_with(program: &str, dir: &Path, settings: Vec<(String, String)>) -> Self {
        let listen = std::net::TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("an address");
        let mut command = command(program, dir);
        command.arg("run").env("TEAMROOM_SERVER_LISTEN", listen.to_string()).env("TEAMROOM_SERVER_LOG", "warn").envs(settings);
        let started = Instant::now();
        let process = Ended(command.spawn().expect("the binary starts"));
        let http = reqwest::Client::builder().no_proxy().build().expect("a client");
        while !http.get(format!("http://{listen}/readyz")).send().await.is_ok_and(|response| response.status().is_success()) {
            assert!(started.elapsed() < STARTING, "the team did not become ready");
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        let ready = started.elapsed();
        Self::measured(process, ready).await
    }

    /// Measures another program, which has printed that it is ready.
    pub(crate) async fn measured(process: Ended, ready: Duration) -> Self {
        tokio::time::sleep(Duration::from_secs(2)).await;
        let mut team = Self { process, ready, idle: 0.0 };
        team.idle = team.memory();
        team
    }

    /// Current memory in megabytes.
    pub(crate) fn memory(&self) -> f64 {
        self.read_status("VmRSS")
    }

    /// Peak memory in megabytes.
    pub(crate) fn peak_memory(&self) -> f64 {
        self.read_status("VmHWM")
    }

    fn read_status(&self, line: &str) -> f64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.process.0.id())).expect("the process runs");
        let value = status.lines().find_map(|found| found.strip_prefix(line)?.strip_prefix(':')).expect("a line");
        value.trim().trim_end_matches(" kB").parse::<f64>().expect("a number") / 1000.0
    }

    /// Used CPU time in seconds.
    pub(crate) fn processor_time(&self) -> f64 {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.process.0.id())).expect("the process runs");
        let fields: Vec<&str> = stat.rsplit(')').next().expect("a name in brackets").split_whitespace().collect();
        (fields[11].parse::<f64>().expect("a number") + fields[12].parse::<f64>().expect("a number")) / TICKS
    }
}

/// A person in the sandbox.
pub(crate) struct Person {
    http: reqwest::Client,
    api: String,
    token: String,
    pub(crate) seen: mpsc::UnboundedReceiver<Seen>,
}

/// A message received at the person's gateway connection.
pub(crate) struct Seen {
    /// The gateway's payload.
    pub(crate) message: Value,
    pub(crate) at: Instant,
}

impl Seen {
    pub(crate) fn text(&self) -> &str {
        self.message["content"].as_str().unwrap_or_default()
    }
}

impl Person {
    pub(crate) async fn join(sandbox: &Sandbox) -> Self {
        let http = reqwest::Client::builder().no_proxy().build().expect("a client");
        let token = sandbox.info["people"][0]["token"].as_str().expect("a token").to_owned();
        let seen = listen(&sandbox.text("gateway"), &token).await;
        Self { http, api: sandbox.text("api"), token, seen }
    }

    /// Posts a message. Nothing is sent before this is awaited.
    pub(crate) fn post(&self, channel: &str, text: &str) -> impl Future<Output = ()> + Send + use<> {
        let url = format!("{}/api/v10/channels/{channel}/messages", self.api);
        let request = self.http.post(url).header("authorization", &self.token).json(&json!({ "content": text }));
        async move {
            let response = request.send().await.expect("the sandbox answers");
            assert!(response.status().is_success(), "{}", response.status());
        }
    }

    /// The next message by anybody.
    pub(crate) async fn next(&mut self) -> Seen {
        let next = tokio::time::timeout(PATIENCE, self.seen.recv()).await;
        next.expect("messages keep coming").expect("the gateway is open")
    }
}

async fn listen(gateway: &str, token: &str) -> mpsc::UnboundedReceiver<Seen> {
    let (mut socket, _) = tokio_tungstenite::connect_async(format!("{gateway}/?v=10&encoding=json")).await.expect("the gateway opens");
    let identify = json!({"op": 2, "d": {"token": token, "intents": 0, "properties": {"os": "", "browser": "", "device": ""}}});
    socket.send(Message::text(identify.to_string())).await.expect("the gateway takes it");
    let (send, seen) = mpsc::unbounded_channel();
    tokio::spawn(async move {
        let mut beat = tokio::time::interval(Duration::from_secs(30));
        loop {
            let frame = tokio::select! {
                frame = socket.next() => frame,
                _ = beat.tick() => {
                    let heartbeat = json!({"op": 1, "d": null}).to_string();
                    if socket.send(Message::text(heartbeat)).await.is_err() { return }
                    continue;
                }
            };
            let Some(Ok(Message::Text(text))) = frame else { return };
            let at = Instant::now();
            let mut frame: Value = serde_json::from_str(&text).expect("JSON");
            if frame["t"] == "MESSAGE_CREATE" && send.send(Seen { message: frame["d"].take(), at }).is_err() {
                return;
            }
        }
    });
    seen
}

pub(crate) fn millis(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1000.0
}
