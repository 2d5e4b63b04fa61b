mod attempt;
mod held;

use std::collections::{HashMap, HashSet};
use std::panic::AssertUnwindSafe;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};
use std::time::Duration;

use chrono::{DateTime, Utc};
use futures_util::future::OptionFuture;
use futures_util::stream::FuturesUnordered;
use futures_util::{FutureExt, StreamExt};
use tokio::sync::{Notify, broadcast};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tracing::Instrument as _;

use crate::chat::ChatPlatform;
use crate::chat::outbound::OutboundMessage;
use crate::chat::outbox::order::Due;
use crate::chat::redact::Redactor;
use crate::db::{Database, StoreError};
use crate::events::Topic;
use crate::ids::{ChannelId, OutboxId};
use crate::time::SharedClock;

/// Wakes the relay of another process for new rows.
pub(super) const OUTBOX: Topic = Topic::new("outbox");

/// Polling interval for rows whose notification was lost. The commit of a new row wakes the relay, in this process and in others. The notification is
/// lost if another process dies right after its commit, or while the listening connection is reopened.
const BACKSTOP: Duration = Duration::from_secs(30);

/// How soon to look again after an error that does not come from the platform.
const AGAIN: Duration = Duration::from_secs(2);

/// The most reports that wait to be read. Further ones are dropped; the log has them too.
const REPORTS: usize = 256;

/// A message that cannot be delivered, which somebody should know.
#[derive(Debug, Clone, PartialEq)]
pub struct Undelivered {
    pub message: OutboundMessage,
    pub obstacle: Obstacle,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Obstacle {
    /// It is kept until this permission is there, for a day at most.
    Held {
        needs: String,
    },
    GivenUp {
        why: String,
    },
}

/// Sends the outbox, in the order of [`order`](super::order). Cheap to clone.
#[derive(Clone)]
pub struct Relay {
    inner: Arc<Inner>,
}

pub(super) struct Inner {
    store: Database,
    platform: Arc<dyn ChatPlatform>,
    redactor: Redactor,
    clock: SharedClock,
    tasks: TaskTracker,
    stop: CancellationToken,
    /// Channels with an active sender.
    busy: Mutex<HashMap<ChannelId, Wakeup>>,
    /// When the next held row is looked at. None: no row is held.
    next_look: Mutex<Option<DateTime<Utc>>>,
    permission_changes: AtomicU64,
    /// The last row of an earlier process, which may have tried it. Not set until it is read.
    last_inherited: OnceLock<i64>,
    /// Rows with an attempt that is not recorded.
    unrecorded: Mutex<HashSet<OutboxId>>,
    undelivered: broadcast::Sender<Undelivered>,
    /// Notified when a channel has nothing left to send at once.
    settled: Notify,
    /// Notified when a row has to wait, so that the sweep learns for how long.
    delayed: Notify,
}

/// How an active sender learns of a new row.
#[derive(Default)]
struct Wakeup {
    /// A row was added since its last read.
    again: bool,
    added: Arc<Notify>,
}

impl Relay {
    /// Starts the relay. Rows from an earlier process are sent once their identities are online.
    pub fn start(
        store: Database,
        platform: Arc<dyn ChatPlatform>,
        redactor: Redactor,
        clock: SharedClock,
        tasks: TaskTracker,
        stop: CancellationToken,
    ) -> Self {
        // Rows may be held from an earlier process. Permissions may have changed since.
        let next_look = Mutex::new(Some(clock.now()));
        let relay = Self {
            inner: Arc::new(Inner {
                store,
                platform,
                redactor,
                clock,
                tasks,
                stop,
                busy: Mutex::default(),
                next_look,
                permission_changes: AtomicU64::new(0),
                last_inherited: OnceLock::new(),
                unrecorded: Mutex::default(),
                undelivered: broadcast::Sender::new(REPORTS),
                settled: Notify::new(),
                delayed: Notify::new(),
            }),
        };
        relay.inner.store.db().relay().set(&relay.inner, |inner| Self { inner });
        relay.inner.tasks.spawn(relay.clone().sweep());
        relay
    }

    /// Sends the rows of `channel`.
    pub(super) fn wake(&self, channel: &ChannelId) {
        {
            let mut busy = self.busy();
            if let Some(sender) = busy.get_mut(channel) {
                sender.again = true;
                sender.added.notify_one();
                return;
            }
            busy.insert(channel.clone(), Wakeup::default());
        }
        let relay = self.clone();
        let channel = channel.clone();
        self.inner.tasks.spawn(async move { relay.drain_while_woken(&channel).await });
    }

    /// Waits until all rows that can be sent now are sent, at most for `limit`.
    pub async fn drained(&self, limit: Duration) {
        let wait = async {
            loop {
                let settled = self.inner.settled.notified();
                if self.busy().is_empty() {
                    return;
                }
                settled.await;
            }
        };
        // A hanging platform must not delay the shutdown. The rows are sent after the next start.
        let _ = tokio::time::timeout(limit, wait).await;
    }

    /// Reports each message that is held or given up from now on.
    pub fn undelivered(&self) -> broadcast::Receiver<Undelivered> {
        self.inner.undelivered.subscribe()
    }

    fn busy(&self) -> MutexGuard<'_, HashMap<ChannelId, Wakeup>> {
        self.inner.busy.lock().expect("no code panics while it holds the busy channels")
    }

    async fn sweep(self) {
        let Inner { store, clock, .. } = &*self.inner;
        let mut elsewhere = store.subscribe(OUTBOX, clock);
        loop {
            let looked = async {
                self.note_inherited().await?;
                self.release_held().await?;
                store.list_pending_channels().await
            };
            let wait = match looked.await {
                Ok(channels) => self.wake_due(&channels),
                Err(error) => {
                    tracing::warn!(%error, "cannot read the outbox");
                    AGAIN
                }
            };
            tokio::select! {
                () = self.inner.stop.cancelled() => return,
                () = clock.sleep(wait) => {}
                () = elsewhere.next() => {}
                () = self.inner.delayed.notified() => {}
            }
        }
    }

    /// Only one process sends at a time, so no other one has tried a row that is added after this.
    async fn note_inherited(&self) -> Result<(), StoreError> {
        if self.inner.last_inherited.get().is_none() {
            let _ = self.inner.last_inherited.set(self.inner.store.last_position().await?);
        }
        Ok(())
    }

    /// Sends what is due, and returns when to look again.
    fn wake_due(&self, channels: &[(ChannelId, DateTime<Utc>)]) -> Duration {
        let now = self.inner.clock.now();
        let (due, later): (Vec<_>, Vec<_>) = channels.iter().partition(|(_, at)| *at <= now);
        for (channel, _) in due {
            self.wake(channel);
        }
        let looks = *self.next_look();
        later.iter().map(|(_, at)| *at).chain(looks).map(|at| (at - now).to_std().unwrap_or_default()).fold(BACKSTOP, Duration::min)
    }

    /// Makes the sweep look again after an error.
    fn sweep_again(&self) {
        let relay = self.clone();
        self.inner.tasks.spawn(async move {
            tokio::select! {
                () = relay.inner.stop.cancelled() => {}
                () = relay.inner.clock.sleep(AGAIN) => relay.inner.delayed.notify_one(),
            }
        });
    }

    async fn drain_while_woken(&self, channel: &ChannelId) {
        loop {
            let drained = AssertUnwindSafe(self.drain(channel)).catch_unwind().await;
            match drained {
                Ok(Ok(())) => {}
                Ok(Err(error)) => {
                    tracing::warn!(%channel, %error, "cannot work off the outbox");
                    self.sweep_again();
                }
                Err(_) => {
                    tracing::error!(%channel, "the relay broke off; the sweep takes the channel up again");
                    self.sweep_again();
                }
            }
            let mut busy = self.busy();
            match busy.get_mut(channel) {
                Some(sender) if sender.again => sender.again = false,
                _ => {
                    busy.remove(channel);
                    drop(busy);
                    self.inner.settled.notify_waiters();
                    return;
                }
            }
        }
    }

    /// Sends the channel's rows until none is due. Rows that do not depend on each other are sent at the same time.
    ///
    /// Reading and sending are awaited together. A send that is not polled may hold a database connection that the reading waits for.
    async fn drain(&self, channel: &ChannelId) -> Result<(), StoreError> {
        let added = self.busy().get(channel).map(|sender| sender.added.clone()).unwrap_or_default();
        let (mut sending, mut in_flight) = (FuturesUnordered::new(), HashSet::new());
        let mut failed = None;
        let (mut is_read, mut others_wait) = (false, false);
        let (mut is_reading, mut reading) = (false, OptionFuture::default());
        loop {
            if !is_read && !is_reading && failed.is_none() {
                (is_read, is_reading) = (true, true);
                reading = Some(self.read_due(channel, in_flight.clone()).boxed()).into();
            }
            if !is_reading && sending.is_empty() {
                return failed.map_or(Ok(()), Err);
            }
            tokio::select! {
                Some(due) = &mut reading => {
                    (is_reading, reading) = (false, OptionFuture::default());
                    match due {
                        Ok(due) => {
                            others_wait = due.others_wait;
                            for row in due.rows {
                                in_flight.insert(row.message.id.clone());
                                let span = attempt::span_of(&row);
                                sending.push(self.send_row(row).instrument(span));
                            }
                        }
                        Err(error) => failed = Some(error),
                    }
                }
                Some((id, result)) = sending.next() => {
                    in_flight.remove(&id);
                    match result {
                        // Other rows may have waited for this one, also rows that are being read now.
                        Ok(true) => is_read &= !(others_wait || is_reading),
                        Ok(false) => {}
                        Err(error) => failed = Some(error),
                    }
                }
                () = added.notified() => is_read = false,
            }
        }
    }

    async fn read_due(&self, channel: &ChannelId, in_flight: HashSet<OutboxId>) -> Result<Due, StoreError> {
        self.inner.store.list_due(channel, &in_flight, self.inner.clock.now()).await
    }

    fn report(&self, message: &OutboundMessage, obstacle: Obstacle) {
        // If nobody reads the reports, the log has them.
        let _ = self.inner.undelivered.send(Undelivered { message: message.clone(), obstacle });
    }
}
