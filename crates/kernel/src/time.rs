//! A clock that can be replaced in tests.
//!
//! Code that waits or reads the time takes a [`Clock`], so that tests simulate hours in milliseconds. `tokio::time::pause` does not work
//! here: a paused runtime jumps ahead while SQLite or a socket works on another thread.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use tokio::sync::oneshot;

#[async_trait]
pub trait Clock: Send + Sync + 'static {
    /// The wall-clock time.
    fn now(&self) -> DateTime<Utc>;

    /// Waits for `duration`.
    async fn sleep(&self, duration: Duration);
}

pub type SharedClock = Arc<dyn Clock>;

/// The system clock.
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

/// A clock that only a test advances.
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
    pub fn new(now: DateTime<Utc>) -> Self {
        Self { state: Arc::new(Mutex::new(ManualState { now, sleepers: Vec::new() })) }
    }

    /// Advances the time and wakes tasks whose sleep is over.
    pub fn advance(&self, by: Duration) {
        let mut state = self.lock();
        state.now += by;
        let now = state.now;
        let due: Vec<_> = state.sleepers.extract_if(.., |(until, _)| *until <= now).collect();
        drop(state);
        for (_, wake) in due {
            // The sleeper may have been dropped.
            let _ = wake.send(());
        }
    }

    /// The number of sleeping tasks. Tests wait for this before they advance the time.
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
        // Returns early if the clock is dropped, which does not happen while tasks sleep.
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
