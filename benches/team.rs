//! Benchmarks the whole team under load: `cargo bench --bench team`, or `cargo bench --bench team -- --short` for a quick run.
//! `cargo bench --bench team -- --beside PROGRAM` compares this team with that of another `teamroom`, in turns on the same sandbox.
//!
//! The sandbox and the team run in separate processes. This process plays the person and the language model, which answers at once. Latency
//! is measured at the person's gateway connection, from receiving the message to receiving its answer, so it includes the sandbox. Memory
//! and CPU time come from `/proc` and are only the team's.

#[path = "../tests/integration/support/model/mod.rs"]
#[expect(dead_code, unused_imports, reason = "the tests use the rest")]
mod model;
mod stage;

use std::collections::HashMap;
use std::path::Path;
use std::time::{Duration, Instant};

use model::{Script, ScriptedModel};
use serde_json::Value;
use stage::{PROGRAM, Person, Sandbox, Team, millis};

const CHANNELS: usize = 20;
const RATE: u64 = 50;

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let short = arguments.iter().any(|argument| argument == "--short");
    let other = arguments.iter().position(|argument| argument == "--beside").map(|at| arguments.get(at + 1).expect("a program").clone());
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    if let Some(other) = other {
        return runtime.block_on(compare(&other));
    }
    runtime.block_on(async {
        let seconds = if short { 5 } else { 30 };
        println!("{RATE} messages a second for {seconds} s over {CHANNELS} channels, coalescing off, model without latency");
        println!("identities | answered | p50 ms | p99 ms | CPU s | idle MB | peak MB | all READY ms | prompt kB");
        for identities in [1, 5, 10] {
            let mut stage = Stage::set(PROGRAM, identities).await;
            println!("{}", stage.run_load(seconds).await);
        }
        println!("\none message after the other, 8 identities, 100 messages");
        let mut stage = Stage::set(PROGRAM, 8).await;
        println!("{}", stage.run_one_by_one(100).await);
    });
}

async fn compare(other: &str) {
    println!("one message after the other, 8 identities, 200 messages");
    for _ in 0..5 {
        for (name, program) in [("this", PROGRAM), ("other", other)] {
            println!("{name:<5} {}", Stage::set(program, 8).await.run_one_by_one(200).await);
        }
    }
}

struct Stage {
    team: Team,
    person: Person,
    model: ScriptedModel,
    channels: Vec<String>,
    names: Vec<String>,
    _sandbox: Sandbox,
    _dir: tempfile::TempDir,
}

impl Stage {
    async fn set(program: &str, identities: usize) -> Self {
        let dir = tempfile::tempdir().expect("a directory");
        let names = write_personas(dir.path(), identities);
        let rooms: Vec<_> = (0..CHANNELS).map(|number| format!("room-{number}")).collect();
        let sandbox = Sandbox::start(dir.path(), &rooms);
        let model = ScriptedModel::start().await;
        model.on(|asked| Script::say(format!("re {}", asked.last_word())));
        let person = Person::join(&sandbox).await;
        let settings = [
            ("TEAMROOM_MODEL_URL", model.base_url()),
            ("TEAMROOM_MODEL", "scripted-1".to_owned()),
            ("TEAMROOM_CHAT_COALESCE_MS", "0".to_owned()),
        ];
        let team = Team::start(program, dir.path(), &sandbox, &settings).await;
        let channels =
            sandbox.info["channels"].as_object().expect("channels").values().filter_map(Value::as_str).map(str::to_owned).collect();
        Self { team, person, model, channels, names, _sandbox: sandbox, _dir: dir }
    }

    async fn run_load(&mut self, seconds: u64) -> String {
        let count = usize::try_from(RATE * seconds).expect("a small number");
        let before = self.team.processor_time();
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
        // Waits long enough that a duplicate would arrive.
        tokio::time::sleep(Duration::from_secs(1)).await;
        let extra = std::iter::from_fn(|| self.person.seen.try_recv().ok()).filter(|seen| seen.text().starts_with("re ")).count();
        latencies.sort();
        format!(
            "{:>10} | {:>8} | {:>6.1} | {:>6.1} | {:>5.2} | {:>7.1} | {:>7.1} | {:>12} | {:>9.1}",
            self.names.len(),
            format!("{}/{count}", latencies.len() + extra),
            millis(latencies[latencies.len() / 2]),
            millis(latencies[latencies.len() * 99 / 100]),
            self.team.processor_time() - before,
            self.team.idle,
            self.team.peak_memory(),
            self.team.ready.as_millis(),
            self.prompt_kilobytes(),
        )
    }

    #[expect(clippy::cast_precision_loss, reason = "for showing")]
    async fn run_one_by_one(&mut self, count: usize) -> String {
        let mut latencies = Vec::new();
        let before = self.team.processor_time();
        for number in 0..count {
            tokio::spawn(self.post(number)).await.expect("a post ends");
            latencies.extend(self.collect(1).await);
        }
        latencies.sort();
        format!(
            "median {:.1} ms, worst {:.1} ms, processor {:.2} s per 100, idle {:.1} MB, peak {:.1} MB, all READY after {} ms",
            millis(latencies[count / 2]),
            millis(latencies[count - 1]),
            (self.team.processor_time() - before) * 100.0 / count as f64,
            self.team.idle,
            self.team.peak_memory(),
            self.team.ready.as_millis()
        )
    }

    fn post(&self, number: usize) -> impl Future<Output = ()> + Send + use<> {
        let channel = &self.channels[number % self.channels.len()];
        let text = format!("{}, report m{number}", self.names[number % self.names.len()]);
        self.person.post(channel, &text)
    }

    /// Waits for the answers to `count` messages.
    async fn collect(&mut self, count: usize) -> Vec<Duration> {
        let mut asked = HashMap::new();
        let mut latencies = Vec::new();
        while latencies.len() < count {
            let seen = self.person.next().await;
            if let Some(number) = seen.text().strip_prefix("re ") {
                latencies.extend(asked.remove(number).map(|at: Instant| seen.at - at));
            } else {
                let number = seen.text().split_whitespace().last().unwrap_or_default().to_owned();
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
        // The repository's own personas, if present, with their feeds.
        let text = std::fs::read_to_string(repository.join(&file)).unwrap_or_else(|_| {
            format!(
                "---\nname: {name}\nrole: extra\ncolor: \"#336699\"\nstandup:\n  role: Report.\n  cap: 600\n---\nYou answer in one line.\n"
            )
        });
        std::fs::write(dir.join("personas").join(file), text).expect("a file");
    }
    NAMES[..count].iter().map(|name| name.to_lowercase()).collect()
}
