//! The connections of an app. Several are open at any time, because Slack closes each every few hours. One that is about to be closed is replaced first.

mod connection;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use kernel::chat::PlatformEvent;
use tokio::sync::{Notify, mpsc};
use tokio::task::JoinSet;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use crate::adapters::slack::api::{Api, Arguments, Credential, Failure};

pub(super) use connection::Envelope;
use connection::{Connection, Sign};

/// Pauses before another attempt double from the first to the longest.
const FIRST_PAUSE: Duration = Duration::from_millis(500);
const LONGEST_PAUSE: Duration = Duration::from_mins(1);

/// A connection that lasted this long does not count as a failure.
const STEADY: Duration = Duration::from_secs(30);

/// How long an envelope may wait to be handed over. Slack repeats it if it is not acknowledged within three seconds.
const TAKEN: Duration = Duration::from_secs(2);

/// Where the connections of an app put their envelopes.
#[derive(Clone)]
pub(super) struct Envelopes {
    pub(super) queue: mpsc::Sender<Envelope>,
    /// What the team makes of them.
    pub(super) events: mpsc::Sender<PlatformEvent>,
}

impl Envelopes {
    /// Whether the envelope was handed over. A team that is about to stop takes none, so that Slack sends it to the next process.
    async fn take(&self, envelope: Envelope) -> bool {
        !self.events.is_closed() && matches!(timeout(TAKEN, self.queue.send(envelope)).await, Ok(Ok(())))
    }
}

/// Hears about the state of an app's connections.
pub(super) trait Watcher: Send + Sync + 'static {
    /// The first connection is open. Something may have been missed.
    fn went_online(&self);

    /// The last connection was lost.
    fn went_offline(&self);

    /// The app cannot connect. The failure is worded for people.
    fn is_in_trouble(&self, failure: &Failure);
}

/// The connections of one app.
pub(super) struct Sockets {
    pub(super) api: Arc<Api>,
    /// The app token.
    pub(super) listening: Credential,
    pub(super) envelopes: Envelopes,
    pub(super) watcher: Arc<dyn Watcher>,
    pub(super) stop: CancellationToken,
    pub(super) live: AtomicUsize,
}

impl Sockets {
    /// Keeps this many connections open until the team stops.
    pub(super) async fn run(self: Arc<Self>, count: u32) {
        let mut slots = JoinSet::new();
        for slot in 0..count {
            let sockets = Arc::clone(&self);
            slots.spawn(async move { sockets.keep(slot).await });
        }
        while slots.join_next().await.is_some() {}
    }

    /// Keeps one connection open.
    async fn keep(self: Arc<Self>, slot: u32) {
        let mut readers = JoinSet::new();
        let mut pause = FIRST_PAUSE;
        while !self.stop.is_cancelled() {
            let opened = tokio::select! {
                () = self.stop.cancelled() => break,
                opened = self.open() => opened,
            };
            let wait = match opened {
                Ok(connection) => {
                    let began = tokio::time::Instant::now();
                    let ends = Arc::new(Notify::new());
                    readers.spawn(Arc::clone(&self).read(connection, Arc::clone(&ends)));
                    // Waits until the connection is over or about to be. A connection that is about to close keeps reading beside its replacement.
                    ends.notified().await;
                    if began.elapsed() > STEADY {
                        pause = FIRST_PAUSE;
                    }
                    if self.live.load(Ordering::SeqCst) > 0 && began.elapsed() > Duration::from_secs(1) { Duration::ZERO } else { pause }
                }
                Err(failure) => {
                    tracing::warn!(persona = %self.listening.persona, slot, %failure, ?pause, "a connection to Slack could not be opened");
                    // While another connection is open nothing is missed.
                    if self.live.load(Ordering::SeqCst) == 0 || matches!(failure, Failure::Revoked { .. }) {
                        self.watcher.is_in_trouble(&failure);
                    }
                    match failure {
                        Failure::RateLimited(wait) => wait,
                        _ => pause,
                    }
                }
            };
            pause = (pause * 2).min(LONGEST_PAUSE);
            tokio::select! {
                () = self.stop.cancelled() => break,
                () = tokio::time::sleep(wait) => {}
            }
            while readers.try_join_next().is_some() {}
        }
        while readers.join_next().await.is_some() {}
    }

    async fn open(&self) -> Result<Connection, Failure> {
        let answer = self.api.call(&self.listening, "apps.connections.open", Arguments::default()).await?;
        let url = answer.get("url").and_then(serde_json::Value::as_str).unwrap_or_default();
        // The address holds a ticket, so the error must not show it.
        Connection::open(url).await.map_err(|error| Failure::Unreachable(error.to_string()))
    }

    async fn read(self: Arc<Self>, connection: Connection, ends: Arc<Notify>) {
        if self.live.fetch_add(1, Ordering::SeqCst) == 0 {
            self.watcher.went_online();
        }
        let sign = |sign| {
            if sign == Sign::Disabled {
                self.watcher
                    .is_in_trouble(&Failure::Denied { needs: "Socket Mode, which was switched off in the app's settings".to_owned() });
            }
            ends.notify_one();
        };
        if let Err(error) = connection.read(&self.envelopes, &self.stop, sign).await {
            tracing::info!(persona = %self.listening.persona, %error, "a connection to Slack was lost");
        }
        if self.live.fetch_sub(1, Ordering::SeqCst) == 1 && !self.stop.is_cancelled() {
            self.watcher.went_offline();
        }
        ends.notify_one();
    }
}
