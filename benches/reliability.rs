//! Measures how one fault affects everything else: `cargo bench --bench reliability`, or with `-- --short` for a quick run. `--rate N` sets the
//! messages per second; an unoptimised build is too slow for the default.
//!
//! 1. The pauses between the posts of nine identities, with and without a tenth whose requests to Discord never get an answer.
//! 2. The time from a slash command to its acknowledgement, with a model that takes 30 s and a machine whose processors are all busy.
//!
//! The sandbox and the team run in separate processes, as in the benchmark `team`. Discord allows three seconds for an acknowledgement.

#[path = "../tests/integration/support/model/mod.rs"]
#[expect(dead_code, unused_imports, reason = "the tests use the rest")]
mod model;
#[expect(dead_code, reason = "other benchmarks use the rest")]
mod stage;

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use model::{Script, ScriptedModel};
use serde_json::{Value, json};
use stage::{PROGRAM, Person, Sandbox, Team, millis};

const NAMES: [&str; 10] = ["Kelly", "Vince", "Eliza", "Echo", "Oracle", "Solus", "Sentinel", "Bruno", "Clara", "Dario"];
/// The identity whose requests hang. It posts in its own channel, because posts in one channel wait for each other.
const HANGING: &str = "Vince";
const RATE: u64 = 50;
const SLOW_MODEL: Duration = Duration::from_secs(30);

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let short = arguments.iter().any(|argument| argument == "--short");
    let rate = arguments.iter().position(|argument| argument == "--rate").map_or(RATE, |at| arguments[at + 1].parse().expect("a number"));
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    runtime.block_on(async {
        let seconds = if short { 5 } else { 30 };
        println!("pauses between the posts of nine identities; {rate} messages a second to all ten for {seconds} s, model without latency");
        for hangs in [false, true, false, true] {
            let mut stage = Stage::set(|asked| Script::say(format!("re {}", asked.last_word()))).await;
            println!("{:<17} {}", if hangs { "a tenth hangs:" } else { "none hangs:" }, stage.run_posts(rate, seconds, hangs).await);
        }
        let count = if short { 200 } else { 400 };
        println!("\n{count} commands one after the other, from the request to the acknowledgement");
        for busy in [false, true] {
            let mut stage = Stage::set(|asked| Script::SayAfter(SLOW_MODEL, format!("re {}", asked.last_word()))).await;
            println!("{:<17} {}", if busy { "machine busy:" } else { "machine idle:" }, stage.run_commands(count, busy).await);
        }
    });
}

struct Stage {
    person: Person,
    client: Client,
    channels: Vec<String>,
    _team: Team,
    _model: ScriptedModel,
    _sandbox: Sandbox,
    _dir: tempfile::TempDir,
}

impl Stage {
    async fn set(answer: impl Fn(&model::Asked) -> Script + Send + Sync + 'static) -> Self {
        let dir = tempfile::tempdir().expect("a directory");
        write_personas(dir.path());
        let rooms: Vec<_> = NAMES.iter().map(|name| format!("room-{}", name.to_lowercase())).collect();
        let sandbox = Sandbox::start(dir.path(), &rooms);
        let model = ScriptedModel::start().await;
        model.on(answer);
        let person = Person::join(&sandbox).await;
        let settings = [
            ("TEAMROOM_MODEL_URL", model.base_url()),
            ("TEAMROOM_MODEL", "scripted-1".to_owned()),
            ("TEAMROOM_CHAT_COALESCE_MS", "0".to_owned()),
        ];
        let team = Team::start(PROGRAM, dir.path(), &sandbox, &settings).await;
        let channel = |room: &String| sandbox.info["channels"][room].as_str().expect("a channel").to_owned();
        let channels = rooms.iter().map(channel).collect();
        let client = Client::new(&sandbox.info);
        Self { person, client, channels, _team: team, _model: model, _sandbox: sandbox, _dir: dir }
    }

    /// Asks each persona in its own channel, and measures when the answers appear.
    async fn run_posts(&mut self, rate: u64, seconds: u64, hangs: bool) -> String {
        if hangs {
            let switch =
                json!({ "do": "rest", "bot": HANGING.to_lowercase(), "method": null, "path": "/", "times": 1_000_000, "with": "hang" });
            self.client.post("/sandbox/misbehave", &switch).await;
        }
        let count = usize::try_from(rate * seconds).expect("a small number");
        let asked: Vec<usize> = (0..count).map(|number| number % NAMES.len()).filter(|of| hangs || NAMES[*of] != HANGING).collect();
        let others = asked.iter().filter(|of| NAMES[**of] != HANGING).count();
        let mut tick = tokio::time::interval(Duration::from_millis(1000 / rate));
        let mut posts = Vec::new();
        for (number, of) in asked.into_iter().enumerate() {
            tick.tick().await;
            let text = format!("{}, report m{number}", NAMES[of].to_lowercase());
            posts.push(tokio::spawn(self.person.post(&self.channels[of], &text)));
        }
        for post in posts {
            post.await.expect("a post ends");
        }
        let (mut answered, mut last, mut pauses) = (0, None, Vec::new());
        while answered < others {
            let seen = self.person.next().await;
            if seen.text().starts_with("re ") {
                answered += 1;
                pauses.extend(last.replace(seen.at).map(|before| seen.at - before));
            }
        }
        describe(pauses)
    }

    async fn run_commands(&mut self, count: usize, busy: bool) -> String {
        let stop = Arc::new(AtomicBool::new(!busy));
        let burning: Vec<_> = (0..std::thread::available_parallelism().map_or(1, usize::from)).map(|_| burn(Arc::clone(&stop))).collect();
        // Everybody waits for the model.
        for (name, channel) in NAMES.iter().zip(&self.channels) {
            self.person.post(channel, &format!("{}, report", name.to_lowercase())).await;
        }
        let command = self.client.find_command("status").await;
        let mut times = Vec::new();
        for number in 0..count {
            let began = Instant::now();
            self.client.invoke(&command, &self.channels[number % self.channels.len()]).await;
            loop {
                let seen = self.person.next().await;
                // The acknowledgement is visible as "thinking".
                if seen.message["interaction_metadata"].is_object() {
                    times.push(seen.at - began);
                    break;
                }
            }
        }
        stop.store(true, Ordering::Relaxed);
        for thread in burning {
            thread.join().expect("it ends");
        }
        describe(times)
    }
}

/// Keeps a processor busy.
fn burn(stop: Arc<AtomicBool>) -> std::thread::JoinHandle<()> {
    std::thread::spawn(move || {
        let mut number = 1_u64;
        while !stop.load(Ordering::Relaxed) {
            for _ in 0..10_000 {
                number = std::hint::black_box(number.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1));
            }
        }
    })
}

fn describe(mut times: Vec<Duration>) -> String {
    times.sort();
    let at = |share: usize| millis(times[times.len() * share / 1000]);
    let worst = millis(times[times.len() - 1]);
    format!("{} times: p50 {:.1} ms, p99 {:.1} ms, p99.9 {:.1} ms, worst {worst:.1} ms", times.len(), at(500), at(990), at(999))
}

/// Sends the person's requests other than messages.
struct Client {
    http: reqwest::Client,
    api: String,
    token: String,
    guild: String,
}

impl Client {
    fn new(info: &Value) -> Self {
        let text = |value: &Value| value.as_str().expect("a text").to_owned();
        let http = reqwest::Client::builder().no_proxy().build().expect("a client");
        Self { http, api: text(&info["api"]), token: text(&info["people"][0]["token"]), guild: text(&info["guild"]) }
    }

    async fn post(&self, path: &str, body: &Value) {
        let response = self.http.post(format!("{}{path}", self.api)).header("authorization", &self.token).json(body).send().await;
        let response = response.expect("the sandbox answers");
        assert!(response.status().is_success(), "{path}: {}", response.status());
    }

    async fn find_command(&self, name: &str) -> Value {
        let path = format!("{}/api/v10/guilds/{}/application-command-index", self.api, self.guild);
        for _ in 0..100 {
            let response = self.http.get(&path).header("authorization", &self.token).send().await.expect("the sandbox answers");
            let index: Value = response.json().await.expect("JSON");
            let commands = index["application_commands"].as_array().into_iter().flatten();
            if let Some(command) = commands.into_iter().find(|command| command["name"] == name) {
                return command.clone();
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        panic!("the command {name} was not registered")
    }

    async fn invoke(&self, command: &Value, channel: &str) {
        let body = json!({
            "type": 2, "application_id": command["application_id"], "guild_id": self.guild, "channel_id": channel,
            "data": { "id": command["id"], "name": command["name"], "type": 1, "version": command["version"], "options": [] },
        });
        self.post("/api/v10/interactions", &body).await;
    }
}

fn write_personas(dir: &Path) {
    std::fs::create_dir(dir.join("personas")).expect("a directory");
    for name in NAMES {
        let coordinator = if name == "Kelly" { "coordinator: true\n" } else { "" };
        let text = format!("---\nname: {name}\nrole: extra\n{coordinator}feeds: []\n---\nYou answer in one line.\n");
        std::fs::write(dir.join("personas").join(format!("{}.md", name.to_lowercase())), text).expect("a file");
    }
}
