//! What all requests and connections share, and the address space of the one port.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::middleware;
use axum::routing::{any, get};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::faults::Faults;
use super::gateway::{End, Hub};
use super::journal::Journal;
use super::limits::Limits;
use super::options::Options;
use super::snowflake::Snowflake;
use super::state::World;
use super::{cdn, control, gateway, page, rest};

/// State and sessions under one lock, so that events leave in the order of the changes they tell of.
pub(crate) struct Core {
    pub(crate) world: World,
    pub(crate) hub: Hub,
}

impl Core {
    /// Sends the events that changes have queued.
    pub(crate) fn flush(&mut self) {
        for dispatch in std::mem::take(&mut self.world.dispatches) {
            self.hub.publish(&self.world, &dispatch);
        }
    }

    /// Makes an account's token wrong or right again; its connections end.
    pub(crate) fn revoke(&mut self, user: Snowflake, on: bool) {
        if let Some(account) = self.world.accounts.get_mut(user) {
            account.revoked = on;
        }
        if on {
            for link in self.hub.connected().filter(|s| s.user == user).filter_map(|s| s.link.as_ref()) {
                link.end(End::Close(4004, "Authentication failed."));
            }
        }
    }

    /// Forgets messages, threads, webhooks and commands, and tells the clients.
    pub(crate) fn clear(&mut self) {
        self.world.clear();
        self.flush();
    }

    /// Forgets sessions of one bot or of all, so that they cannot be resumed.
    pub(crate) fn forget_sessions(&mut self, bot: Option<&str>) {
        let Self { world, hub } = self;
        let concerned = |user: Snowflake| {
            let slug = world.accounts.get(user).and_then(|account| account.slug.as_deref());
            slug.is_some() && (bot.is_none() || bot == slug)
        };
        let ids: Vec<String> = hub.connected().filter(|session| concerned(session.user)).map(|session| session.id.clone()).collect();
        for id in ids {
            hub.remove(&id);
        }
    }
}

pub(crate) struct Server {
    pub(crate) options: Options,
    pub(crate) faults: Faults,
    pub(crate) journal: Journal,
    pub(crate) stop: CancellationToken,
    /// Each gateway connection holds a receiver, so that the end can wait for them.
    pub(crate) connections: watch::Sender<()>,
    core: Mutex<Core>,
    limits: Mutex<Limits>,
}

impl Server {
    /// `options.addr` is the address that is really listened on.
    pub(crate) fn new(options: Options, world: World) -> Self {
        Self {
            faults: Faults::default(),
            journal: Journal::new(options.journal),
            stop: CancellationToken::new(),
            connections: watch::Sender::new(()),
            core: Mutex::new(Core { world, hub: Hub::default() }),
            limits: Mutex::new(Limits::new(options.rate_limits)),
            options,
        }
    }

    /// Nothing that holds the lock waits for anything, so a panic is the only way it can be poisoned, and a test that
    /// made one wants its own message rather than a hundred others.
    pub(crate) fn core(&self) -> MutexGuard<'_, Core> {
        self.core.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn limits(&self) -> MutexGuard<'_, Limits> {
        self.limits.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn api_url(&self) -> String {
        format!("http://{}", self.options.addr)
    }

    pub(crate) fn gateway_url(&self) -> String {
        format!("ws://{}", self.options.addr)
    }
}

/// Everything behind the port: API, gateway, downloads, controls and the page.
pub(crate) fn router(server: Arc<Server>) -> Router {
    let own = control::router().merge(page::router()).layer(middleware::from_fn(control::refuse_strangers));
    Router::new()
        .merge(own)
        .route("/attachments/{channel}/{id}/{filename}", get(cdn::download))
        .route("/api/{*path}", any(rest::serve))
        // The API has Discord's own limits.
        .layer(DefaultBodyLimit::disable())
        .layer(middleware::from_fn_with_state(Arc::clone(&server), gateway::intercept))
        .with_state(server)
}
