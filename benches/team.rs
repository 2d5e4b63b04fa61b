//! The whole team under load: `cargo bench --bench team`, or `cargo bench --bench team -- --short` for a look.
//!
//! The sandbox runs in a process of its own, the team in another, and this one plays the person and the language model (which answers at once).
//! Latency is taken at the person's gateway connection, from the sight of the message to the sight of its answer, so it contains the sandbox's
//! dispatch as well. Memory and processor time are the team's process alone, from `/proc`.

#[path = "../tests/integration/support/model/mod.rs"]
#[expect(dead_code, unused_imports, reason = "the tests use the rest")]
mod model;

use std::collections::HashMap;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use futures_util::{SinkExt, StreamExt};
use model::{Script, ScriptedModel};
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio_tungstenite::tungstenite::Message;

const CHANNELS: usize = 20;
const RATE: u64 = 50;
/// Discord's and the sandbox's ticks of processor time a second.
const TICKS: f64 = 100.0;

fn main() {
    let short = std::env::args().any(|argument| argument == "--short");
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    runtime.block_on(async {
        let seconds = if short { 5 } else { 30 };
        println!("{RATE} messages a second for {seconds} s over {CHANNELS} channels, coalescing off, model without latency");
        println!("identities | answered | p50 ms | p99 ms | CPU s | idle MB | peak MB | all READY ms | prompt kB");
        for identities in [1, 5, 10] {
            let mut stage = Stage::set(identities).await;
            println!("{}", stage.run_load(seconds).await);
        }
        println!("\none message after the other, 8 identities, 100 messages");
        let mut stage = Stage::set(8).await;
        println!("{}", stage.run_one_by_one(100).await);
    });
}

/// A team on a sandbox, each in its own process, and a person.
struct Stage {
    team: Ended,
    _sandbox: Ended,
    _dir: tempfile::TempDir,
    model: ScriptedModel,
    http: reqwest::Client,
    api: String,
    token: String,
    channels: Vec<String>,
    names: Vec<String>,
    seen: mpsc::UnboundedReceiver<Seen>,
    ready: Duration,
    idle: f64,
}

/// A message at the person's gateway connection.
struct Seen {
    text: String,
    at: Instant,
}

/// A process that ends with this value.
struct Ended(Child);

impl Drop for Ended {
    fn drop(&mut self) {
        // It may have ended by itself, which the measurement has noticed then.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Stage {
    async fn set(identities: usize) -> Self {
        let dir = tempfile::tempdir().expect("a directory");
        let names = write_personas(dir.path(), identities);
        let (sandbox, info) = start_sandbox(dir.path());
        let model = ScriptedModel::start().await;
        model.on(|asked| Script::say(format!("re {}", asked.last_word())));
        let api = info["api"].as_str().expect("an address").to_owned();
        let token = info["people"][0]["token"].as_str().expect("a token").to_owned();
        let http = reqwest::Client::builder().no_proxy().build().expect("a client");
        let seen = listen(info["gateway"].as_str().expect("an address"), &token).await;
        let started = Instant::now();
        let (team, metrics) = start_team(dir.path(), &info, &model);
        while !http.get(format!("{metrics}/readyz")).send().await.is_ok_and(|response| response.status().is_success()) {
            assert!(started.elapsed() < Duration::from_secs(30), "the team did not become ready");
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        let ready = started.elapsed();
        tokio::time::sleep(Duration::from_secs(2)).await;
        let idle = memory(&team.0, "VmRSS");
        let channels = info["channels"].as_object().expect("channels").values().filter_map(Value::as_str).map(str::to_owned).collect();
        Self { team, _sandbox: sandbox, _dir: dir, model, http, api, token, channels, names, seen, ready, idle }
    }

    async fn run_load(&mut self, seconds: u64) -> String {
        let count = usize::try_from(RATE * seconds).expect("a small number");
        let before = processor_time(&self.team.0);
        let mut tick = tokio::time::interval(Duration::from_millis(1000 / RATE));
        let mut posts = Vec::new();
        for number in 0..count {
            tick.tick().await;
            posts.push(tokio::spawn(self.post(number)));
        }
        for post in posts {
            post.await.expect("a post ends");
        }
        let mut latencies = self.collect(count).await;
        // One too many would come now.
        tokio::time::sleep(Duration::from_secs(1)).await;
        let extra = std::iter::from_fn(|| self.seen.try_recv().ok()).filter(|seen| seen.text.starts_with("re ")).count();
        latencies.sort();
        format!(
            "{:>10} | {:>8} | {:>6.1} | {:>6.1} | {:>5.2} | {:>7.1} | {:>7.1} | {:>12} | {:>9.1}",
            self.names.len(),
            format!("{}/{count}", latencies.len() + extra),
            millis(latencies[latencies.len() / 2]),
            millis(latencies[latencies.len() * 99 / 100]),
            processor_time(&self.team.0) - before,
            self.idle,
            memory(&self.team.0, "VmHWM"),
            self.ready.as_millis(),
            self.prompt_kilobytes(),
        )
    }

    async fn run_one_by_one(&mut self, count: usize) -> String {
        let mut latencies = Vec::new();
        for number in 0..count {
            tokio::spawn(self.post(number)).await.expect("a post ends");
            latencies.extend(self.collect(1).await);
        }
        latencies.sort();
        format!(
            "median {:.1} ms, worst {:.1} ms, idle {:.1} MB, all READY after {} ms",
            millis(latencies[count / 2]),
            millis(latencies[count - 1]),
            self.idle,
            self.ready.as_millis()
        )
    }

    fn post(&self, number: usize) -> impl Future<Output = ()> + Send + use<> {
        let channel = &self.channels[number % self.channels.len()];
        let text = format!("{}, report m{number}", self.names[number % self.names.len()]);
        let url = format!("{}/api/v10/channels/{channel}/messages", self.api);
        let request = self.http.post(url).header("authorization", &self.token).json(&json!({ "content": text }));
        async move {
            let response = request.send().await.expect("the sandbox answers");
            assert!(response.status().is_success(), "{}", response.status());
        }
    }

    /// Waits for the answers to `count` messages.
    async fn collect(&mut self, count: usize) -> Vec<Duration> {
        let mut asked = HashMap::new();
        let mut latencies = Vec::new();
        while latencies.len() < count {
            let seen = tokio::time::timeout(Duration::from_secs(30), self.seen.recv())
                .await
                .expect("answers keep coming")
                .expect("the gateway is open");
            if let Some(number) = seen.text.strip_prefix("re ") {
                latencies.extend(asked.remove(number).map(|at: Instant| seen.at - at));
            } else {
                let number = seen.text.split_whitespace().last().unwrap_or_default().to_owned();
                asked.insert(number, seen.at);
            }
        }
        latencies
    }

    #[expect(clippy::cast_precision_loss, reason = "for showing")]
    fn prompt_kilobytes(&self) -> f64 {
        let requests = self.model.requests();
        let bytes: usize = requests.iter().map(|asked| asked.system.len() + asked.prompt().len()).sum();
        bytes as f64 / requests.len().max(1) as f64 / 1000.0
    }
}

fn write_personas(dir: &Path, count: usize) -> Vec<String> {
    const NAMES: [&str; 10] = ["Kelly", "Vince", "Eliza", "Echo", "Oracle", "Solus", "Sentinel", "Bruno", "Clara", "Dario"];
    std::fs::create_dir(dir.join("personas")).expect("a directory");
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("personas");
    for name in &NAMES[..count] {
        let file = format!("{}.md", name.to_lowercase());
        // The real personas as far as they go, feeds and all.
        let text = std::fs::read_to_string(repository.join(&file)).unwrap_or_else(|_| {
            format!(
                "---\nname: {name}\nrole: extra\ncolor: \"#336699\"\nstandup:\n  role: Report.\n  cap: 600\n---\nYou answer in one line.\n"
            )
        });
        std::fs::write(dir.join("personas").join(file), text).expect("a file");
    }
    NAMES[..count].iter().map(|name| name.to_lowercase()).collect()
}

fn binary(dir: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_teamroom"));
    command.current_dir(dir).env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default()).stdin(Stdio::null());
    command
}

fn start_sandbox(dir: &Path) -> (Ended, Value) {
    let rooms: Vec<_> = (0..CHANNELS).map(|number| format!("room-{number}")).collect();
    let mut child = binary(dir)
        .args(["sandbox", "--no-team", "--json", "--no-rate-limits", "--port", "0", "--channels", &rooms.join(",")])
        .stdout(Stdio::piped())
        .spawn()
        .expect("the binary starts");
    let mut line = String::new();
    BufReader::new(child.stdout.take().expect("a pipe")).read_line(&mut line).expect("a line");
    (Ended(child), serde_json::from_str(&line).expect("JSON"))
}

fn start_team(dir: &Path, info: &Value, model: &ScriptedModel) -> (Ended, String) {
    let listen = std::net::TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("an address");
    let text = |key: &str| info[key].as_str().expect("a text").to_owned();
    let mut command = binary(dir);
    command
        .arg("run")
        .env("DISCORD_API_URL", text("api"))
        .env("DISCORD_GATEWAY_URL", text("gateway"))
        .env("TEAMROOM_DISCORD_GUILD", text("guild"))
        .env("TEAMROOM_MODEL_URL", model.base_url())
        .env("TEAMROOM_MODEL", "scripted-1")
        .env("TEAMROOM_CHAT_COALESCE_MS", "0")
        .env("TEAMROOM_SERVER_LISTEN", listen.to_string())
        .env("TEAMROOM_SERVER_LOG", "warn");
    for bot in info["bots"].as_array().expect("bots") {
        let slug = bot["slug"].as_str().expect("a slug").to_uppercase();
        command.env(format!("DISCORD_TOKEN_{slug}"), bot["token"].as_str().expect("a token"));
    }
    (Ended(command.spawn().expect("the binary starts")), format!("http://{listen}"))
}

/// The person's gateway connection.
async fn listen(gateway: &str, token: &str) -> mpsc::UnboundedReceiver<Seen> {
    let (mut socket, _) = tokio_tungstenite::connect_async(format!("{gateway}/?v=10&encoding=json")).await.expect("the gateway opens");
    let identify = json!({"op": 2, "d": {"token": token, "intents": 0, "properties": {"os": "", "browser": "", "device": ""}}});
    socket.send(Message::Text(identify.to_string())).await.expect("the gateway takes it");
    let (send, seen) = mpsc::unbounded_channel();
    tokio::spawn(async move {
        let mut beat = tokio::time::interval(Duration::from_secs(30));
        loop {
            let frame = tokio::select! {
                frame = socket.next() => frame,
                _ = beat.tick() => {
                    let heartbeat = json!({"op": 1, "d": null}).to_string();
                    if socket.send(Message::Text(heartbeat)).await.is_err() { return }
                    continue;
                }
            };
            let Some(Ok(Message::Text(text))) = frame else { return };
            let at = Instant::now();
            let frame: Value = serde_json::from_str(&text).expect("JSON");
            if frame["t"] == "MESSAGE_CREATE" {
                let text = frame["d"]["content"].as_str().unwrap_or_default().to_owned();
                if send.send(Seen { text, at }).is_err() {
                    return;
                }
            }
        }
    });
    seen
}

/// Megabytes, by a line of `/proc/PID/status`.
fn memory(child: &Child, line: &str) -> f64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).expect("the process runs");
    let value = status.lines().find_map(|found| found.strip_prefix(line)?.strip_prefix(':')).expect("a line");
    value.trim().trim_end_matches(" kB").parse::<f64>().expect("a number") / 1000.0
}

/// Seconds of processor time that a process has used.
fn processor_time(child: &Child) -> f64 {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", child.id())).expect("the process runs");
    let fields: Vec<&str> = stat.rsplit(')').next().expect("a name in brackets").split_whitespace().collect();
    (fields[11].parse::<f64>().expect("a number") + fields[12].parse::<f64>().expect("a number")) / TICKS
}

fn millis(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1000.0
}
