//! Benchmarks a standup: `cargo bench --bench standup`, or `cargo bench --bench standup -- --short` for a quick run.
//!
//! Eight personas report without pauses on the history of a real repository, six web feeds and some files. The sandbox and the team run in
//! separate processes, with a scripted model that answers at once. Times are measured at a person's gateway connection, from sending the
//! message to receiving the kickoff and the Day Report. Tokens and cost come from the ledger.

mod feeds;
#[path = "../../tests/integration/support/history.rs"]
#[expect(dead_code, reason = "the tests use the rest")]
mod history;
#[path = "../../tests/integration/support/model/mod.rs"]
#[expect(dead_code, reason = "the tests use the rest")]
mod model;
mod pictures;
#[path = "../../tests/integration/support/port.rs"]
mod port;
#[path = "../../tests/integration/support/postgres.rs"]
#[expect(dead_code, reason = "the tests use the rest")]
mod postgres;
mod script;
#[path = "../../crates/local-server/tests/support/skip.rs"]
mod skip;
#[path = "../stage/mod.rs"]
mod stage;

use std::path::Path;
use std::time::{Duration, Instant};

use feeds::FeedServer;
use kernel::time::{Clock as _, SystemClock};
use model::ScriptedModel;
use serde_json::Value;
use stage::{PROGRAM, Person, Sandbox, Team, command, millis};

/// The speakers in order. Kelly facilitates.
const SPEAKERS: [&str; 8] = ["vince", "eliza", "echo", "oracle", "sentinel", "bruno", "clara", "solus"];

/// The default models of tier 1, one expensive and one cheap.
const MODELS: [&str; 2] = ["claude-haiku-4-5", "gpt-4.1-mini"];

/// The wait for the last messages in threads before the next standup.
const AFTER: Duration = Duration::from_millis(400);

fn main() {
    let short = std::env::args().any(|argument| argument == "--short");
    let count = if short { 4 } else { 20 };
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    runtime.block_on(async {
        time_standups(count).await;
        count_tokens().await;
        feeds::time_reading(if short { 2 } else { 5 }).await;
        pictures::time_drawing(count).await;
    });
}

async fn time_standups(count: usize) {
    println!("{count} standups of {}, one after the other, pause 0; aims: kickoff under 1 s, Day Report under 1 s", SPEAKERS.len());
    println!(
        "store      | model    | kickoff p50, p90, worst ms | Day Report p50, p90, worst ms | CPU s each | idle MB | peak MB | all READY ms"
    );
    for has_postgres in [false, true] {
        for has_model in [false, true] {
            let mut wanted = Wanted { rooms: count, ..Wanted::default() };
            if has_postgres {
                let Some(database) = postgres::database().await else { return };
                wanted.database = Some(database);
            }
            wanted.model = has_model.then_some(MODELS[0]);
            let mut stage = Stage::set(wanted).await;
            let before = stage.team.processor_time();
            let (mut kickoffs, mut reports) = (Vec::new(), Vec::new());
            for room in 0..count {
                let held = stage.hold(room).await;
                kickoffs.push(held.kickoff);
                reports.push(held.report);
            }
            #[expect(clippy::cast_precision_loss, reason = "for showing")]
            let processor = (stage.team.processor_time() - before) / count as f64;
            println!(
                "{:<10} | {:<8} | {:>26} | {:>29} | {processor:>10.2} | {:>7.1} | {:>7.1} | {:>12}",
                if has_postgres { "PostgreSQL" } else { "SQLite" },
                if has_model { "scripted" } else { "offline" },
                spread(kickoffs),
                spread(reports),
                stage.team.idle,
                stage.team.peak_memory(),
                stage.team.ready.as_millis(),
            );
        }
    }
}

/// One standup for each setting, measured by the ledger.
async fn count_tokens() {
    println!("\ntokens and cost by the ledger, four bytes a token, nothing cached; aims: at least 30 % fewer, four personas under $0.05");
    let (new, all) = (pay(MODELS[0], true, 8).await, pay(MODELS[0], false, 8).await);
    for (what, new, all) in [("8 personas, all calls", new.input, all.input), ("their reports alone", new.reports, all.reports)] {
        println!("{what}: {new} prompt tokens with only what is new, {all} with everything, {} % fewer", 100 - 100 * new / all);
    }
    println!("of the reports' tokens {} are the personas' own prompts, the same each day", new.same);
    for model in MODELS {
        let four = pay(model, true, 4).await;
        println!("4 personas on {model}: ${:.4}, {} tokens in, {} out", four.dollars, four.input, four.output);
    }
}

/// The cost of a standup.
struct Paid {
    input: u64,
    output: u64,
    dollars: f64,
    /// The part of `input` for reports, without the call and the conclusion.
    reports: u64,
    /// The part for system prompts, which stay the same from day to day.
    same: u64,
}

async fn pay(model: &'static str, delta: bool, speakers: usize) -> Paid {
    let mut stage = Stage::set(Wanted { model: Some(model), delta, speakers, ..Wanted::default() }).await;
    stage.hold(0).await;
    let report = stage.read_report(0);
    let asked = stage.model.requests();
    // Counts only requests for reports. The later work on the report's items asks for no signals.
    let reports: Vec<_> = asked.iter().filter(|asked| asked.schema.is_none() && asked.prompt().contains("```signals")).collect();
    assert_eq!(reports.len(), speakers, "each speaker is asked once");
    let usage = |part: &str| report["usage"][part].as_u64().expect("a count");
    Paid {
        input: usage("input"),
        output: usage("output"),
        dollars: report["cost"].as_f64().expect("millionths of a dollar") / 1e6,
        reports: reports.iter().map(|asked| script::count_tokens(asked)).sum(),
        same: reports.iter().map(|asked| script::tokens(asked.system.len())).sum(),
    }
}

/// The settings of a benchmark's team.
struct Wanted {
    /// None: SQLite.
    database: Option<String>,
    /// The model name that determines the price. None: the team is offline.
    model: Option<&'static str>,
    delta: bool,
    speakers: usize,
    /// Each channel has one standup, so that every report is the first of the day.
    rooms: usize,
}

impl Default for Wanted {
    fn default() -> Self {
        Self { database: None, model: None, delta: true, speakers: SPEAKERS.len(), rooms: 1 }
    }
}

/// A team ready for standups, and a person.
struct Stage {
    team: Team,
    person: Person,
    database: Option<String>,
    sandbox: Sandbox,
    dir: tempfile::TempDir,
    model: ScriptedModel,
    _feeds: FeedServer,
}

/// Durations from the moment the standup was called.
struct Held {
    kickoff: Duration,
    report: Duration,
}

impl Stage {
    async fn set(wanted: Wanted) -> Self {
        let dir = tempfile::tempdir().expect("a directory");
        let feeds = FeedServer::start().await;
        write_material(dir.path(), &feeds);
        let rooms: Vec<_> = (0..wanted.rooms).map(room).collect();
        let sandbox = Sandbox::start(dir.path(), &rooms);
        let model = ScriptedModel::start().await;
        model.on(script::answer);
        let person = Person::join(&sandbox).await;
        let mut settings = vec![
            ("TEAMROOM_STANDUP_PAUSE", "0s".to_owned()),
            ("TEAMROOM_STANDUP_ORDER", SPEAKERS[SPEAKERS.len() - wanted.speakers..].join(",")),
            ("TEAMROOM_STANDUP_DELTA_CONTEXT", wanted.delta.to_string()),
        ];
        if let Some(name) = wanted.model {
            settings.extend([("TEAMROOM_MODEL_URL", model.base_url()), ("TEAMROOM_MODEL", name.to_owned())]);
        }
        settings.extend(wanted.database.clone().map(|database| ("DATABASE_URL", database)));
        let team = Team::start(PROGRAM, dir.path(), &sandbox, &settings).await;
        Self { team, person, database: wanted.database, sandbox, dir, model, _feeds: feeds }
    }

    /// Holds a standup in an unused channel.
    async fn hold(&mut self, number: usize) -> Held {
        let channel = self.sandbox.info["channels"][room(number)].as_str().expect("an id").to_owned();
        let started = Instant::now();
        self.person.post(&channel, "let's do a new standup kelly").await;
        let mut kickoff = None;
        let report = loop {
            let seen = self.person.next().await;
            if seen.message["channel_id"] != channel.as_str() || seen.message["author"]["bot"] != true {
                continue;
            }
            if seen.text().starts_with("**Standup") {
                kickoff = Some(seen.at - started);
            }
            if seen.message["embeds"][0]["title"].as_str().is_some_and(|title| title.starts_with("Day Report")) {
                break seen.at - started;
            }
        };
        tokio::time::sleep(AFTER).await;
        Held { kickoff: kickoff.expect("the kickoff comes before the report"), report }
    }

    /// The Day Report of a channel.
    fn read_report(&self, number: usize) -> Value {
        serde_json::from_slice(&self.run(&["report", "--json", "--channel", &room(number)])).expect("JSON")
    }

    /// Runs a command beside the team and returns its output.
    fn run(&self, arguments: &[&str]) -> Vec<u8> {
        let database = self.database.iter().map(|database| ("DATABASE_URL", database));
        let output = command(PROGRAM, self.dir.path()).args(arguments).envs(database).output().expect("the binary starts");
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        output.stdout
    }
}

fn room(number: usize) -> String {
    format!("standup-{number}")
}

/// Writes eight personas with feeds, a repository and some files.
fn write_material(dir: &Path, feeds: &FeedServer) {
    // Without the recorded history, the repository's personas have nothing to report, and there is no call.
    let _ = history::make_repository(dir, 300, SystemClock.now());
    for (name, text) in feeds.personas() {
        write(&dir.join("personas").join(name), &text);
    }
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("personas");
    for file in std::fs::read_dir(repository).expect("the personas") {
        let file = file.expect("a file");
        std::fs::copy(file.path(), dir.join("personas").join(file.file_name())).expect("a copy");
    }
    for (name, text) in script::FILES {
        write(&dir.join("knowledge").join(name), text);
    }
}

fn write(path: &Path, text: &str) {
    std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
    std::fs::write(path, text).expect("a file");
}

/// Median, 90th percentile and maximum in milliseconds.
fn spread(mut times: Vec<Duration>) -> String {
    times.sort();
    let last = times.len() - 1;
    [times.len() / 2, times.len() * 9 / 10, last].map(|at| format!("{:.1}", millis(times[at.min(last)]))).join(", ")
}
