//! Benchmarks the team on Slack: `cargo bench --bench slack`, or with `-- --short` for a quick run.
//!
//! One run measures three in turns: the team on a local Slack, a bot on `@slack/bolt` on the same one (if npm can install it), and the team on a
//! local Discord. Each has eight personas, one message after the other, and a language model that answers at once. Latency is measured from a
//! person's message until its answer is visible.

#[path = "../../tests/integration/support/model/mod.rs"]
#[expect(dead_code, unused_imports, reason = "the tests use the rest")]
mod model;
#[path = "../stage/mod.rs"]
#[expect(dead_code, reason = "the benchmark of the team uses the rest")]
mod stage;

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use model::{Script, ScriptedModel};
use serde_json::Value;
use slack_sandbox::{AppConfig, ChannelConfig, InstalledApp, Options, PersonConfig, RateLimits, Workspace};
use stage::{Ended, PROGRAM, Person, Sandbox, Team, command, millis};
use teamroom::adapters::slack::manifest::AppKind;
use teamroom::app::slack_manifest;

const NAMES: [&str; 8] = ["Kelly", "Vince", "Eliza", "Echo", "Oracle", "Solus", "Sentinel", "Bruno"];

/// The slug of the app.
const APP: &str = "team";

fn main() {
    let short = std::env::args().any(|argument| argument == "--short");
    let (rounds, count) = if short { (1, 50) } else { (5, 200) };
    tokio::runtime::Runtime::new().expect("a runtime").block_on(async {
        let bolt = install_bolt();
        println!("one message after the other, 8 personas, {count} messages");
        for _ in 0..rounds {
            println!("team on Slack    {}", on_slack(count, start_team).await);
            if let Some(bolt) = &bolt {
                println!("bolt on Slack    {}", on_slack(count, async |stage: &Stage| start_bolt(bolt, stage).await).await);
            }
            println!("team on Discord  {}", on_discord(count).await);
        }
    });
}

/// The local Slack, model and folder of a bot.
struct Stage {
    slack: Workspace,
    model: ScriptedModel,
    dir: tempfile::TempDir,
}

impl Stage {
    /// Creates a channel for each message, because the team waits a second between two posts in one channel.
    async fn set(rooms: usize) -> Self {
        let rooms: Vec<String> = (0..rooms).map(|number| format!("room-{number}")).collect();
        let app = AppConfig::of_manifest(APP, &slack_manifest("Teamroom", AppKind::Plain)).expect("the manifest is complete");
        let app = AppConfig { channels: rooms.clone(), ..app };
        let options = Options {
            apps: vec![app],
            people: vec![PersonConfig::new("Ann")],
            channels: rooms.iter().map(|room| ChannelConfig::new(room)).collect(),
            rate_limits: RateLimits::Off,
            ..Options::default()
        };
        let slack = Workspace::start(options).await.expect("the workspace starts");
        Self { slack, model: start_model().await, dir: tempfile::tempdir().expect("a directory") }
    }

    fn app(&self) -> InstalledApp {
        self.slack.app(APP)
    }
}

async fn start_model() -> ScriptedModel {
    let model = ScriptedModel::start().await;
    model.on(|asked| Script::say(format!("re {}", asked.last_word())));
    model
}

fn settings_of(model: &ScriptedModel) -> [(&'static str, String); 3] {
    [("TEAMROOM_MODEL_URL", model.base_url()), ("TEAMROOM_MODEL", "scripted-1".to_owned()), ("TEAMROOM_CHAT_COALESCE_MS", "0".to_owned())]
}

async fn start_team(stage: &Stage) -> Team {
    write_personas(stage.dir.path());
    let app = stage.app();
    let slack = [
        ("SLACK_BOT_TOKEN", app.bot_token),
        ("SLACK_APP_TOKEN", app.app_token),
        ("TEAMROOM_SLACK_API_URL", stage.slack.api_url().trim_end_matches("/api/").to_owned()),
    ];
    let settings = slack.into_iter().chain(settings_of(&stage.model)).map(|(name, value)| (name.to_owned(), value)).collect();
    Team::start_with(PROGRAM, stage.dir.path(), settings).await
}

async fn start_bolt(folder: &Path, stage: &Stage) -> Team {
    let (app, started) = (stage.app(), Instant::now());
    let mut child = command("node", folder)
        .arg("bolt.mjs")
        .env("SANDBOX_API", stage.slack.api_url())
        .env("SANDBOX_TOKEN", app.bot_token)
        .env("SANDBOX_APP_TOKEN", app.app_token)
        .env("MODEL_URL", stage.model.base_url())
        .stdout(Stdio::piped())
        .spawn()
        .expect("node starts");
    let mut line = String::new();
    BufReader::new(child.stdout.take().expect("a pipe")).read_line(&mut line).expect("a line");
    assert_eq!(line.trim(), "ready");
    Team::measured(Ended(child), started.elapsed()).await
}

/// Installs `@slack/bolt`. None without node or npm, or if npm cannot reach the registry.
fn install_bolt() -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("bolt");
    std::fs::create_dir_all(&folder).expect("a folder");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/slack");
    for file in ["package.json", "bolt.mjs"] {
        std::fs::copy(source.join(file), folder.join(file)).expect("its files");
    }
    let npm = ["install", "--no-audit", "--no-fund", "--ignore-scripts", "--prefer-offline", "--silent"];
    let installed = Command::new("npm").args(npm).current_dir(&folder).status().is_ok_and(|status| status.success());
    if !installed {
        println!("SKIPPED: @slack/bolt could not be installed");
    }
    installed.then_some(folder)
}

async fn on_slack<F: AsyncFn(&Stage) -> Team>(count: usize, start: F) -> String {
    let stage = Stage::set(count).await;
    let team = start(&stage).await;
    let ann = stage.slack.person("Ann");
    let (before, mut times) = (team.processor_time(), Vec::new());
    for number in 0..count {
        let room = stage.slack.channel(&format!("room-{number}"));
        let name = NAMES[number % NAMES.len()].to_lowercase();
        let began = Instant::now();
        ann.say(&room, &format!("{name}, report m{number}")).expect("it is said");
        let wanted = format!("re m{number}");
        stage.slack.until(|_| ann.messages(&room).iter().any(|message| message["text"] == wanted.as_str()).then_some(())).await;
        times.push(began.elapsed());
    }
    spell(&mut times, team.processor_time() - before, &team)
}

async fn on_discord(count: usize) -> String {
    let dir = tempfile::tempdir().expect("a directory");
    write_personas(dir.path());
    let rooms: Vec<String> = (0..20).map(|number| format!("room-{number}")).collect();
    let sandbox = Sandbox::start(dir.path(), &rooms);
    let model = start_model().await;
    let mut person = Person::join(&sandbox).await;
    let team = Team::start(PROGRAM, dir.path(), &sandbox, &settings_of(&model)).await;
    let channels: Vec<&str> = sandbox.info["channels"].as_object().expect("channels").values().filter_map(Value::as_str).collect();
    let (before, mut times) = (team.processor_time(), Vec::new());
    for number in 0..count {
        let name = NAMES[number % NAMES.len()].to_lowercase();
        let began = Instant::now();
        person.post(channels[number % channels.len()], &format!("{name}, report m{number}")).await;
        while person.next().await.text() != format!("re m{number}") {}
        times.push(began.elapsed());
    }
    spell(&mut times, team.processor_time() - before, &team)
}

#[expect(clippy::cast_precision_loss, reason = "for showing")]
fn spell(times: &mut [Duration], processor: f64, team: &Team) -> String {
    times.sort();
    format!(
        "median {:.1} ms, worst {:.1} ms, processor {:.2} s per 100, idle {:.1} MB, peak {:.1} MB, ready after {} ms",
        millis(times[times.len() / 2]),
        millis(times[times.len() - 1]),
        processor * 100.0 / times.len() as f64,
        team.idle,
        team.peak_memory(),
        team.ready.as_millis()
    )
}

fn write_personas(dir: &Path) {
    std::fs::create_dir_all(dir.join("personas")).expect("a directory");
    for name in NAMES {
        let role = if name == "Kelly" { "coordinator\ncoordinator: true" } else { "member" };
        let text = format!("---\nname: {name}\nrole: {role}\n---\nYou answer in one line.\n");
        std::fs::write(dir.join("personas").join(format!("{}.md", name.to_lowercase())), text).expect("a file");
    }
}
