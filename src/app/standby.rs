//! A second process on one PostgreSQL database: it takes over when the first one dies.
//!
//! Only one process runs the team, because an identity can be online only once. The processes share rows: the standby fires the schedule when the
//! other is too busy or dead, and runs jobs of the backlog. It runs no other jobs, because their handlers post through a relay, which only the process with the identities
//! has. SQLite allows no takeover from another machine, so a second process there is an
//! error.

use std::sync::Arc;
use std::time::Duration;

use secrecy::ExposeSecret;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::app::{AgentParts, App, Setting, retention_rules, shutdown};
use crate::features::backlog::Work;
use crate::features::schedule::Schedule;
use crate::features::{schedule, standup};
use crate::store::Store;
use kernel::db::StoreError;
use kernel::jobs::{Jobs, JobsDeps};

/// Interval between two attempts to take over. The database releases the lock of a killed process at once. Including its start, the standby replaces
/// it well within 30 s (OPS-3).
const EACH: Duration = Duration::from_secs(5);

/// Starts the team, at once or when the serving process has ended. None: a stop was requested while on standby.
///
/// # Errors
/// Any start error, except that another process serves from the same PostgreSQL database.
pub async fn start_or_stand_by(setting: Setting) -> anyhow::Result<Option<App>> {
    let error = match App::start(setting.clone()).await {
        Ok(app) => return Ok(Some(app)),
        Err(error) => error,
    };
    let Some(StoreError::Locked { place, who }) = error.downcast_ref() else { return Err(error) };
    if setting.config.database_url.expose_secret().starts_with("sqlite:") {
        return Err(error);
    }
    tracing::info!("{who} serves from {place}; standing by to take over when it is gone");
    let watch = Watch::begin(&setting).await?;
    let app = tokio::select! {
        () = shutdown::signalled() => Ok(None),
        app = take_over(&setting) => app.map(Some),
    };
    watch.end().await;
    app
}

async fn take_over(setting: &Setting) -> anyhow::Result<App> {
    loop {
        setting.clock.sleep(EACH).await;
        let error = match App::start(setting.clone()).await {
            Ok(app) => {
                tracing::info!("the other process is gone; serving now");
                return Ok(app);
            }
            Err(error) => error,
        };
        match error.downcast_ref::<StoreError>() {
            Some(StoreError::Locked { .. }) => {}
            Some(away) if away.is_retryable() => tracing::warn!(%error, "cannot take over yet"),
            _ => return Err(error),
        }
    }
}

/// The schedule and the backlog beside a serving process.
struct Watch {
    store: Store,
    tasks: TaskTracker,
    stop: CancellationToken,
    kill: CancellationToken,
}

impl Watch {
    async fn begin(setting: &Setting) -> anyhow::Result<Self> {
        let Setting { config, roster, clock } = setting;
        let store = Store::open_shared(&config.database_url, clock.now()).await?;
        let (tasks, stop, kill) = (TaskTracker::new(), CancellationToken::new(), CancellationToken::new());
        let schedule = Schedule::new(schedule::Parts {
            settings: config.schedules.clone(),
            coordinator: roster.coordinator().slug.clone(),
            // Actions become jobs, which the serving process runs.
            actions: standup::actions(super::terms(config, roster), &store, None),
            store: store.clone(),
            platform: None,
            clock: clock.clone(),
        });
        schedule.start(&tasks, stop.clone());
        let roster = Arc::new(roster.clone());
        let AgentParts { agents, workspaces, .. } = super::agents(config, &roster, &store, clock)?;
        let parts = super::work_parts(config, &store, &Arc::new(agents), workspaces, clock);
        let jobs =
            JobsDeps { database: store.database(), clock: clock.clone(), tasks: tasks.clone(), stop: stop.clone(), kill: kill.clone() };
        Jobs::start(jobs, config.jobs, Work::new(parts).job_handlers(), retention_rules(&config.retention));
        Ok(Self { store, tasks, stop, kill })
    }

    async fn end(self) {
        self.stop.cancel();
        // Work in progress is released. The next process that claims it continues the same run.
        self.kill.cancel();
        self.tasks.close();
        self.tasks.wait().await;
        self.store.close().await;
    }
}
