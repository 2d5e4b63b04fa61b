use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::time::Instant;

/// Liveness of one gateway connection. Serenity exposes two signs: events, and acknowledged heartbeats, which show as a new round-trip
/// time.
#[derive(Debug)]
pub(crate) struct Liveness {
    origin: Instant,
    /// Milliseconds from `origin` to the last activity.
    last: AtomicU64,
    latency: Mutex<Option<Duration>>,
}

impl Liveness {
    pub(crate) fn new() -> Self {
        Self { origin: Instant::now(), last: AtomicU64::new(0), latency: Mutex::new(None) }
    }

    /// Records an event.
    pub(crate) fn record_event(&self, now: Instant) {
        let since = u64::try_from(now.duration_since(self.origin).as_millis()).unwrap_or(u64::MAX);
        self.last.store(since, Ordering::Relaxed);
    }

    /// Records serenity's last round-trip time. It has nanosecond resolution, so an equal value means that no heartbeat was acknowledged
    /// since.
    pub(crate) fn observe(&self, latency: Option<Duration>, now: Instant) {
        let mut known = self.latency.lock().expect("no code panics while it holds the latency");
        if latency.is_some() && *known != latency {
            *known = latency;
            self.record_event(now);
        }
    }

    /// Time since the last activity.
    pub(crate) fn age(&self, now: Instant) -> Duration {
        now.duration_since(self.origin).saturating_sub(Duration::from_millis(self.last.load(Ordering::Relaxed)))
    }

    pub(crate) fn latency(&self) -> Option<Duration> {
        *self.latency.lock().expect("no code panics while it holds the latency")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_events_and_new_round_trips_are_signs_of_life() {
        let liveness = Liveness::new();
        let after = |seconds| liveness.origin + Duration::from_secs(seconds);
        assert_eq!(liveness.age(after(60)), Duration::from_mins(1));
        liveness.observe(Some(Duration::from_millis(20)), after(60));
        assert_eq!(liveness.age(after(60)), Duration::ZERO);
        liveness.observe(Some(Duration::from_millis(20)), after(70));
        liveness.observe(None, after(70));
        assert_eq!((liveness.age(after(70)), liveness.latency()), (Duration::from_secs(10), Some(Duration::from_millis(20))));
        liveness.record_event(after(70));
        assert_eq!(liveness.age(after(71)), Duration::from_secs(1));
    }
}
