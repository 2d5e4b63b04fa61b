//! Several processes on one store, and killed processes.

use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use kernel::llm::settings::ProviderKind;
use kernel::time::Clock;
use teamroom::features::schedule::model::{FiringState, MissedRuns};
use teamroom::store::Store;

use super::{Place, Wall, firings, post, posts, schedule};
use crate::support::database::count;
use crate::support::long;
use crate::support::model::Script;
use crate::support::postgres::is_there;
use crate::support::process::TeamProcess;
use crate::support::team::{Backing, TestTeam, Wanted, eventually, on_both_stores};

on_both_stores!(a_process_killed_at_any_moment_fires_nothing_twice_and_loses_no_post);

/// Two processes with clocks a minute apart, each suspended for minutes in turn.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_processes_with_skewed_clocks_fire_each_instant_once() {
    const STEPS: u32 = 720;
    if !is_there().await {
        return;
    }
    let mut random = long::random();
    let place = Place::on(Backing::Postgres).await;
    let jobs = ["one", "two", "three"].map(|name| post(name, "*/10 * * * * *", MissedRuns::All));
    let (ahead, behind) = (Wall::at("2026-11-20T08:00:30Z"), Wall::at("2026-11-20T07:59:30Z"));
    let first = place.schedule(&ahead, &jobs).await;
    let second = place.schedule(&behind, &jobs).await;
    let begin = ahead.now();
    first.look().await.unwrap();
    second.look().await.unwrap();
    let (mut who, mut rests) = (0, 0);
    for _ in 0..STEPS {
        ahead.advance(TimeDelta::seconds(10));
        behind.advance(TimeDelta::seconds(10));
        if rests == 0 {
            (who, rests) = (random.usize(0..2), random.u32(0..18));
        } else {
            rests -= 1;
        }
        if rests == 0 {
            let (one, other) = tokio::join!(first.look(), second.look());
            one.and(other).unwrap();
        } else {
            [&first, &second][who].look().await.unwrap();
        }
    }
    first.look().await.unwrap();
    second.look().await.unwrap();
    let store = place.open().await;
    let mut fired = 0;
    for job in &jobs {
        let rows: Vec<DateTime<Utc>> = firings(&store, job).await.iter().map(|row| row.instant).collect();
        assert_eq!(rows, job.timetable.instants_between(begin, ahead.now(), usize::MAX), "{}", job.name);
        fired += rows.len() as u64;
    }
    assert_eq!(posts(&store).await, fired, "one post for each row");
    println!("{fired} instants fired once each");
    assert!(fired > 2000, "{fired}");
}

async fn a_process_killed_at_any_moment_fires_nothing_twice_and_loses_no_post(backing: Backing) {
    const ROUNDS: usize = 4;
    let mut random = long::random();
    let team = Wanted::on(backing).model(ProviderKind::OpenAi).without_app().start().await;
    let file = "[schedules.tick]\ncron = \"* * * * * *\"\naction = \"post: tick\"\nchannel = \"general\"\n";
    std::fs::write(team.path("teamroom.toml"), file).unwrap();
    for _ in 0..ROUNDS {
        let process = TeamProcess::start(&team, &[]).await;
        let before = ticks(&team).await;
        eventually("it ticks", || async { ticks(&team).await > before }).await;
        tokio::time::sleep(Duration::from_millis(random.u64(0..1000))).await;
        process.kill();
    }
    let _process = TeamProcess::start(&team, &[]).await;
    let store = Store::open_shared(&team.config.database_url, team.clock.now()).await.unwrap();
    let job = post("tick", "* * * * * *", MissedRuns::Once);
    let before = ticks(&team).await;
    eventually("it ticks", || async { ticks(&team).await > before }).await;
    schedule(&store, &Wall::at("2026-11-20T08:00:00Z"), std::slice::from_ref(&job)).pause("tick", "a test").await.unwrap();
    let done = async || firings(&store, &job).await.iter().filter(|row| row.state == FiringState::Done).count();
    eventually("everything is sent", || async { store.outbox_depth(team.clock.now()).await.unwrap().0 == 0 }).await;
    eventually("each row has one post", || async { ticks(&team).await == done().await }).await;
    tokio::time::sleep(Duration::from_millis(1500)).await;
    assert_eq!(ticks(&team).await, done().await);
    assert!(done().await > ROUNDS);
}

async fn ticks(team: &TestTeam) -> usize {
    team.answers("general").await.iter().filter(|answer| answer.text == "tick").count()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_second_process_on_sqlite_refuses() {
    let team = Wanted::on(Backing::Sqlite).start().await;
    let process = TeamProcess::run_to_end(&team);
    assert!(!process.status.success());
    let said = String::from_utf8_lossy(&process.stderr);
    assert!(said.contains("is in use by"), "{said}");
    team.say("general", "kelly, hello").await;
    team.wait_for_answers("general", 1).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_second_process_on_postgresql_stands_by_and_replaces_the_first_within_thirty_seconds() {
    if !is_there().await {
        return;
    }
    let team = Wanted::on(Backing::Postgres).model(ProviderKind::OpenAi).without_app().start().await;
    team.model.on(|asked| Script::say(format!("answer to {}", asked.last_word())));
    let first = TeamProcess::start(&team, &[]).await;
    let second = TeamProcess::spawn(&team, &[]);
    team.say("general", "vince, report one").await;
    eventually("the first answers", || async { team.answers("general").await.len() == 1 }).await;
    // The schedule's rows show that a standby process runs: it has checked the new jobs, and no port is open.
    let ready = async || reqwest::get(format!("{}/readyz", second.http)).await.is_ok_and(|response| response.status().is_success());
    let both = async || count(&team, "SELECT COUNT(*) FROM job_workers").await == 2;
    eventually("the second stands by", both).await;
    assert!(!ready().await, "two serve");
    first.kill();
    eventually("the second takes over", ready).await;
    team.say("general", "vince, report two").await;
    eventually("the second answers", || async { team.answers("general").await.len() == 2 }).await;
    tokio::time::sleep(Duration::from_millis(500)).await;
    let texts: Vec<_> = team.answers("general").await.into_iter().map(|answer| answer.text).collect();
    assert_eq!(texts, ["answer to one", "answer to two"]);
    assert!(second.terminate(), "it ends as one that served from the beginning");
}
