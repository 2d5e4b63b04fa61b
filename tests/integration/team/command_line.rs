//! Commands at the command line, each in a separate process.

use std::path::Path;
use std::process::Command;

use kernel::agent::halts::HaltScope;
use kernel::chat::message::{Channel, Place};
use kernel::chat::store::ChannelSeen;
use kernel::time::{Clock, SystemClock};
use secrecy::ExposeSecret;
use serde_json::{Value, json};
use teamroom::store::Store;

use crate::support::team::{Backing, TestTeam, Wanted, eventually, on_one_store};

on_one_store!(a_team_that_runs_obeys_the_command_line, commands_tell_programs_what_they_tell_people, shells_complete_names_and_ids,);

fn channel(id: &str, name: &str, place: Place) -> Channel {
    Channel { id: id.into(), name: name.into(), place, private: false, shared: false }
}

/// The output of `teamroom` in a directory, or its error.
fn teamroom(dir: &Path, database: Option<&str>, args: &[&str]) -> Result<String, String> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_teamroom"));
    command.args(args).current_dir(dir).env_clear();
    if let Some(database) = database {
        command.env("DATABASE_URL", database);
    }
    let output = command.output().expect("the binary runs");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
    if output.status.success() { Ok(text(&output.stdout)) } else { Err(format!("{}{}", text(&output.stdout), text(&output.stderr))) }
}

fn beside(team: &TestTeam, args: &[&str]) -> Result<String, String> {
    teamroom(team.dir.path(), Some(team.config.database_url.expose_secret()), args)
}

fn say(team: &TestTeam, args: &[&str]) -> String {
    beside(team, args).unwrap_or_else(|complaint| panic!("{args:?}: {complaint}"))
}

fn json_of(team: &TestTeam, args: &[&str]) -> Value {
    serde_json::from_str(&say(team, &[args, &["--json"]].concat())).expect("JSON")
}

async fn a_team_that_runs_obeys_the_command_line(backing: Backing) {
    let team = Wanted::on(backing).start().await;
    let general = team.channel_id("general");
    let halted = say(&team, &["halt"]);
    assert!(halted.starts_with("You halted the team. We say nothing until `teamroom resume`.\nThe team is running: "), "{halted}");
    eventually("the team is silent", || async { team.app().is_halted_in(&general) }).await;
    assert_eq!(json_of(&team, &["status"])["halted"], json!(true));
    assert_eq!(say(&team, &["resume"]), "You let us speak again.");
    eventually("the team may speak", || async { !team.app().is_halted_in(&general) }).await;

    assert_eq!(say(&team, &["team", "pause", "vince"]), "You paused Vince.");
    let vince = json_of(&team, &["team", "list"]).as_array().unwrap().iter().find(|persona| persona["slug"] == "vince").cloned().unwrap();
    assert_eq!((&vince["name"], &vince["paused"]), (&json!("Vince"), &json!(true)));
    let is_paused = || async {
        team.say("general", "vince, hello").await;
        team.settle().await;
        team.answers("general").await.last().is_some_and(|answer| answer.text.contains("paused"))
    };
    eventually("Vince is paused", is_paused).await;
    assert_eq!(say(&team, &["team", "resume", "vince"]), "Vince is back.");
    let paused = json_of(&team, &["team", "pause", "vince"]);
    assert_eq!(paused, json!({ "persona": "vince", "paused": true }));
    let resumed = json!({ "persona": "vince", "paused": false, "was_paused": true });
    assert_eq!(json_of(&team, &["team", "resume", "vince"]), resumed);
    assert_eq!(json_of(&team, &["halt"]), json!({ "halted": true, "served": true }));
    assert_eq!(json_of(&team, &["resume"]), json!({ "halted": false }));
}

async fn commands_tell_programs_what_they_tell_people(backing: Backing) {
    let team = Wanted::on(backing).without_app().start().await;
    assert!(say(&team, &["team", "list"]).contains("- Kelly, coordinator"));
    assert_eq!(json_of(&team, &["team", "show", "vince"])["slug"], "vince");
    assert!(say(&team, &["skills"]).contains("- Small tested changes (Sentinel): Read before you write"), "{}", say(&team, &["skills"]));
    let skills = json_of(&team, &["skills"]);
    let sources = skills.as_array().unwrap().iter().find(|skill| skill["slug"] == "comparing-sources").unwrap();
    assert_eq!((&sources["kinds"], &sources["personas"][0]), (&json!(["research"]), &json!("Echo")));
    assert!(say(&team, &["team", "show", "sentinel"]).contains("Skills: Small tested changes"));
    assert!(say(&team, &["costs"]).contains("$0"));
    assert!(json_of(&team, &["costs", "--since", "month"])["by"]["persona"].is_array());
    assert!(say(&team, &["costs", "--raise", "2.5"]).contains("You raised today's budget by $2.50"));
    assert_eq!(json_of(&team, &["costs", "--raise", "2.5"]), json!({ "raised_by": 2.5, "raised": ["today's budget by $2.50"] }));
    let status = say(&team, &["status"]);
    assert!(status.contains("Spent since 0") && status.contains("No team serves this database"), "{status}");
    assert_eq!(json_of(&team, &["status"])["served"], json!(false));
    assert!(say(&team, &["halt"]).ends_with("No team serves this database: start `teamroom run`, or `teamroom sandbox` for its own."));
    assert_eq!(say(&team, &["resume"]), "You let us speak again.");
    let store = Store::open(&team.config.database_url, SystemClock.now()).await.expect("nobody serves it");
    let general = channel("slack:C7", "general", Place::Server);
    let place = Place::Thread { parent: general.id.clone(), parent_name: "general".into(), owner: None, starter: None };
    for quiet in [channel("slack:C7-1.2", "general", place), general, channel("slack:D1", "", Place::Direct)] {
        store.halt(&HaltScope::Channel(quiet.id.clone()), "ann", SystemClock.now()).await.expect("stored");
        let seen = ChannelSeen { channel: quiet, last_message: "slack:C7-1.2".into(), last_at: SystemClock.now() };
        store.record_channels_seen(&[seen]).await.expect("stored");
    }
    store.close().await;
    let status = say(&team, &["status"]);
    for name in ["a thread in #general", "#general", "a direct conversation"] {
        assert!(status.contains(name), "{status}");
    }
    assert!(!status.contains("C7"), "{status}");

    // Messages name commands as they are typed here. For work that is left to the team, they say when it starts.
    let nowhere = beside(&team, &["board", "create", "Why do we test?", "--channel", "nowhere"]).expect_err("a complaint");
    assert!(nowhere.contains("there is no channel \"nowhere\". Known channels: "), "{nowhere}");
    let called = say(&team, &["board", "create", "Why do we test?", "--channel", "4711"]);
    assert!(called.starts_with("Called: Why do we test?"), "{called}");
    assert!(called.ends_with("No team is running, so this starts once one does: `teamroom run`, or `teamroom sandbox`."), "{called}");
    let unknown = beside(&team, &["board", "status", "--id", "the moon"]).expect_err("a complaint");
    assert!(unknown.contains("there is no board meeting \"the moon\". `teamroom board list` shows them"), "{unknown}");

    let complaint = beside(&team, &["team", "show", "nobody"]).expect_err("a complaint");
    assert!(complaint.starts_with("teamroom: ") && complaint.contains("nobody"), "{complaint}");
    let told: Value = serde_json::from_str(&beside(&team, &["team", "show", "nobody", "--json"]).expect_err("a failure")).expect("JSON");
    assert_eq!(told["error"], json!(true));
    let wrong = beside(&team, &["costs", "--since", "ever"]).expect_err("a complaint");
    assert!(wrong.contains("\"since\" cannot be \"ever\". Choose today, week, month"), "{wrong}");
}

#[test]
fn the_database_of_the_sandbox_is_found() {
    let dir = tempfile::tempdir().expect("a directory");
    let sandbox = dir.path().join(".teamroom/sandbox/teamroom.db");
    std::fs::create_dir_all(sandbox.parent().expect("a folder")).expect("made");
    let url = format!("sqlite:{}", sandbox.display());
    teamroom(dir.path(), Some(&url), &["team", "pause", "vince"]).expect("the sandbox has a database");
    let list = |args: &[&str]| teamroom(dir.path(), None, args).expect("a list");
    assert!(list(&["team", "list"]).contains("(paused)"), "there is no other");
    assert!(!dir.path().join(".teamroom/teamroom.db").exists());
    teamroom(dir.path(), Some("sqlite:.teamroom/teamroom.db"), &["backlog", "add", "Tidy up"]).expect("the team has a database of its own");
    assert!(!list(&["team", "list"]).contains("(paused)"));
    assert!(list(&["team", "list", "--sandbox"]).contains("(paused)"));
}

/// What a shell offers after these words, of which the last one is being typed.
fn complete(dir: &Path, database: Option<&str>, words: &[&str]) -> Vec<String> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_teamroom"));
    command.args(["--", "teamroom"]).args(words).current_dir(dir).env_clear();
    command.env("COMPLETE", "bash").env("_CLAP_IFS", "\n").env("_CLAP_COMPLETE_INDEX", words.len().to_string());
    if let Some(database) = database {
        command.env("DATABASE_URL", database);
    }
    let output = command.output().expect("the binary runs");
    assert!(output.status.success() && output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).lines().map(|line| line.trim().to_owned()).collect()
}

#[test]
fn shells_complete_the_commands_of_the_team() {
    let dir = tempfile::tempdir().expect("a directory");
    for shell in ["bash", "zsh", "fish"] {
        let script = teamroom(dir.path(), None, &["completions", shell]).expect("a script");
        assert!(script.contains("COMPLETE") && script.contains("teamroom"), "{script}");
    }
    for (words, offered) in [
        (&["back"][..], "backlog"),
        (&["backlog", "wa"], "watch"),
        (&["backlog", "watch", "--until"], "--until-idle"),
        (&["costs", "--since", ""], "week"),
        (&["team", "show", "ke"], "kelly"),
    ] {
        let found = complete(dir.path(), None, words);
        assert!(found.iter().any(|word| word == offered), "{words:?}: {found:?}");
    }
    assert!(complete(dir.path(), None, &["backlog", "show", ""]).iter().all(|word| word.starts_with("--")));
    assert_eq!(std::fs::read_dir(dir.path()).expect("the directory").count(), 0, "a look creates nothing");
}

async fn shells_complete_names_and_ids(backing: Backing) {
    let team = Wanted::on(backing).without_app().start().await;
    let item = json_of(&team, &["backlog", "add", "Check the login", "--owner", "vince"])["item"]["id"].as_str().expect("an id").to_owned();
    let short = &item[item.len() - 6..];
    let memory = json_of(&team, &["memory", "teach", "We deploy on Thursdays"])["id"].as_str().expect("an id").to_owned();
    say(&team, &["schedule", "add", "news", "0 9 * * 1-5", "post: Good morning", "--channel", "4711"]);
    let offered = |words: &[&str]| complete(team.dir.path(), Some(team.config.database_url.expose_secret()), words);
    for (words, expected) in [
        (&["backlog", "show", ""][..], short),
        (&["backlog", "show", &short[..3]], short),
        (&["trace", &short[..3]], short),
        (&["backlog", "add", "x", "--needs", ""], short),
        (&["team", "pause", "vi"], "vince"),
        (&["backlog", "list", "--owner", "Vi"], "Vince"),
        (&["memory", "show", ""], &memory),
        (&["schedule", "pause", "ne"], "news"),
        (&["ask", "--persona", "Ke"], "Kelly"),
    ] {
        let found = offered(words);
        assert!(found.iter().any(|word| word == expected), "{words:?}: {found:?}");
    }
    assert!(offered(&["backlog", "show", "zzzzzz"]).is_empty());
}

/// The exit code and the error of a command.
fn fail(dir: &Path, args: &[&str]) -> (Option<i32>, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_teamroom")).args(args).current_dir(dir).env_clear().output().expect("the binary runs");
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

#[test]
fn a_wrong_value_is_told_with_what_is_allowed_also_without_a_database() {
    let dir = tempfile::tempdir().expect("a directory");
    for (args, allowed) in [
        (&["costs", "--since", "ever"][..], "today, week, month"),
        (&["costs", "--raise", "much"], "a number from 0.01 to 1000"),
        (&["backlog", "list", "--limit", "0"], "a whole number from 1 to 100000"),
        (&["report", "show", "someday"], "Write it like 20"),
        (&["completions", "tcsh"], "bash"),
        (&["ask", "--persona", "nobody", "hello"], "The team: "),
        (&["sandbox", "--port", "x"], "invalid digit"),
        (&["sandbox", "--slack", "--terminal"], "Leave out --slack"),
        (&["nonsense"], "unrecognized subcommand"),
    ] {
        let (code, told) = fail(dir.path(), args);
        assert!(code == Some(2) && told.contains(allowed), "{args:?}: {code:?} {told}");
    }
}

#[test]
fn a_sandbox_is_not_deleted_without_a_yes() {
    let dir = tempfile::tempdir().expect("a directory");
    let database = dir.path().join(".teamroom/sandbox/teamroom.db");
    std::fs::create_dir_all(database.parent().expect("a folder")).expect("made");
    std::fs::write(&database, "precious").expect("written");
    let (code, told) = fail(dir.path(), &["sandbox", "--reset"]);
    assert!(code == Some(2) && told.contains("Add --yes to delete everything that was said and done in "), "{code:?} {told}");
    assert_eq!(std::fs::read_to_string(&database).expect("it is there"), "precious");
}
