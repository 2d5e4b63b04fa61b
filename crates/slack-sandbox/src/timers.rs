//! Actions that are due at a later time.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Notify;

use super::socket::Pending;

#[derive(Debug)]
pub(crate) enum Timer {
    /// An envelope was not acknowledged in time.
    Unacknowledged(String),
    /// An event is sent again.
    Retry(Box<Pending>),
    /// A connection is to get `hello`.
    Hello(u64),
    Ping(u64),
    /// A connection is about to be refreshed.
    Warn(u64),
    Refresh(u64),
    /// A connection that was asked to disconnect is closed.
    Close(u64),
    /// The envelope that is held back for this app is to be sent.
    Release(String),
}

/// Timers in the order of their time.
pub(crate) struct Timers {
    set: BTreeMap<(Duration, u64), Timer>,
    count: u64,
    is_set: Arc<Notify>,
}

impl Timers {
    pub(crate) fn new(is_set: Arc<Notify>) -> Self {
        Self { set: BTreeMap::new(), count: 0, is_set }
    }

    pub(crate) fn set(&mut self, due: Duration, timer: Timer) {
        self.count += 1;
        self.set.insert((due, self.count), timer);
        self.is_set.notify_one();
    }

    pub(crate) fn next_due(&self) -> Option<Duration> {
        self.set.keys().next().map(|(due, _)| *due)
    }

    /// The events of an app that wait to be sent again.
    pub(crate) fn count_retries(&self, app: &str) -> usize {
        self.set.values().filter(|timer| matches!(timer, Timer::Retry(pending) if pending.delivery.app == app)).count()
    }

    /// Takes the earliest timer that is due. Returns it with the time at which it was due.
    pub(crate) fn take_due(&mut self, now: Duration) -> Option<(Duration, Timer)> {
        let first = self.set.first_entry().filter(|entry| entry.key().0 <= now)?;
        let due = first.key().0;
        Some((due, first.remove()))
    }
}
