//! One gateway connection: a thread, its runtime and a serenity shard.
//!
//! serenity 0.12.5 can spin on a dead socket for the length of a heartbeat, or wait for ever for an unanswered upgrade. On a thread and
//! runtime of its own it blocks nobody, and ending the runtime cleans it up. The shard manager is used without serenity's `Client`, which
//! falls back to Discord's own gateway when the configured one does not answer.

use std::sync::{Arc, OnceLock};

use futures_util::StreamExt;
use serenity::all::{Framework, GatewayIntents, Http, ShardId, ShardManager, ShardManagerOptions};
use serenity::gateway::GatewayError;
use tokio::sync::{Mutex, Notify, RwLock, oneshot};

use crate::adapters::discord::commands::Interactions;
use crate::adapters::discord::gateway::{Gateway, Hub};
use crate::adapters::discord::identity::connect_limiter::ConnectLimiter;
use crate::adapters::discord::identity::{Identity, News};

/// Only intents that the team needs. Presences and members are privileged and left out.
const INTENTS: GatewayIntents = GatewayIntents::GUILDS
    .union(GatewayIntents::GUILD_MESSAGES)
    .union(GatewayIntents::GUILD_MESSAGE_REACTIONS)
    .union(GatewayIntents::DIRECT_MESSAGES)
    .union(GatewayIntents::DIRECT_MESSAGE_REACTIONS)
    .union(GatewayIntents::MESSAGE_CONTENT);

/// How to end a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shutdown {
    /// Sends a close frame, so that the account shows as offline at once.
    Close,
    /// Does not wait for a connection that does not answer.
    Abandon,
}

/// Why a session ended.
#[derive(Debug)]
pub(super) enum Ending {
    /// Discord refused the account.
    Refused(GatewayError),
    /// The thread ended, for example by a panic.
    Gone,
}

/// Shared by all sessions of an identity.
pub(crate) struct SessionDeps {
    pub(crate) gateway_url: String,
    pub(crate) http: Arc<Http>,
    pub(crate) hub: Arc<Hub>,
    pub(crate) interactions: Arc<Interactions>,
}

pub(super) struct Session {
    pub(super) manager: Arc<ShardManager>,
    /// Each notification lets serenity connect once more.
    pub(super) connect_permit: Arc<Notify>,
    shutdown: Option<oneshot::Sender<Shutdown>>,
    ended: oneshot::Receiver<Ending>,
}

impl Session {
    /// Starts a thread that connects to the gateway.
    pub(super) async fn open(identity: &Arc<Identity>, deps: &SessionDeps) -> anyhow::Result<Self> {
        let (shutdown, told) = oneshot::channel();
        let (started, start) = oneshot::channel();
        let (end, ended) = oneshot::channel();
        let thread = SessionThread {
            identity: Arc::clone(identity),
            gateway_url: deps.gateway_url.clone(),
            http: Arc::clone(&deps.http),
            hub: Arc::clone(&deps.hub),
            interactions: Arc::clone(&deps.interactions),
        };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        std::thread::Builder::new().name(format!("discord-{}", identity.persona)).spawn(move || {
            let ending = runtime.block_on(thread.run(started, told));
            runtime.shutdown_background();
            // Nobody waits for an abandoned session.
            let _ = end.send(ending);
        })?;
        let (manager, connect_permit) = start.await?;
        Ok(Self { manager, connect_permit, shutdown: Some(shutdown), ended })
    }

    /// Waits until the session ends.
    pub(super) async fn ended(&mut self) -> Ending {
        (&mut self.ended).await.unwrap_or(Ending::Gone)
    }

    /// Ends the session. A spinning thread notices it at its next heartbeat.
    pub(super) async fn leave(mut self, shutdown: Shutdown) {
        let Some(told) = self.shutdown.take() else { return };
        if told.send(shutdown).is_ok() && shutdown == Shutdown::Close {
            self.ended().await;
        }
    }
}

/// The state of a session's thread.
struct SessionThread {
    identity: Arc<Identity>,
    gateway_url: String,
    http: Arc<Http>,
    hub: Arc<Hub>,
    interactions: Arc<Interactions>,
}

impl SessionThread {
    async fn run(self, started: oneshot::Sender<(Arc<ShardManager>, Arc<Notify>)>, told: oneshot::Receiver<Shutdown>) -> Ending {
        let address = Arc::new(Mutex::new(self.gateway_url));
        let framework = Arc::new(OnceLock::<Arc<dyn Framework>>::new());
        let (manager, mut returned) = ShardManager::new(ShardManagerOptions {
            data: Arc::new(RwLock::default()),
            event_handlers: vec![],
            raw_event_handlers: vec![],
            framework: Arc::clone(&framework),
            shard_index: 0,
            shard_init: 1,
            shard_total: 1,
            ws_url: Arc::clone(&address),
            http: self.http,
            intents: INTENTS,
            presence: None,
        });
        let Self { identity, hub, interactions, .. } = self;
        let gateway = Gateway { identity: Arc::clone(&identity), hub, interactions };
        // The cell was created above and is empty.
        let _ = framework.set(Arc::new(gateway));
        if let Err(error) = manager.initialize() {
            tracing::error!(%error, "a gateway session could not be started");
            return Ending::Gone;
        }
        // Spawned after the first connection attempt, so that it runs after it.
        let permit = Arc::new(Notify::new());
        tokio::spawn(ConnectLimiter::new(address).run(Arc::clone(&permit), move || identity.note(News::Dialled)));
        let _ = started.send((Arc::clone(&manager), permit));
        tokio::select! {
            outcome = returned.next() => match outcome {
                Some(Err(error)) => Ending::Refused(error),
                Some(Ok(())) | None => Ending::Gone,
            },
            shutdown = told => {
                if shutdown == Ok(Shutdown::Close) {
                    manager.shutdown(ShardId(0), 1000).await;
                }
                Ending::Gone
            }
        }
    }
}
