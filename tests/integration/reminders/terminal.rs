//! `teamroom remind`, beside a team that runs.

use std::process::Command;

use kernel::time::SystemClock;
use secrecy::ExposeSecret;
use serde_json::Value;

use super::stage::{HERE, quiet, told};
use crate::support::database::execute;
use crate::support::team::{Backing, TestTeam, eventually};

/// The output of `teamroom remind`, or its error.
fn terminal(team: &TestTeam, args: &[&str]) -> Result<String, String> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_teamroom"));
    command.arg("remind").args(args).current_dir(team.dir.path()).env_clear();
    let output = command.env("DATABASE_URL", team.config.database_url.expose_secret()).output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
    if output.status.success() { Ok(text(&output.stdout)) } else { Err(text(&output.stderr)) }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_terminal_sets_reminders_that_a_team_tells() {
    let mut team = quiet(Backing::Sqlite, SystemClock).await;
    team.start_app().await;
    let say = |args: &[&str]| terminal(&team, args).unwrap_or_else(|complaint| panic!("{args:?}: {complaint}"));
    let complain = |args: &[&str]| terminal(&team, args).expect_err("a complaint");
    assert!(say(&["list"]).starts_with("No reminders here."));
    let (general, ann) = (team.channel(HERE), team.sandbox().people()[0].id.clone());
    assert!(complain(&["new", "tomorrow", "call", "--channel", &general]).contains("whom? Add --whom"), "nobody is known yet");
    assert!(complain(&["new", "tomorrow", "call", "--channel", &general, "--whom", "me"]).contains("who is \"me\"?"));
    let set = say(&["new", "tomorrow at 9", "pay the hosting bill", "--whom", &ann, "--channel", &general]);
    assert!(set.starts_with("I'll remind member …") && set.contains(" at 09:00 UTC: pay the hosting bill"), "{set}");
    let listed: Value = serde_json::from_str(&say(&["list", "--json"])).unwrap();
    let id = listed[0]["id"].as_str().unwrap().to_owned();
    assert_eq!((&listed[0]["what"], &listed[0]["whom"]["id"]), (&"pay the hosting bill".into(), &team.person_id(0).as_str().into()));
    assert!(say(&["snooze", &id, "--until", "in 2 hours"]).starts_with("I'll remind member …"));
    execute(&team, "UPDATE jobs SET run_at = '2026-01-01T00:00:00+00:00' WHERE kind = 'reminder'").await;
    execute(&team, "UPDATE reminders SET due = '2026-01-01T00:00:00+00:00'").await;
    let text = told(&team, 1).await.remove(0).text;
    assert!(text.starts_with(&format!("Reminder for <@{ann}>, due on ")) && text.ends_with(": pay the hosting bill"), "{text}");
    assert!(say(&["cancel", &id]).starts_with("Cancelled the reminder for member …"));

    // The only person whom the team knows is the one at the command line.
    team.say(HERE, "good morning").await;
    team.settle().await;
    for whom in [&["--whom", "me"][..], &[]] {
        let set = say(&[&["new", "tomorrow at 9", "water the plants", "--channel", &general], whom].concat());
        assert!(set.starts_with("I'll remind Ann on "), "{set}");
    }

    // What people ask for in a private channel is not told here.
    team.say(HERE, "remind me tomorrow at 9 to rotate the root key").await;
    eventually("it is set", || async { say(&["list"]).contains("rotate the root key") }).await;
    team.settle().await;
    execute(&team, &format!("UPDATE channels SET name = 'ops', private = 1 WHERE id = 'discord:{general}'")).await;
    for listed in [say(&["list"]), say(&["list", "--json"])] {
        assert!(listed.contains("(private, in #ops)") && !listed.contains("root key"), "{listed}");
    }

    assert!(complain(&["new", "tomorrow", "call", "--whom", &ann]).contains("where? Add --channel"));
    assert!(
        complain(&["new", "tomorrow", "call", "--whom", &ann, "--channel", "nowhere"])
            .contains("there is no channel \"nowhere\". Known channels: ")
    );
    assert!(complain(&["cancel", &id]).contains("There is no open reminder"));
}
