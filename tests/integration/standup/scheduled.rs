//! The jobs that come with standups, at the command line.

use std::process::Command;

use chrono_tz::Tz;
use secrecy::ExposeSecret;
use teamroom::features;

use crate::support::team::{Backing, TestTeam, Wanted, on_one_store};

on_one_store!(the_jobs_of_standups_are_listed_and_can_be_paused_but_not_removed);

/// The output of `teamroom schedule`, or its error.
fn schedule(team: &TestTeam, args: &[&str]) -> Result<String, String> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_teamroom"));
    command.arg("schedule").args(args).current_dir(team.dir.path()).env_clear();
    let output = command.env("DATABASE_URL", team.config.database_url.expose_secret()).output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
    if output.status.success() { Ok(text(&output.stdout)) } else { Err(text(&output.stderr)) }
}

async fn the_jobs_of_standups_are_listed_and_can_be_paused_but_not_removed(backing: Backing) {
    let team = Wanted::on(backing).configure(|config| config.schedules.jobs = features::actions().built_in(Tz::UTC)).start().await;
    let say = |args: &[&str]| schedule(&team, args).unwrap_or_else(|complaint| panic!("{args:?}: {complaint}"));
    let complain = |args: &[&str]| schedule(&team, args).expect_err("a complaint");
    let list = say(&["list"]);
    assert!(list.contains("standup") && list.contains("Monday to Friday at 09:00, UTC"), "{list}");
    assert!(complain(&["pause", "retro"]).contains("there is no job retro; there are standup, settle-predictions, health"));
    assert!(complain(&["remove", "standup"]).contains("standup is built in and cannot be removed; pause it instead"));
    assert!(complain(&["add", "standup", "0 9 * * *", "health"]).contains("there is a job standup already"));
    say(&["pause", "standup"]);
    assert!(say(&["list"]).contains("paused by"));
}
