//! The schedule on real stores: each job fires once, whatever happens to processes and clocks.

mod carry_out;
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
use kernel::db::StoreError;
use kernel::time::Clock;
use secrecy::SecretString;
use teamroom::features::schedule::action::Action;
use teamroom::features::schedule::model::{ActionKind, Actions, Firing, Job, JobDraft, JobOrigin, MissedRuns};
use teamroom::features::schedule::settings::ScheduleSettings;
use teamroom::features::schedule::{Deps, Schedule};
use teamroom::store::Store;

use crate::support::migrated;
use crate::support::team::Backing;

/// A clock that tests set, also backwards. Nothing sleeps on it.
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

/// A separate database.
struct Place {
    url: SecretString,
    _dir: tempfile::TempDir,
}

impl Place {
    async fn on(backing: Backing) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let url = migrated::on(backing, &dir.path().join("teamroom.db"), "no platform").await;
        Self { url: url.into(), _dir: dir }
    }

    async fn open(&self) -> Store {
        Store::open_shared(&self.url, utc("2026-11-16T00:00:00Z")).await.unwrap()
    }

    /// A schedule with only these jobs, like in a process that has just started.
    async fn schedule(&self, clock: &Wall, jobs: &[Job]) -> Schedule {
        schedule(&self.open().await, clock, jobs)
    }
}

/// A post, a chart, and a cleanup without work.
const KINDS: [ActionKind; 3] = [
    ActionKind { name: "report", noun: "a report", needs_channel: true, may_be_below_a_minute: false, built_in: None },
    ActionKind { name: "chart", noun: "a chart", needs_channel: false, may_be_below_a_minute: true, built_in: None },
    ActionKind { name: TIDY_UP, noun: "a tidy-up", needs_channel: false, may_be_below_a_minute: true, built_in: None },
];
const TIDY_UP: &str = "tidy-up";

struct Sample(ActionKind);

#[async_trait]
impl Action for Sample {
    fn kind(&self) -> ActionKind {
        self.0.clone()
    }

    async fn is_idle(&self, _: DateTime<Utc>) -> Result<bool, StoreError> {
        Ok(self.0.name == TIDY_UP)
    }
}

fn schedule(store: &Store, clock: &Wall, jobs: &[Job]) -> Schedule {
    Schedule::new(Deps {
        actions: KINDS.map(|kind| Arc::new(Sample(kind)) as Arc<dyn Action>).into(),
        settings: ScheduleSettings { zone: Tz::UTC, jobs: jobs.to_vec() },
        coordinator: "kelly".into(),
        store: store.clone(),
        platform: None,
        clock: Arc::new(clock.clone()),
    })
}

/// A draft of a job in a channel.
fn draft(name: &str, cron: &str, action: &str) -> JobDraft {
    JobDraft {
        name: name.into(),
        cron: cron.into(),
        zone: None,
        action: action.into(),
        channel: Some("discord:10".into()),
        missed: None,
        deadline: None,
    }
}

/// A job that posts its name.
pub(crate) fn post(name: &str, cron: &str, missed: MissedRuns) -> Job {
    let job = draft(name, cron, &format!("post: {name}")).into_job(Tz::UTC, &Actions::of(KINDS)).unwrap();
    Job { missed, ..job }
}

fn tidy_up() -> Job {
    let job = draft(TIDY_UP, "*/5 * * * *", TIDY_UP).into_job(Tz::UTC, &Actions::of(KINDS)).unwrap();
    Job { origin: JobOrigin::BuiltIn, ..job }
}

/// All stored firings, earliest first.
pub(crate) async fn firings(store: &Store, job: &Job) -> Vec<Firing> {
    let mut firings = store.list_firings(&job.name, 100_000).await.unwrap();
    firings.reverse();
    firings
}

/// The number of unsent messages.
async fn posts(store: &Store) -> u64 {
    store.outbox_depth(utc("2026-11-16T00:00:00Z")).await.unwrap().0
}
