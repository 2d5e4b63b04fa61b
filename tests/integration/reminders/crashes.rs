//! `kill -9` right before and after a reminder is told, while it is sent to the platform, and at random. Each reminder is told exactly once.

use std::time::Duration;

use chrono::{NaiveDate, NaiveTime, TimeDelta};
use kernel::ids::ReminderId;
use kernel::time::SystemClock;
use kernel::when::{Pattern, Repetition};
use sandbox::{RestFault, Switch};
use secrecy::ExposeSecret;
use teamroom::features::reminders::model::{Person, Reminder, ReminderState};
use teamroom::store::Store;

use super::stage::{HERE, TOLD, quiet, told};
use crate::store::platform_ids::forget_platforms;
use crate::support::database::{allow, count, execute, forbid};
use crate::support::long;
use crate::support::postgres::is_there;
use crate::support::process::TeamProcess;
use crate::support::team::{Backing, TestTeam, eventually, on_both_stores};

on_both_stores!(
    killed_after_it_was_asked_for,
    killed_before_the_telling_is_stored,
    killed_after_the_platform_took_it,
    killed_at_random_moments,
    told_to_the_right_person_by_a_version_whose_ids_say_their_platform,
);

async fn open(team: &TestTeam) -> Store {
    Store::open_shared(&team.config.database_url, team.clock.now()).await.unwrap()
}

/// A reminder for Ann that is due in this many milliseconds.
fn reminder(team: &TestTeam, what: &str, milliseconds: i64) -> Reminder {
    let person = team.sandbox().people().remove(0);
    let ann = Person { id: team.person_id(0), name: person.name };
    Reminder {
        id: ReminderId::generate(),
        what: what.to_owned(),
        by: Some(ann.clone()),
        whom: ann,
        channel: team.channel_id(HERE),
        private: false,
        persona: "kelly".into(),
        due: team.clock.now() + TimeDelta::milliseconds(milliseconds),
        repeat: None,
        zone: chrono_tz::Tz::UTC,
        state: ReminderState::Waiting,
        round: 0,
    }
}

async fn add(team: &TestTeam, reminders: &[Reminder]) {
    let store = open(team).await;
    for reminder in reminders {
        store.add_reminder(reminder, team.clock.now()).await.unwrap();
    }
    store.close().await;
}

/// Waits until this many reminders were told, and a little longer for duplicates.
async fn expect_told(team: &TestTeam, number: usize) {
    eventually("they are told", || async {
        team.answers(HERE).await.iter().filter(|shown| shown.text.starts_with(TOLD)).count() >= number
    })
    .await;
    tokio::time::sleep(Duration::from_millis(700)).await;
    told(team, number).await;
}

/// Makes the first reminder due at once, as if nothing had been tried before. No process runs meanwhile.
async fn hurry(team: &TestTeam) {
    let now = "'2026-01-01T00:00:00+00:00'";
    execute(team, &format!("UPDATE reminders SET due = {now}")).await;
    let reset = "state = 'ready', holder = NULL, attempts = 0, crashes = 0, suspicions = 0";
    execute(team, &format!("UPDATE jobs SET {reset}, run_at = {now} WHERE kind = 'reminder' AND finished_at IS NULL")).await;
}

async fn killed_after_it_was_asked_for(backing: Backing) {
    let team = quiet(backing, SystemClock).await;
    let process = TeamProcess::start(&team, &[]).await;
    team.say(HERE, "remind me in 10 minutes to call").await;
    let stored = async || count(&team, "SELECT COUNT(*) FROM jobs WHERE kind = 'reminder'").await == 1;
    eventually("it is stored with its job", || async { stored().await }).await;
    process.kill();
    hurry(&team).await;
    let _process = TeamProcess::start(&team, &[]).await;
    expect_told(&team, 1).await;
    let confirmed = team.answers(HERE).await.iter().filter(|shown| shown.text.starts_with("I'll remind you")).count();
    assert_eq!(confirmed, 1);
}

async fn told_to_the_right_person_by_a_version_whose_ids_say_their_platform(backing: Backing) {
    let team = quiet(backing, SystemClock).await;
    add(&team, &[reminder(&team, "call", 0)]).await;
    forget_platforms(team.config.database_url.expose_secret()).await;
    let _process = TeamProcess::start(&team, &[]).await;
    expect_told(&team, 1).await;
}

async fn killed_before_the_telling_is_stored(backing: Backing) {
    let team = quiet(backing, SystemClock).await;
    let repeat = Some(Repetition {
        pattern: Pattern::Days(1),
        time: NaiveTime::from_hms_opt(8, 0, 0).expect("a time of day"),
        zone: chrono_tz::Tz::UTC,
        first: NaiveDate::default(),
        until: None,
    });
    add(&team, &[Reminder { repeat, ..reminder(&team, "water the plants", 0) }]).await;
    // Blocks each write of the one transaction, in turn.
    for (change, when) in [
        ("UPDATE ON reminders", "NEW.round = 1"),
        ("INSERT ON jobs", "NEW.kind = 'reminder'"),
        ("INSERT ON outbox", "NEW.message LIKE '%Reminder for%'"),
        ("UPDATE ON jobs", "OLD.kind = 'reminder' AND NEW.state = 'done'"),
    ] {
        forbid(&team, "wall", change, when).await;
        let process = TeamProcess::spawn(&team, &[]);
        let stands = async || count(&team, "SELECT COUNT(*) FROM jobs WHERE kind = 'reminder' AND attempts > 0").await == 1;
        eventually("it stands before the wall", || async { stands().await }).await;
        process.kill();
        allow(&team, "wall").await;
        assert_eq!(count(&team, "SELECT COUNT(*) FROM outbox").await, 0, "{change}");
        hurry(&team).await;
    }
    let process = TeamProcess::start(&team, &[]).await;
    expect_told(&team, 1).await;
    process.kill();
    // After the transaction, the next due time has its job and this job is done.
    assert_eq!(count(&team, "SELECT COUNT(*) FROM jobs WHERE kind = 'reminder' AND state = 'ready'").await, 1);
    assert_eq!(count(&team, "SELECT COUNT(*) FROM reminders WHERE round = 1 AND state = 'waiting'").await, 1);
    let _process = TeamProcess::start(&team, &[]).await;
    expect_told(&team, 1).await;
}

async fn killed_after_the_platform_took_it(backing: Backing) {
    for fault in [RestFault::Status(503), RestFault::ResetAfter] {
        let team = quiet(backing, SystemClock).await;
        let process = TeamProcess::start(&team, &[]).await;
        let path = format!("/channels/{}/messages", team.channel(HERE));
        let switch = Switch::Rest { bot: Some("kelly".into()), method: Some("POST".into()), path, times: u32::MAX, with: fault };
        team.sandbox().misbehaviour().set(switch).expect("a switch");
        add(&team, &[reminder(&team, "call", 0)]).await;
        let tried = async || count(&team, "SELECT COUNT(*) FROM outbox WHERE attempts > 0").await == 1;
        eventually("it is on its way", || async { tried().await }).await;
        process.kill();
        team.sandbox().misbehaviour().set(Switch::Behave).expect("a switch");
        let _process = TeamProcess::start(&team, &[]).await;
        expect_told(&team, 1).await;
    }
}

async fn killed_at_random_moments(backing: Backing) {
    const REMINDERS: usize = 24;
    let team = quiet(backing, SystemClock).await;
    let mut random = long::random();
    for round in 0..3 {
        // The due times are spread around the moment at which the process is ready.
        let process = TeamProcess::start(&team, &[]).await;
        let reminders: Vec<_> = (0..REMINDERS / 3)
            .map(|number| reminder(&team, &format!("task {round}-{number}"), i64::try_from(number).unwrap() * 25))
            .collect();
        add(&team, &reminders).await;
        tokio::time::sleep(Duration::from_millis(random.u64(0..400))).await;
        process.kill();
    }
    let _process = TeamProcess::start(&team, &[]).await;
    expect_told(&team, REMINDERS).await;
    let mut texts: Vec<_> = told(&team, REMINDERS).await.into_iter().map(|shown| shown.text).collect();
    texts.sort();
    texts.dedup();
    assert_eq!(texts.len(), REMINDERS);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_processes_share_reminders_and_tell_each_once_when_the_one_that_serves_is_killed() {
    if !is_there().await {
        return;
    }
    let team = quiet(Backing::Postgres, SystemClock).await;
    let few = [("TEAMROOM_JOBS_PARALLEL", "1")];
    let serving = TeamProcess::start(&team, &few).await;
    let _beside = TeamProcess::spawn(&team, &few);
    let workers = "SELECT COUNT(*) FROM job_workers";
    eventually("the second process works beside the first", || async { count(&team, workers).await == 2 }).await;
    let plants: Vec<_> = (0..12).map(|number| reminder(&team, &format!("water plant {number}"), number * 250)).collect();
    add(&team, &plants).await;
    eventually("some are told", || async { count(&team, "SELECT COUNT(*) FROM reminders WHERE state <> 'waiting'").await >= 4 }).await;
    serving.kill();
    expect_told(&team, plants.len()).await;
}
