//! A second process on one PostgreSQL database: it shares the work, and takes over when the first one dies.
//!
//! Only one process serves, because an identity can be online only once: it hears the channels and posts the outbox. All jobs are shared, and
//! the second process fires the schedule when the first is too busy or dead. SQLite allows no takeover from another machine, so a second
//! process there is an error.

use std::sync::Arc;
use std::time::Duration;

use secrecy::ExposeSecret;
use tokio_util::task::TaskTracker;

use crate::app::elsewhere::Elsewhere;
use crate::app::shutdown::Shutdown;
use crate::app::team::{Team, TeamDeps};
use crate::app::{App, Setting, TeamAgents, shutdown};
use crate::store::Store;
use kernel::commands::Services;
use kernel::db::StoreError;

/// Interval between two attempts to take over. The database releases the lock of a killed process at once, and of a silent one after 15 s. Including
/// its start, the standby replaces either within 30 s (OPS-3).
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

/// The jobs and the schedule, beside a serving process.
struct Watch {
    store: Store,
    services: Services,
    tasks: TaskTracker,
    shutdown: Shutdown,
}

impl Watch {
    async fn begin(setting: &Setting) -> anyhow::Result<Self> {
        let Setting { config, roster, clock } = setting.clone();
        let (roster, store) =
            (Arc::new(roster.in_zone(config.schedules.zone)), Store::open_shared(&config.database_url, clock.now()).await?);
        let (tasks, shutdown) = (TaskTracker::new(), Shutdown::default());
        let services = Services::new("This process takes no commands.");
        let TeamAgents { agents, workspaces, faults, .. } = super::agents(&config, &roster, &store, &clock, &services)?;
        for fault in &faults {
            tracing::error!("{fault}");
        }
        let team = Team::new(TeamDeps {
            config,
            roster,
            store: store.clone(),
            agents,
            workspaces,
            faults,
            services: services.clone(),
            platform: Arc::new(Elsewhere),
            kanban: None,
            serves: false,
            clock,
            tasks: tasks.clone(),
            shutdown: shutdown.clone(),
        })
        .await?;
        team.start()?;
        Ok(Self { store, services, tasks, shutdown })
    }

    async fn end(self) {
        self.shutdown.stop.cancel();
        // Work in progress is released. The next process that claims it continues the same run.
        self.shutdown.kill.cancel();
        self.tasks.close();
        self.tasks.wait().await;
        // The services know the team, which knows them.
        self.services.clear();
        self.store.close().await;
    }
}
