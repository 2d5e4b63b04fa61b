//! `teamroom standup`, `report` and `predictions` as separate processes.

use std::process::{Output, Stdio};
use std::time::Duration;

use secrecy::ExposeSecret;
use serde_json::Value;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};

use crate::standup::change;
use crate::support::team::{Backing, TestTeam, Wanted, eventually, on_one_store};

on_one_store!(
    without_a_team_the_standup_is_held_in_the_terminal,
    ctrl_c_in_the_terminal_cancels_the_standup,
    beside_a_team_the_standup_is_held_in_its_channel_and_followed,
    beside_a_team_the_standup_is_steered,
);

/// The reporting personas in order.
const SPEAKERS: [&str; 6] = ["Echo", "Eliza", "Oracle", "Sentinel", "Vince", "Solus"];

/// The exit code after Ctrl-C.
const INTERRUPTED: Option<i32> = Some(130);

fn command(team: &TestTeam, pause: &str, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_teamroom"));
    command.args(args).current_dir(team.dir.path()).env_clear().kill_on_drop(true);
    command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
    command.env("DATABASE_URL", team.config.database_url.expose_secret()).env("TEAMROOM_STANDUP_PAUSE", pause);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

async fn run(team: &TestTeam, args: &[&str]) -> Output {
    command(team, "0s", args).output().await.expect("the binary runs")
}

/// The program's output.
async fn say(team: &TestTeam, args: &[&str]) -> String {
    let output = run(team, args).await;
    assert!(output.status.success(), "{args:?}: {}", stderr(&output));
    stdout(&output)
}

/// The error output of a failing command.
async fn complain(team: &TestTeam, args: &[&str]) -> String {
    let output = run(team, args).await;
    assert_eq!((output.status.code(), stdout(&output).as_str()), (Some(2), ""), "{args:?}");
    stderr(&output)
}

fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn interrupt(child: &Child) {
    let id = child.id().expect("it is running").to_string();
    assert!(std::process::Command::new("kill").args(["-INT", &id]).status().expect("kill runs").success());
}

async fn wait_until_printed(child: &mut Child, wanted: &str) {
    let mut lines = BufReader::new(child.stdout.as_mut().expect("it is piped")).lines();
    let printed = async { while lines.next_line().await.expect("it can be read").expect("it does not end before") != wanted {} };
    tokio::time::timeout(Duration::from_mins(1), printed).await.expect(wanted);
}

async fn wait_until_shown(team: &TestTeam, words: &str) {
    let is_shown = || async { stdout(&run(team, &["standup", "show"]).await).contains(words) };
    eventually(words, is_shown).await;
}

/// A team in whose standups the second speaker waits for a minute.
async fn slow_team(backing: Backing) -> TestTeam {
    Wanted::on(backing).configure(|config| change(config, |standup| standup.pause = Duration::from_mins(1))).start().await
}

async fn without_a_team_the_standup_is_held_in_the_terminal(backing: Backing) {
    let team = Wanted::on(backing).without_app().start().await;
    assert!(complain(&team, &["report"]).await.contains("Start a standup with `teamroom standup run`"));
    assert!(complain(&team, &["standup", "show"]).await.contains("there was no standup"));
    assert!(complain(&team, &["standup", "wrap"]).await.contains("no standup is running"));

    let held = run(&team, &["standup", "run", "--channel", "daily-standup"]).await;
    let told = stdout(&held);
    assert!(held.status.success() && stderr(&held).contains("held here and not in #daily-standup"), "{}", stderr(&held));
    for name in SPEAKERS {
        assert!(told.contains(&format!("\n{name}\n")), "{name} does not speak:\n{told}");
    }
    assert!(told.starts_with("Kelly\n") && told.contains("Day Report ·") && !told.contains('\x1b'), "{told}");
    assert!(told.contains("    ── What the feeds said"), "{told}");

    let shown: Value = serde_json::from_str(&say(&team, &["standup", "show", "--json"]).await).expect("JSON");
    assert_eq!(shown["meeting"]["state"], "done");
    assert_eq!(shown["seats"].as_array().map(Vec::len), Some(SPEAKERS.len()));
    let report: Value = serde_json::from_str(&say(&team, &["report", "today", "--json"]).await).expect("JSON");
    let day = report["day"].as_str().expect("a day").to_owned();
    assert_eq!((&report["revision"], &report["channel_name"]), (&1.into(), &"terminal".into()));
    let file = say(&team, &["report", &day, "--markdown"]).await;
    let written = std::fs::read_to_string(team.path(&format!(".teamroom/reports/{day}.md"))).expect("the file of the report");
    assert_eq!(file, written);
    assert!(say(&team, &["report", "--channel", "#Terminal"]).await.starts_with("# Day Report ·"));

    let again: Value = serde_json::from_str(&say(&team, &["standup", "run", "--json"]).await).expect("nothing but JSON");
    assert_eq!((&again["meeting"]["state"], &again["result"]["revision"]), (&"done".into(), &2.into()));
    let revised: Value = serde_json::from_str(&say(&team, &["report", "--json"]).await).expect("JSON");
    assert_eq!(revised["revision"], 2, "a second standup of the day revises its report");

    assert!(complain(&team, &["report", "tomorrow"]).await.contains("\"tomorrow\" is not a date. Write it like 20"));
    assert!(complain(&team, &["report", "2020-01-01"]).await.contains(&format!("The last one is of {day}")));
    assert!(complain(&team, &["report", "--channel", "ops"]).await.contains("There is one in #terminal"));
    assert_eq!(say(&team, &["predictions", "list", "--json"]).await.trim(), "[]");
    assert!(say(&team, &["predictions", "list"]).await.contains("No predictions yet"));
    assert!(say(&team, &["predictions", "score"]).await.contains("too few to judge"));
    let score: Value = serde_json::from_str(&say(&team, &["predictions", "score", "--json"]).await).expect("JSON");
    assert_eq!(score["hits"], 0);
}

async fn ctrl_c_in_the_terminal_cancels_the_standup(backing: Backing) {
    let team = Wanted::on(backing).without_app().start().await;
    // A command that creates the database holds its lock for a moment, which looks like a running team.
    assert!(complain(&team, &["standup", "show"]).await.contains("there was no standup"));
    let mut child = command(&team, "1m", &["standup", "run"]).spawn().expect("the binary starts");
    wait_until_printed(&mut child, "Echo").await;
    wait_until_shown(&team, "To come: Eliza").await;
    interrupt(&child);
    assert_eq!(child.wait().await.expect("it ends").code(), INTERRUPTED);
    assert!(say(&team, &["standup", "show"]).await.contains("was cancelled"));
    assert!(complain(&team, &["report"]).await.contains("there is no Day Report"));
}

async fn beside_a_team_the_standup_is_held_in_its_channel_and_followed(backing: Backing) {
    let team = Wanted::on(backing).configure(|config| change(config, |standup| standup.pause = Duration::ZERO)).start().await;
    let unknown = complain(&team, &["standup", "run", "--channel", "#nowhere"]).await;
    assert!(unknown.contains("there is no channel \"nowhere\". Known channels: #") && unknown.contains("#daily-standup"), "{unknown}");

    let told = say(&team, &["standup", "run"]).await;
    for name in SPEAKERS {
        assert!(told.contains(&format!("{name}\n")), "{name} does not speak:\n{told}");
    }
    assert!(told.contains("\n# Day Report ·") && told.contains("#daily-standup") && !told.contains('\x1b'), "{told}");
    team.settle().await;
    let posted = team.answers("daily-standup").await;
    assert!(posted[0].text.contains("called from the command line"), "{posted:#?}");
    assert!(SPEAKERS.iter().all(|name| posted.iter().any(|answer| answer.author == *name)), "{posted:#?}");
    assert!(say(&team, &["report", "--channel", "daily-standup"]).await.starts_with("# Day Report ·"));
    let again: Value = serde_json::from_str(&say(&team, &["standup", "run", "--json"]).await).expect("nothing but JSON");
    assert_eq!((&again["meeting"]["channel"]["name"], &again["result"]["revision"]), (&"daily-standup".into(), &2.into()));
}

async fn beside_a_team_the_standup_is_steered(backing: Backing) {
    let team = slow_team(backing).await;
    let watching = command(&team, "1m", &["standup", "run", "--channel", "knowledge"]).spawn().expect("the binary starts");
    wait_until_shown(&team, "To come: Eliza").await;
    interrupt(&watching);
    let ended = watching.wait_with_output().await.expect("it ends");
    assert_eq!(ended.status.code(), INTERRUPTED);
    assert!(stderr(&ended).contains("the standup goes on"), "{}", stderr(&ended));

    let again = command(&team, "1m", &["standup", "run", "--channel", "knowledge"]).spawn().expect("the binary starts");
    assert_eq!(say(&team, &["standup", "skip", "solus"]).await, "You skipped Solus.\n");
    assert!(complain(&team, &["standup", "skip", "solus"]).await.contains("Solus is skipped already"));
    assert!(complain(&team, &["standup", "skip", "echo"]).await.contains("Echo has spoken already"));
    let unknown = complain(&team, &["standup", "skip", "nobody"]).await;
    assert!(unknown.contains("nobody called \"nobody\" takes part. Participants: Echo, Eliza, Oracle"), "{unknown}");
    wait_until_shown(&team, "Skipped: Solus (the command line skipped it)").await;
    let json_of = async |args: &[&str]| serde_json::from_str::<Value>(&say(&team, &[args, &["--json"]].concat()).await).expect("JSON");
    let paused = json_of(&["standup", "pause"]).await;
    assert_eq!(paused["meeting"]["paused"]["by"], "the command line", "{paused}");
    assert_eq!(json_of(&["standup", "resume"]).await["meeting"]["paused"], Value::Null);
    assert_eq!(json_of(&["standup", "skip", "vince"]).await["skipped"], serde_json::json!({ "persona": "vince" }));
    let refused = run(&team, &["standup", "start", "--channel", "knowledge", "--json"]).await;
    let told: Value = serde_json::from_str(&stdout(&refused)).expect("JSON");
    assert_eq!((refused.status.code(), &told["error"], &told["meeting"]["state"]), (Some(2), &true.into(), &"running".into()), "{told}");
    assert_eq!(say(&team, &["standup", "cancel"]).await, "The standup is cancelled.\n");
    let ended = again.wait_with_output().await.expect("it ends");
    assert_eq!(ended.status.code(), Some(1));
    assert!(stderr(&ended).contains("the standup was cancelled: the command line cancelled it"), "{}", stderr(&ended));
    assert!(stdout(&ended).contains("Echo\n"), "{}", stdout(&ended));
    let is_told = || async { team.answers("knowledge").await.iter().any(|answer| answer.text.contains("cancelled at the command line")) };
    eventually("the channel is told", is_told).await;

    let wrapped = command(&team, "1m", &["standup", "run"]).spawn().expect("the binary starts");
    wait_until_shown(&team, "To come: Eliza").await;
    assert!(say(&team, &["standup", "wrap"]).await.contains("The Day Report is next"));
    let ended = wrapped.wait_with_output().await.expect("it ends");
    assert!(ended.status.success() && stdout(&ended).contains("Solus\n(skipped: the meeting was wrapped up)"), "{}", stdout(&ended));
}
