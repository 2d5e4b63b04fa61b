//! The jobs that come with standups: the command line changes them, and a pause is not forgotten.

use std::process::Command;
use std::time::Duration;

use chrono_tz::Tz;
use secrecy::ExposeSecret;
use serde_json::json;
use teamroom::features;

use super::checkins::scheduled;
use super::stage::Setting;
use crate::support::team::{Backing, TestTeam, Wanted, eventually, on_one_store};

on_one_store!(the_jobs_of_standups_are_listed_and_can_be_paused_but_not_removed, a_forgotten_pause_is_told_once_where_the_standup_would_be);

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

async fn a_forgotten_pause_is_told_once_where_the_standup_would_be(backing: Backing) {
    let mut stage = scheduled(Setting::on(backing)).await;
    stage.resume_time();
    let option = json!([{"type": 3, "name": "name", "value": "standup"}]);
    assert!(stage.subcommand("schedule", "pause", option.clone()).await.contains("paused the job standup"));
    // Past the standup of this day, and past that of the next one.
    stage.pass(Duration::from_hours(2)).await;
    let told = stage.hears("The job standup is paused, so it did not run on").await;
    assert!(told.text.contains("paused it on") && told.text.contains("`/schedule resume` lets it run again"), "{}", told.text);
    stage.pass(Duration::from_hours(24)).await;
    stage.team.settle().await;
    let times = async || stage.said().await.iter().filter(|shown| shown.text.contains("is paused, so it did not run")).count();
    assert_eq!(times().await, 1);

    // Another pause is told again.
    assert!(stage.subcommand("schedule", "resume", option.clone()).await.contains("resumed the job standup"));
    assert!(stage.subcommand("schedule", "pause", option).await.contains("paused the job standup"));
    stage.pass(Duration::from_hours(24)).await;
    eventually("it is told again", || async { times().await == 2 }).await;
}
