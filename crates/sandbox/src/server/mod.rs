//! What all requests and connections share: state, sessions, limits, faults and the journal.

mod hub;
mod session;

use std::sync::{Mutex, MutexGuard, PoisonError};

use local_server::{About, Journal};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::faults::Faults;
use crate::journal::Exchange;
use crate::limits::Limits;
use crate::options::Options;
use crate::snowflake::Snowflake;
use crate::state::World;
pub(crate) use hub::{Hub, Presence};
pub(crate) use session::{End, Link, Numbered, Outgoing, Session};

/// State and sessions under one lock, so that events are sent in the order of the changes.
pub(crate) struct Core {
    pub(crate) world: World,
    pub(crate) hub: Hub,
    pub(crate) about: About,
}

impl Core {
    /// Sends the events that changes have queued.
    pub(crate) fn flush(&mut self) {
        for dispatch in std::mem::take(&mut self.world.dispatches) {
            self.hub.publish(&self.world, &dispatch);
        }
    }

    /// Revokes or restores an account's token. Revoking closes its connections.
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

    /// Deletes messages, threads, webhooks and commands, and notifies the clients.
    pub(crate) fn clear(&mut self) {
        self.world.clear();
        self.flush();
    }

    /// Ends the connected sessions of one bot or of all. Their connections stay open. Some may be resumed later.
    pub(crate) fn end_sessions(&mut self, bot: Option<&str>, resumable: bool) {
        let Self { world, hub, .. } = self;
        let concerned = |user: Snowflake| {
            let slug = world.accounts.get(user).and_then(|account| account.slug.as_deref());
            slug.is_some() && (bot.is_none() || bot == slug)
        };
        let ids: Vec<String> = hub.connected().filter(|session| concerned(session.user)).map(|session| session.id.clone()).collect();
        for id in ids {
            match hub.get_mut(&id) {
                Some(session) if resumable => session.detach(),
                _ => drop(hub.remove(&id)),
            }
        }
    }
}

pub(crate) struct Server {
    pub(crate) options: Options,
    pub(crate) faults: Faults,
    pub(crate) journal: Journal<Exchange>,
    pub(crate) stop: CancellationToken,
    /// Each gateway connection holds a receiver, so that the shutdown can wait for them.
    pub(crate) connections: watch::Sender<()>,
    core: Mutex<Core>,
    limits: Mutex<Limits>,
}

impl Server {
    /// `options.addr` is the address of the listener, with the real port.
    pub(crate) fn new(options: Options, world: World) -> Self {
        Self {
            faults: Faults::default(),
            journal: Journal::new(options.journal),
            stop: CancellationToken::new(),
            connections: watch::Sender::new(()),
            core: Mutex::new(Core { world, hub: Hub::default(), about: About::default() }),
            limits: Mutex::new(Limits::new(options.rate_limits, options.max_concurrency, options.windows.identify)),
            options,
        }
    }

    /// Ignores poisoning: after a panic in a test, its own message is enough.
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
