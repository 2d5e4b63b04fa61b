//! The time of a workspace. Tests set it, so that they wait for nothing.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tokio::sync::watch;

/// Where a manual clock starts, in hours since 1970: 1 October 2026.
const START: Duration = Duration::from_hours(497_448);

/// A source of time. Clones share it.
#[derive(Clone, Debug)]
pub struct Clock(Source);

#[derive(Clone, Debug)]
enum Source {
    System,
    Manual(watch::Sender<Duration>),
}

impl Clock {
    /// The clock of this machine.
    pub fn system() -> Self {
        Self(Source::System)
    }

    /// A clock that stands still until [`Clock::advance`].
    pub fn manual() -> Self {
        Self(Source::Manual(watch::Sender::new(START)))
    }

    /// Moves a manual clock. Does nothing to the clock of the machine.
    pub fn advance(&self, by: Duration) {
        if let Source::Manual(now) = &self.0 {
            now.send_modify(|now| *now += by);
        }
    }

    /// Since 1970.
    pub fn now(&self) -> Duration {
        match &self.0 {
            Source::System => SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default(),
            Source::Manual(now) => *now.borrow(),
        }
    }

    /// Waits until this time. `None` is never.
    pub(crate) async fn wait_until(&self, at: Option<Duration>) {
        let Some(at) = at else { return std::future::pending().await };
        match &self.0 {
            Source::System => tokio::time::sleep(at.saturating_sub(self.now())).await,
            // The clock holds the sender, so `wait_for` ends only when the time has come.
            Source::Manual(now) => _ = now.subscribe().wait_for(|now| *now >= at).await,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_manual_clock_moves_only_when_it_is_told_to() {
        let clock = Clock::manual();
        let due = clock.now() + Duration::from_hours(1);
        let waiting = tokio::spawn({
            let clock = clock.clone();
            async move { clock.wait_until(Some(due)).await }
        });
        clock.advance(Duration::from_mins(59));
        tokio::task::yield_now().await;
        assert!(!waiting.is_finished());
        clock.advance(Duration::from_mins(1));
        waiting.await.expect("it ends");
        assert_eq!(clock.now(), due);
    }
}
