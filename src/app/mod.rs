//! Builds the team from its components, starts it, waits, and stops it. The only place that names concrete adapters.

mod beside;
mod deps;
mod elsewhere;
mod local_tools;
pub mod personal;
mod ports;
mod reload;
mod retention;
pub mod shutdown;
mod sources;
mod standby;
mod team;
mod team_feeds;
pub mod telemetry;
mod tools;

use std::net::SocketAddr;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::sync::mpsc;
use tokio_util::task::{AbortOnDropHandle, TaskTracker};

use crate::adapters::http;
use crate::app::shutdown::Shutdown;
use crate::config::{Config, PLATFORM};
use crate::features::chat::Conversation;
use crate::features::chat::commands::authorizer;
use crate::features::{self};
use crate::store::Store;
pub use beside::{Beside, beside, beside_on};
use deps::connect;
pub(crate) use deps::redactor;
pub use deps::{Connect, Connection, TeamAgents, agents, people, provide, slack_manifest, workspaces};
use kernel::chat::outbox::Relay;
use kernel::chat::{ChatPlatform, IdentityState, PlatformEvent};
use kernel::commands::{Registry, Services};
use kernel::ids::{ChannelId, PersonaSlug};
use kernel::persona::roster::Roster;
use kernel::time::SharedClock;
pub use local_tools::{LocalDeps, local_tools};
pub use reload::{Reload, Reloaded};
pub use retention::retention_rules;
pub use standby::start_or_stand_by;
use team::{Team, TeamDeps};
pub use team_feeds::TeamFeeds;

/// Capacity of the queue between the identities' threads and the intake. A full queue slows the gateway readers down, which Discord tolerates.
const EVENTS: usize = 1024;

/// The input for starting a team.
#[derive(Clone)]
pub struct Setting {
    pub config: Config,
    pub roster: Roster,
    pub clock: SharedClock,
}

/// A running team.
pub struct App {
    store: Store,
    platform: Arc<dyn ChatPlatform>,
    relay: Relay,
    conversation: Conversation,
    services: Services,
    /// Listeners and jobs only refer to it.
    _commands: Arc<Registry>,
    tasks: TaskTracker,
    shutdown: Shutdown,
    /// Entries of persona files that are not used: each with the file, the line and the reason.
    faults: Vec<String>,
    /// The address of health and metrics.
    pub http: Option<SocketAddr>,
}

impl App {
    /// Opens the database, connects the identities and resumes the work of an earlier process.
    ///
    /// # Errors
    /// Any error that affects the whole team. Errors of one identity are not returned.
    pub async fn start(setting: Setting) -> anyhow::Result<Self> {
        Self::start_on(setting, Box::new(|connection| Box::pin(connect(connection)))).await
    }

    /// Like [`Self::start`], on another platform than Discord.
    ///
    /// # Errors
    /// Any error that affects the whole team.
    pub async fn start_on(setting: Setting, connect: Connect) -> anyhow::Result<Self> {
        // Boxed, because the future holds every component of the team and is large.
        Box::pin(Self::assemble(setting, connect)).await
    }

    async fn assemble(setting: Setting, connect: Connect) -> anyhow::Result<Self> {
        // First the resources that another process may hold, before any login. The database comes before the port, because a standby waits for the
        // database.
        let store = Store::open(&setting.config.database_url, setting.clock.now()).await?;
        let opened = Opened { store, platform: OnceLock::new(), tasks: TaskTracker::new(), shutdown: Shutdown::default() };
        let started = Box::pin(Self::start_with(&opened, setting, connect)).await;
        if started.is_err() {
            opened.close().await;
        }
        started
    }

    async fn start_with(opened: &Opened, setting: Setting, connect: Connect) -> anyhow::Result<Self> {
        let Opened { store, tasks, shutdown, .. } = opened;
        let (store, tasks, shutdown) = (store.clone(), tasks.clone(), shutdown.clone());
        let Setting { config, roster, clock } = setting;
        let roster = Arc::new(roster.in_zone(config.schedules.zone));
        let listener = match config.server.listen {
            Some(listen) => Some(http::bind(listen).await?),
            None => None,
        };
        let bound = listener.as_ref().map(TcpListener::local_addr).transpose()?;
        let kanban = bound.and_then(|bound| config.server.kanban_url(bound));
        store.record_kanban_page(bound.zip(kanban.as_deref())).await?;
        let metrics = telemetry::start_metrics();

        let services = Services::new("We are just starting. Please try again in a moment.");
        let TeamAgents { agents, budget_low, workspaces, faults } = agents(&config, &roster, &store, &clock, &services)?;
        for fault in &faults {
            tracing::error!("{fault}");
        }
        // Those of files were told when the files were read.
        let faults: Vec<String> = roster.faults().iter().cloned().chain(faults).collect();
        if !agents.is_offline() {
            agents.readings.warm();
        }
        if let Some(unpriced) = agents.describe_unpriced() {
            tracing::warn!("{unpriced}");
        }
        let (events, inbox) = mpsc::channel(EVENTS);
        // Discord gets the commands while the team is still starting.
        let commands = Arc::new(features::registry(PLATFORM, &services, authorizer(config.chat.clone(), &services)));
        services.provide(Arc::new(Arc::downgrade(&commands)));
        let platform = connect(Connection {
            config: config.clone(),
            roster: roster.clone(),
            known_accounts: store.read_accounts().await?,
            events,
            commands: commands.clone(),
            store: store.clone(),
            clock: clock.clone(),
        })
        .await?;
        let platform = opened.platform.get_or_init(|| platform).clone();
        let relay =
            Relay::start(store.database(), platform.clone(), redactor(&config), clock.clone(), tasks.clone(), shutdown.stop.clone());
        let team = Team::new(TeamDeps {
            config: config.clone(),
            roster: roster.clone(),
            store: store.clone(),
            agents,
            workspaces,
            faults: faults.clone(),
            services: services.clone(),
            platform: platform.clone(),
            kanban,
            serves: true,
            clock: clock.clone(),
            tasks: tasks.clone(),
            shutdown: shutdown.clone(),
        })
        .await?;
        team.recover().await?;
        team.start()?;
        let conversation = team.conversation;
        tasks.spawn(take_events(conversation.clone(), relay.clone(), inbox, budget_low, shutdown.clone()));

        let (team, settings, ears) = (config.team.clone(), config.server.clone(), conversation.clone());
        let zone = config.schedules.zone;
        let is_listening = Arc::new(move || ears.is_listening());
        let shown = http::Shown {
            team,
            settings,
            roster,
            store: store.clone(),
            zone,
            platform: platform.clone(),
            is_listening,
            metrics,
            commands: commands.clone(),
            budgets: config.budgets.clone(),
            clock,
        };
        let http = listener.map(|listener| http::serve(listener, shown, shutdown.stop.clone())).transpose()?;
        Ok(Self { store, platform, relay, conversation, services, _commands: commands, tasks, shutdown, faults, http })
    }

    /// Waits until every identity is online or has failed for good, and the team is listening.
    ///
    /// # Errors
    /// Names the identities that are missing after `limit`.
    pub async fn ready(&self, limit: Duration) -> anyhow::Result<()> {
        let missing = || -> Vec<PersonaSlug> {
            let waiting = |state| matches!(state, IdentityState::Connecting | IdentityState::Reconnecting);
            self.platform.identities().into_iter().filter(|identity| waiting(identity.state)).map(|identity| identity.persona).collect()
        };
        let all_online = async {
            while !missing().is_empty() || !self.conversation.is_listening() {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        tokio::time::timeout(limit, all_online).await.map_err(|_| {
            let names: Vec<_> = missing().iter().map(ToString::to_string).collect();
            anyhow::anyhow!("not online within {} s: {}", limit.as_secs(), names.join(", "))
        })
    }

    /// The identities that were given up, with the reason.
    fn list_missing(&self) -> Vec<String> {
        let down = self.platform.identities().into_iter().filter(|identity| identity.state == IdentityState::Down);
        down.map(|identity| match identity.trouble {
            Some(trouble) => format!("{} ({trouble})", identity.persona),
            None => identity.persona.to_string(),
        })
        .collect()
    }

    /// True without open turns, undecided messages, open asks and unsent messages.
    pub async fn is_idle(&self) -> anyhow::Result<bool> {
        Ok(self.store.count_open_work().await? == 0)
    }

    /// Whether agents are halted in a channel.
    pub fn is_halted_in(&self, channel: &ChannelId) -> bool {
        self.conversation.is_halted_in(channel)
    }

    /// Stops the team: no new turns start, running ones get a grace period, the outbox is drained, identities are closed.
    pub async fn stop(self) {
        self.stop_within(shutdown::GRACE).await;
    }

    /// Like [`Self::stop`], with another grace period.
    pub async fn stop_within(self, grace: Duration) {
        tracing::info!("stopping");
        self.shutdown.stop.cancel();
        self.tasks.close();
        if tokio::time::timeout(grace, self.tasks.wait()).await.is_err() {
            tracing::warn!("turns were still running; they go on after the next start");
        }
        self.shutdown.kill.cancel();
        let _ = tokio::time::timeout(Duration::from_secs(2), self.tasks.wait()).await;
        self.relay.drained(Duration::from_secs(5)).await;
        self.platform.shutdown().await;
        self.services.clear();
        if let Err(error) = self.store.record_kanban_page(None).await {
            tracing::debug!(%error, "that the kanban page is gone was not stored");
        }
        self.store.close().await;
        tracing::info!("stopped");
    }

    /// Runs until the operator's signal, until the database lock is lost, or until there are new settings, which it returns. Logs once whether all
    /// identities came online within `patience`.
    ///
    /// # Errors
    /// Another process took the database.
    pub async fn run(self, patience: Duration, reload: Option<&mut Reload<'_>>) -> anyhow::Result<Option<Reloaded>> {
        let report = async {
            match self.ready(patience).await {
                Ok(()) => match self.list_missing().as_slice() {
                    [] => tracing::info!("every identity is online"),
                    missing => tracing::warn!(missing = missing.join(", "), "not every identity is online; the others work"),
                },
                Err(missing) => tracing::warn!(%missing, "the others work"),
            }
            std::future::pending::<()>().await;
        };
        let changed = async {
            match reload {
                Some(reload) => reload.changed(|text| self.conversation.refuse_change(text)).await,
                None => std::future::pending().await,
            }
        };
        let (mut reloaded, mut lost) = (None, false);
        tokio::select! {
            () = shutdown::signalled() => {}
            () = self.store.lost_leadership() => lost = true,
            () = report => {}
            new = changed => reloaded = Some(new),
        }
        if lost {
            // Another process may already serve, so work is aborted at once.
            self.shutdown.kill.cancel();
        }
        // A second signal ends the team and the process at once.
        let kill = self.shutdown.kill.clone();
        let interrupted = AbortOnDropHandle::new(tokio::spawn(async move {
            shutdown::signalled().await;
            kill.cancel();
        }));
        self.stop().await;
        anyhow::ensure!(!lost, "the database let go of our lock, so another process may be serving now; stopped to answer nothing twice");
        Ok(reloaded.filter(|_| !interrupted.is_finished()))
    }

    /// Posts in the operators' channel. Repetitions of the same text are limited.
    pub fn tell_operators(&self, text: String) {
        self.conversation.tell_operators_soon(text.clone(), text);
    }
}

/// Closes what a failed start has opened. Tasks that already run hold the database. If it stayed open, its lock would block the next attempt of this
/// process.
struct Opened {
    store: Store,
    /// Set once the platform is connected.
    platform: OnceLock<Arc<dyn ChatPlatform>>,
    tasks: TaskTracker,
    shutdown: Shutdown,
}

impl Opened {
    async fn close(&self) {
        self.shutdown.stop.cancel();
        self.shutdown.kill.cancel();
        self.tasks.close();
        let _ = tokio::time::timeout(Duration::from_secs(2), self.tasks.wait()).await;
        if let Some(platform) = self.platform.get() {
            platform.shutdown().await;
        }
        self.store.close().await;
    }
}

async fn take_events(
    conversation: Conversation,
    relay: Relay,
    mut inbox: mpsc::Receiver<PlatformEvent>,
    mut budget_low: mpsc::Receiver<String>,
    shutdown: Shutdown,
) {
    let mut undelivered = relay.undelivered();
    loop {
        tokio::select! {
            () = shutdown.stop.cancelled() => return,
            // Reports that came too fast are only in the log.
            Ok(report) = undelivered.recv() => conversation.report_undelivered(report),
            Some(warning) = budget_low.recv() => conversation.tell_operators_soon(warning.clone(), warning),
            event = inbox.recv() => match event {
                Some(PlatformEvent::PermissionsChanged) => relay.permissions_changed(),
                Some(event) => conversation.on_event(event).await,
                None => return,
            }
        }
    }
}
