//! One connection to the gateway: a thread, its runtime, and serenity in it.
//!
//! serenity 0.12.5 can spin on a dead socket for as long as a heartbeat takes, or wait for ever for an upgrade that is never answered.
//! On a thread and a runtime of its own it starves nobody, and whatever state it is in goes away with the runtime. Its shard manager is
//! used without its `Client`, which would fall back to Discord's own gateway when the configured one does not answer.

use std::sync::{Arc, OnceLock};

use futures_util::StreamExt;
use serenity::all::{Framework, GatewayIntents, Http, ShardId, ShardManager, ShardManagerOptions};
use serenity::gateway::GatewayError;
use tokio::sync::{Mutex, Notify, RwLock, oneshot};

use crate::adapters::discord::commands::Interactions;
use crate::adapters::discord::gateway::{Gateway, Hub};
use crate::adapters::discord::identity::turnstile::Turnstile;
use crate::adapters::discord::identity::{Identity, News};

/// What the team wants to hear. Presences and members are privileged and not needed; reading messages is what the team is for.
const INTENTS: GatewayIntents = GatewayIntents::GUILDS
    .union(GatewayIntents::GUILD_MESSAGES)
    .union(GatewayIntents::DIRECT_MESSAGES)
    .union(GatewayIntents::MESSAGE_CONTENT);

/// How a session is ended from outside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Farewell {
    /// With a close frame, so that the account shows as offline at once.
    Close,
    /// Without waiting for a connection that does not answer.
    Abandon,
}

/// A session that ended by itself.
#[derive(Debug)]
pub(super) enum Ending {
    /// Discord does not let this account in.
    Refused(GatewayError),
    /// The thread went away; a panic in it, if nothing else.
    Gone,
}

/// What each session of an identity is made of.
pub(crate) struct SessionParts {
    pub(crate) gateway_url: String,
    pub(crate) http: Arc<Http>,
    pub(crate) hub: Arc<Hub>,
    pub(crate) interactions: Arc<Interactions>,
}

/// A running session.
pub(super) struct Session {
    pub(super) manager: Arc<ShardManager>,
    /// Told to turn, it lets serenity dial anew.
    pub(super) turnstile: Arc<Notify>,
    farewell: Option<oneshot::Sender<Farewell>>,
    ended: oneshot::Receiver<Ending>,
}

impl Session {
    /// Starts a thread that dials the gateway.
    pub(super) async fn open(identity: &Arc<Identity>, parts: &SessionParts) -> anyhow::Result<Self> {
        let (farewell, told) = oneshot::channel();
        let (started, start) = oneshot::channel();
        let (end, ended) = oneshot::channel();
        let thread = SessionThread {
            identity: Arc::clone(identity),
            gateway_url: parts.gateway_url.clone(),
            http: Arc::clone(&parts.http),
            hub: Arc::clone(&parts.hub),
            interactions: Arc::clone(&parts.interactions),
        };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        std::thread::Builder::new().name(format!("discord-{}", identity.persona)).spawn(move || {
            let ending = runtime.block_on(thread.run(started, told));
            runtime.shutdown_background();
            // Nobody waits for the end of an abandoned session.
            let _ = end.send(ending);
        })?;
        let (manager, turnstile) = start.await?;
        Ok(Self { manager, turnstile, farewell: Some(farewell), ended })
    }

    /// Waits until the session ends by itself.
    pub(super) async fn ended(&mut self) -> Ending {
        (&mut self.ended).await.unwrap_or(Ending::Gone)
    }

    /// Ends the session. A thread that spins hears of it when its next heartbeat is due.
    pub(super) async fn leave(mut self, farewell: Farewell) {
        let Some(told) = self.farewell.take() else { return };
        if told.send(farewell).is_ok() && farewell == Farewell::Close {
            self.ended().await;
        }
    }
}

/// What the thread of a session needs.
struct SessionThread {
    identity: Arc<Identity>,
    gateway_url: String,
    http: Arc<Http>,
    hub: Arc<Hub>,
    interactions: Arc<Interactions>,
}

impl SessionThread {
    async fn run(self, started: oneshot::Sender<(Arc<ShardManager>, Arc<Notify>)>, told: oneshot::Receiver<Farewell>) -> Ending {
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
        // The cell was made above and is empty.
        let _ = framework.set(Arc::new(gateway));
        if let Err(error) = manager.initialize() {
            tracing::error!(%error, "a gateway session could not be started");
            return Ending::Gone;
        }
        // Behind the first dial, which is in this thread's queue by now.
        let turn = Arc::new(Notify::new());
        tokio::spawn(Turnstile::new(address).attend(Arc::clone(&turn), move || identity.note(News::Dialled)));
        let _ = started.send((Arc::clone(&manager), turn));
        tokio::select! {
            outcome = returned.next() => match outcome {
                Some(Err(error)) => Ending::Refused(error),
                Some(Ok(())) | None => Ending::Gone,
            },
            farewell = told => {
                if farewell == Ok(Farewell::Close) {
                    manager.shutdown(ShardId(0), 1000).await;
                }
                Ending::Gone
            }
        }
    }
}
