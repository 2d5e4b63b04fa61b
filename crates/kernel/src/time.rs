//! Time, as something that can be handed in.
//!
//! Code that waits or asks what time it is takes a [`Clock`], so that tests drive hours in milliseconds and never sleep.
//! `tokio::time::pause` is no substitute: a paused runtime jumps ahead while SQLite or a socket is at work on another thread.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use tokio::sync::oneshot;

/// Where flows get the time from.
#[async_trait]
pub trait Clock: Send + Sync + 'static {
    /// The wall-clock time.
    fn now(&self) -> DateTime<Utc>;

    /// Waits for `duration`.
    async fn sleep(&self, duration: Duration);
}

/// The clock as flows hold it.
pub type SharedClock = Arc<dyn Clock>;

/// The machine's clock.
#[derive(Debug, Default, Clone, Copy)]
pub struct SystemClock;

#[async_trait]
impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "the one place that reads the machine's clock")]
    fn now(&self) -> DateTime<Utc> {
        Utc::now()
    }

    async fn sleep(&self, duration: Duration) {
        tokio::time::sleep(duration).await;
    }
}

/// A clock that stands still until a test moves it.
#[derive(Debug, Clone)]
pub struct ManualClock {
    state: Arc<Mutex<ManualState>>,
}

#[derive(Debug)]
struct ManualState {
    now: DateTime<Utc>,
    sleepers: Vec<(DateTime<Utc>, oneshot::Sender<()>)>,
}

impl ManualClock {
    /// A clock standing at `now`.
    pub fn new(now: DateTime<Utc>) -> Self {
        Self { state: Arc::new(Mutex::new(ManualState { now, sleepers: Vec::new() })) }
    }

    /// Moves time forward and wakes everybody whose sleep is over.
    pub fn advance(&self, by: Duration) {
        let mut state = self.lock();
        state.now += by;
        let now = state.now;
        let due: Vec<_> = state.sleepers.extract_if(.., |(until, _)| *until <= now).collect();
        drop(state);
        for (_, wake) in due {
            // A sleeper that has gone away needs no waking.
            let _ = wake.send(());
        }
    }

    /// How many tasks are asleep; tests wait for this before they move time.
    pub fn sleepers(&self) -> usize {
        let mut state = self.lock();
        state.sleepers.retain(|(_, wake)| !wake.is_closed());
        state.sleepers.len()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, ManualState> {
        self.state.lock().expect("no code panics while it holds the clock")
    }
}

#[async_trait]
impl Clock for ManualClock {
    fn now(&self) -> DateTime<Utc> {
        self.lock().now
    }

    async fn sleep(&self, duration: Duration) {
        let (wake, woken) = oneshot::channel();
        {
            let mut state = self.lock();
            let until = state.now + duration;
            if duration.is_zero() {
                return;
            }
            state.sleepers.push((until, wake));
        }
        // The clock outlives its sleepers; were it dropped, waking is the safe side.
        let _ = woken.await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_sleeper_wakes_when_its_time_has_come_and_not_before() {
        let clock = ManualClock::new(DateTime::UNIX_EPOCH);
        let sleeper = tokio::spawn({
            let clock = clock.clone();
            async move { clock.sleep(Duration::from_secs(10)).await }
        });
        while clock.sleepers() == 0 {
            tokio::task::yield_now().await;
        }
        clock.advance(Duration::from_secs(9));
        assert_eq!(clock.sleepers(), 1);
        clock.advance(Duration::from_secs(1));
        sleeper.await.expect("the sleeper ends");
        assert_eq!(clock.now(), DateTime::UNIX_EPOCH + Duration::from_secs(10));
    }
}
