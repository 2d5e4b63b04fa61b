//! Builds the team out of its parts, starts it, waits, and stops it. The only place that names concrete adapters.

mod parts;
mod ports;
mod sources;
mod standby;
mod team_feeds;
mod tools;

use std::net::SocketAddr;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use tokio::sync::{Notify, mpsc};
use tokio_util::task::TaskTracker;

use crate::chat::{ChatPlatform, IdentityState, PlatformEvent};
use crate::clock::SharedClock;
use crate::config::Config;
use crate::conversation::{Conversation, Parts};
use crate::discord::Discord;
use crate::domain::ids::{ChannelId, PersonaSlug};
use crate::domain::roster::Roster;
use crate::meeting::{self, Meetings};
use crate::outbox::Relay;
use crate::schedule::{self, Schedule, ScheduleDesk};
use crate::shutdown::{self, Shutdown};
use crate::store::Store;
use crate::work::{self, Work};
use crate::{http, telemetry};
pub(crate) use parts::redactor;
use parts::{backlog_desk, connect, known_accounts, work_parts};
pub use parts::{people, performer, terms};
use ports::{Memory, Reception};
pub use standby::start_or_stand_by;
pub use team_feeds::TeamFeeds;

/// Events that may wait between the identities' threads and the intake. A full queue slows the gateways' readers down, which Discord bears.
const EVENTS: usize = 1024;

/// What a team is started with.
#[derive(Clone)]
pub struct Setting {
    pub config: Config,
    pub roster: Roster,
    pub clock: SharedClock,
}

/// A running team.
pub struct App {
    store: Store,
    platform: Arc<Discord>,
    relay: Relay,
    conversation: Conversation,
    tasks: TaskTracker,
    shutdown: Shutdown,
    /// Where health and metrics are served.
    pub http: Option<SocketAddr>,
}

impl App {
    /// Opens the store, connects the identities and takes up what an earlier process left.
    ///
    /// # Errors
    /// Everything that keeps the whole team from working; the trouble of one identity does not.
    pub async fn start(setting: Setting) -> anyhow::Result<Self> {
        // On the heap: it holds every part of the team at once, and whoever starts one would hold it too.
        Box::pin(Self::assemble(setting)).await
    }

    async fn assemble(setting: Setting) -> anyhow::Result<Self> {
        // First what may be taken by another process, before anybody logs in; the store before the port, since who has it may be waited for.
        let store = Store::open(&setting.config.database_url, setting.clock.now()).await?;
        let opened = Opened { store, platform: OnceLock::new(), tasks: TaskTracker::new(), shutdown: Shutdown::default() };
        let started = Self::start_on(&opened, setting).await;
        if started.is_err() {
            opened.close().await;
        }
        started
    }

    async fn start_on(opened: &Opened, setting: Setting) -> anyhow::Result<Self> {
        let Opened { store, tasks, shutdown, .. } = opened;
        let (store, tasks, shutdown) = (store.clone(), tasks.clone(), shutdown.clone());
        let Setting { config, roster, clock } = setting;
        let roster = Arc::new(roster);
        let listener = match config.server.listen {
            Some(listen) => Some(http::bind(listen).await?),
            None => None,
        };
        let metrics = telemetry::start_metrics();

        let (performer, budget_low) = performer(&config, &roster, &store, &clock)?;
        if !performer.models.is_offline() {
            performer.readings.warm();
        }
        let (events, inbox) = mpsc::channel(EVENTS);
        let reception = Arc::new(Reception::default());
        let known_accounts = known_accounts(&store).await?;
        let memory = Memory { store: store.clone(), clock: clock.clone() };
        let platform = connect(&config, &roster, &known_accounts, events, reception.clone(), memory).await?;
        let platform = opened.platform.get_or_init(|| platform).clone();
        let port: Arc<dyn ChatPlatform> = platform.clone();
        let relay = Relay::start(store.clone(), port.clone(), redactor(&config), clock.clone(), tasks.clone(), shutdown.stop.clone());
        let standup = terms(&config, &roster);
        let called = Arc::new(Notify::new());
        let schedule = Schedule::new(schedule::Parts {
            settings: config.schedules.clone(),
            coordinator: roster.coordinator().slug.clone(),
            standup: standup.clone(),
            store: store.clone(),
            platform: Some(port.clone()),
            clock: clock.clone(),
            wake: called.clone(),
        });
        let performer = Arc::new(performer);
        let work = work::Parts {
            relay: Some(relay.clone()),
            tasks: tasks.clone(),
            stop: shutdown.stop.clone(),
            kill: shutdown.kill.clone(),
            ..work_parts(&config, &roster, &store, &performer, &clock)?
        };
        let meetings = Meetings::new(meeting::Parts {
            roster: roster.clone(),
            standup: config.standup.clone(),
            terms: standup.clone(),
            reports: config.data.join("reports"),
            store: store.clone(),
            platform: port.clone(),
            relay: relay.clone(),
            performer: performer.clone(),
            clock: clock.clone(),
            tasks: tasks.clone(),
            called: called.clone(),
            backlog: work.wake.clone(),
            stop: shutdown.stop.clone(),
            kill: shutdown.kill.clone(),
        });
        let backlog = backlog_desk(&config, &work);
        let work = Work::new(work);
        let members = roster.clone();
        let conversation = Conversation::new(
            Parts {
                roster,
                chat: config.chat.clone(),
                guard: config.guard.clone(),
                ops_channel: config.discord.ops_channel.clone().unwrap_or_else(|| "ops".into()),
                store: store.clone(),
                platform: port.clone(),
                relay: relay.clone(),
                schedule: ScheduleDesk::new(schedule.clone()),
                standups: meetings.desk(),
                work: backlog,
                meetings: called,
                standup,
                performer,
                clock: clock.clone(),
                tasks: tasks.clone(),
                stop: shutdown.stop.clone(),
                kill: shutdown.kill.clone(),
            },
            known_accounts,
        )
        .await?;
        reception.open(Arc::new(conversation.clone()));
        conversation.recover().await?;
        meetings.start();
        work.start();
        schedule.start(&tasks, shutdown.stop.clone());
        tasks.spawn(take_events(conversation.clone(), inbox, budget_low, shutdown.clone()));

        let (team, settings, ears) = (config.team.clone(), config.server.clone(), conversation.clone());
        let is_listening = Arc::new(move || ears.is_listening());
        let shown = http::Shown { team, settings, roster: members, store: store.clone(), platform: port, is_listening, metrics, clock };
        let http = listener.map(|listener| http::serve(listener, shown, shutdown.stop.clone())).transpose()?;
        Ok(Self { store, platform, relay, conversation, tasks, shutdown, http })
    }

    /// Waits until every identity is online or given up on, and the team is listening.
    ///
    /// # Errors
    /// Names those that are still missing after `limit`.
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

    /// True when no turn is open, no message undecided, no ask awaited and nothing left to send.
    pub async fn is_idle(&self) -> anyhow::Result<bool> {
        Ok(self.store.count_open_work().await? == 0)
    }

    /// Whether agents are to be silent in a channel.
    pub fn is_halted_in(&self, channel: &ChannelId) -> bool {
        self.conversation.is_halted_in(channel)
    }

    /// Ends the team: no new turns, running ones get their time, the outbox is drained, identities are closed.
    pub async fn stop(self) {
        self.stop_within(shutdown::GRACE).await;
    }

    /// The same with another time for running turns.
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
        self.store.close().await;
        tracing::info!("stopped");
    }

    /// Runs until the operator's signal, or until the store is no longer ours. Says once whether everybody came online within `patience`.
    ///
    /// # Errors
    /// The store was lost to another process.
    pub async fn run(self, patience: Duration) -> anyhow::Result<()> {
        let report = async {
            match self.ready(patience).await {
                Ok(()) => tracing::info!("every identity is online"),
                Err(missing) => tracing::warn!(%missing, "the others work"),
            }
            std::future::pending::<()>().await;
        };
        let lost = tokio::select! {
            () = shutdown::signalled() => false,
            () = self.store.lost_leadership() => true,
            () = report => false,
        };
        if lost {
            // Another process may serve already; what runs here is void.
            self.shutdown.kill.cancel();
        }
        // Whoever asks twice is in a hurry.
        let kill = self.shutdown.kill.clone();
        tokio::spawn(async move {
            shutdown::signalled().await;
            kill.cancel();
        });
        self.stop().await;
        anyhow::ensure!(!lost, "the database let go of our lock, so another process may be serving now; stopped to answer nothing twice");
        Ok(())
    }
}

/// What a start that fails closes again. Tasks that run by then hold the store, which left open would keep its lock: the next attempt of this very
/// process would wait for itself.
struct Opened {
    store: Store,
    /// Set once it is connected.
    platform: OnceLock<Arc<Discord>>,
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
    mut inbox: mpsc::Receiver<PlatformEvent>,
    mut budget_low: mpsc::Receiver<String>,
    shutdown: Shutdown,
) {
    loop {
        tokio::select! {
            () = shutdown.stop.cancelled() => return,
            Some(warning) = budget_low.recv() => conversation.tell_operators_soon(warning.clone(), warning),
            event = inbox.recv() => match event {
                Some(event) => conversation.on_event(event).await,
                None => return,
            }
        }
    }
}
