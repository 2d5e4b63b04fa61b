//! What all calls and connections share: the state, the connections and the timers, under one lock.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use local_server::{About, Journal, StateError};
use serde_json::json;
use tokio::sync::{Notify, broadcast, watch};
use tokio_util::sync::CancellationToken;

use super::clock::Clock;
use super::faults::Faults;
use super::journal::Exchange;
use super::limits::Limits;
use super::options::Options;
use super::socket::{DisconnectReason, Pending, Socket, Ticket};
use super::state::{Audience, Change, Delivery, Storage, World};
use super::timers::Timers;

/// The most changes that a page may be behind. A page that is further behind loads everything again.
const LIVE: usize = 1_024;

pub(crate) struct Core {
    pub(crate) world: World,
    pub(crate) sockets: BTreeMap<u64, Socket>,
    pub(crate) last_socket: u64,
    /// Addresses that a client may connect to once.
    pub(crate) tickets: HashMap<String, Ticket>,
    /// Envelopes without an acknowledgement, by their id.
    pub(crate) pending: HashMap<String, Pending>,
    /// How long each acknowledgement took.
    pub(crate) acknowledgements: Vec<Duration>,
    /// Envelopes that [`crate::Switch::Reorder`] holds back, by app.
    pub(crate) held: HashMap<String, Delivery>,
    pub(crate) timers: Timers,
    pub(crate) faults: Faults,
    pub(crate) limits: Limits,
    pub(crate) random: fastrand::Rng,
    /// The number of changes so far, for those who wait for a change.
    pub(crate) changes: watch::Sender<u64>,
    /// Changes, for open chat pages.
    pub(crate) live: broadcast::Sender<Change>,
    /// How many chat pages each person has open.
    pub(crate) pages: HashMap<String, usize>,
    /// The text about the team on the chat page.
    pub(crate) about: About,
    storage: Option<Storage>,
}

impl Core {
    pub(crate) fn now(&self) -> Duration {
        self.world.now()
    }

    /// The slug of an app.
    pub(crate) fn slug(&self, app: &str) -> String {
        self.world.apps.get(app).map(|app| app.config.slug.clone()).unwrap_or_default()
    }

    /// Sends the events and changes that are queued.
    pub(crate) fn flush(&mut self) {
        for delivery in std::mem::take(&mut self.world.outbox) {
            self.send_in_order(delivery);
        }
        let changes = std::mem::take(&mut self.world.changes);
        if let Some(storage) = &mut self.storage {
            storage.write(&self.world, &changes);
        }
        for change in changes {
            // Sending fails if no page is open.
            let _ = self.live.send(change);
        }
        self.changes.send_modify(|number| *number += 1);
    }

    /// Releases the folder, so that others may use it. Nothing is written after this.
    pub(crate) fn close_storage(&mut self) {
        self.storage = None;
    }

    /// Revokes or restores a bot token.
    pub(crate) fn revoke(&mut self, slug: &str, on: bool) {
        let Some(app) = self.world.apps.values_mut().find(|app| app.config.slug == slug) else { return };
        app.revoked = on;
        let (id, user) = (app.id.clone(), app.user.clone());
        if on {
            let body = json!({ "type": "tokens_revoked", "tokens": { "oauth": [], "bot": [user] } });
            self.world.announce("tokens_revoked", "", Audience::App { app: id, channel: None }, body);
        }
    }

    pub(crate) fn uninstall(&mut self, slug: &str) {
        let Some(id) = self.world.find_app(slug).map(|app| app.id.clone()) else { return };
        let body = json!({ "type": "app_uninstalled" });
        self.world.announce("app_uninstalled", "", Audience::App { app: id.clone(), channel: None }, body);
        self.flush();
        self.world.apps.entry(id.clone()).and_modify(|app| app.uninstalled = true);
        let connected: Vec<u64> = self.sockets.iter().filter(|(_, socket)| socket.app == id).map(|(number, _)| *number).collect();
        for socket in connected {
            self.disconnect(socket, DisconnectReason::LinkDisabled);
        }
    }
}

pub(crate) struct Server {
    /// `http://127.0.0.1:PORT`
    pub(crate) base: String,
    pub(crate) port: u16,
    pub(crate) clock: Clock,
    pub(crate) journal: Journal<Exchange>,
    pub(crate) stop: CancellationToken,
    /// Each Socket Mode connection holds a receiver, so that the shutdown can wait for them.
    pub(crate) connections: watch::Sender<()>,
    /// Told when a timer was set.
    pub(crate) timer_set: Arc<Notify>,
    core: Mutex<Core>,
}

impl Server {
    /// `options.addr` is the address of the listener, with the real port.
    pub(crate) fn new(options: &Options) -> Result<Self, StateError> {
        let mut world = World::new(options);
        let storage = Storage::open(&mut world, options)?;
        let timer_set = Arc::new(Notify::new());
        let core = Core {
            world,
            sockets: BTreeMap::new(),
            last_socket: 0,
            tickets: HashMap::new(),
            pending: HashMap::new(),
            acknowledgements: Vec::new(),
            held: HashMap::new(),
            timers: Timers::new(Arc::clone(&timer_set)),
            faults: Faults::new(fastrand::Rng::with_seed(options.seed)),
            limits: Limits::new(options.rate_limits),
            random: fastrand::Rng::with_seed(options.seed),
            changes: watch::Sender::new(0),
            live: broadcast::Sender::new(LIVE),
            pages: HashMap::new(),
            about: About::default(),
            storage,
        };
        Ok(Self {
            base: format!("http://{}", options.addr),
            port: options.addr.port(),
            clock: options.clock.clone(),
            journal: Journal::new(options.journal),
            stop: CancellationToken::new(),
            connections: watch::Sender::new(()),
            timer_set,
            core: Mutex::new(core),
        })
    }

    /// Ignores poisoning: after a panic in a test, its own message is enough.
    pub(crate) fn core(&self) -> MutexGuard<'_, Core> {
        self.core.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs timers when they are due, until the server stops.
    pub(crate) async fn run_timers(&self) {
        loop {
            let next = self.core().timers.next_due();
            tokio::select! {
                () = self.clock.wait_until(next) => {}
                () = self.timer_set.notified() => continue,
                () = self.stop.cancelled() => return,
            }
            let mut core = self.core();
            let now = core.now();
            while let Some((due, timer)) = core.timers.take_due(now) {
                core.run_timer(due, timer);
            }
            core.flush();
        }
    }
}
