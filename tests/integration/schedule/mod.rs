//! The schedule on real stores: what fires, once, whatever happens to processes and clocks.

mod changes;
mod firing;
mod instants;
mod processes;
mod terminal;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use chrono::{DateTime, TimeDelta, Utc};
use chrono_tz::Tz;
use secrecy::SecretString;
use teamroom::clock::Clock;
use teamroom::config::ScheduleSettings;
use teamroom::domain::meeting::StandupTerms;
use teamroom::domain::schedule::{Firing, Job, JobAction, JobDraft, MissedRuns};
use teamroom::schedule::{Parts, Schedule};
use teamroom::store::Store;
use tokio::sync::Notify;

use crate::support::postgres;
use crate::support::team::Backing;

/// A clock that the test sets, back too. Nobody sleeps by it: the tests look when they want to.
#[derive(Debug, Clone)]
struct Wall(Arc<Mutex<DateTime<Utc>>>);

impl Wall {
    fn at(text: &str) -> Self {
        Self(Arc::new(Mutex::new(utc(text))))
    }

    fn set(&self, text: &str) {
        *self.0.lock().unwrap() = utc(text);
    }

    fn advance(&self, by: TimeDelta) {
        *self.0.lock().unwrap() += by;
    }
}

#[async_trait]
impl Clock for Wall {
    fn now(&self) -> DateTime<Utc> {
        *self.0.lock().unwrap()
    }

    async fn sleep(&self, _duration: Duration) {
        std::future::pending::<()>().await;
    }
}

fn utc(text: &str) -> DateTime<Utc> {
    text.parse().unwrap()
}

/// A database of its own.
struct Place {
    url: SecretString,
    _dir: tempfile::TempDir,
}

impl Place {
    async fn on(backing: Backing) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let url = match backing {
            Backing::Sqlite => format!("sqlite:{}", dir.path().join("teamroom.db").display()),
            Backing::Postgres => postgres::database().await.unwrap(),
        };
        Self { url: url.into(), _dir: dir }
    }

    async fn open(&self) -> Store {
        Store::open_shared(&self.url, utc("2026-11-16T00:00:00Z")).await.unwrap()
    }

    /// A schedule of these jobs alone, as a process has it that just started.
    async fn schedule(&self, clock: &Wall, jobs: &[Job]) -> Schedule {
        schedule(&self.open().await, clock, jobs)
    }
}

fn schedule(store: &Store, clock: &Wall, jobs: &[Job]) -> Schedule {
    Schedule::new(Parts {
        standup: StandupTerms { facilitator: "kelly".into(), zone: Tz::UTC, session: Duration::from_mins(30) },
        settings: ScheduleSettings { zone: Tz::UTC, jobs: jobs.to_vec() },
        coordinator: "kelly".into(),
        store: store.clone(),
        platform: None,
        clock: Arc::new(clock.clone()),
        wake: Arc::new(Notify::new()),
    })
}

/// A draft of a job in channel 10.
fn draft(name: &str, cron: &str, action: &str) -> JobDraft {
    JobDraft {
        name: name.into(),
        cron: cron.into(),
        zone: None,
        action: action.into(),
        channel: Some("10".into()),
        missed: None,
        deadline: None,
    }
}

/// A job that posts its name.
fn post(name: &str, cron: &str, missed: MissedRuns) -> Job {
    let job = draft(name, cron, &format!("post: {name}")).into_job(Tz::UTC).unwrap();
    Job { missed, ..job }
}

fn settle() -> Job {
    Job::built_in(Tz::UTC).into_iter().find(|job| job.action == JobAction::SettlePredictions).unwrap()
}

/// Everything that has a row, the earliest first.
async fn firings(store: &Store, job: &Job) -> Vec<Firing> {
    let mut firings = store.list_firings(&job.name, 100_000).await.unwrap();
    firings.reverse();
    firings
}

/// How many messages wait to be sent.
async fn posts(store: &Store) -> u64 {
    store.outbox_depth(utc("2026-11-16T00:00:00Z")).await.unwrap().0
}
