use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::time::Instant;

/// Signs of life of one gateway connection, as far as they can be seen from outside of serenity: events, and acknowledged heartbeats,
/// which show as a new round-trip time.
#[derive(Debug)]
pub(crate) struct Pulse {
    origin: Instant,
    /// Milliseconds from `origin` to the last sign of life.
    last: AtomicU64,
    latency: Mutex<Option<Duration>>,
}

impl Pulse {
    pub(crate) fn new() -> Self {
        Self { origin: Instant::now(), last: AtomicU64::new(0), latency: Mutex::new(None) }
    }

    /// An event came in.
    pub(crate) fn beat(&self, now: Instant) {
        let since = u64::try_from(now.duration_since(self.origin).as_millis()).unwrap_or(u64::MAX);
        self.last.store(since, Ordering::Relaxed);
    }

    /// Takes in what serenity says about the last round trip. It measures in nanoseconds, so an equal one is the same one.
    pub(crate) fn observe(&self, latency: Option<Duration>, now: Instant) {
        let mut known = self.latency.lock().expect("no code panics while it holds the latency");
        if latency.is_some() && *known != latency {
            *known = latency;
            self.beat(now);
        }
    }

    /// How long ago the last sign of life was.
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
        let pulse = Pulse::new();
        let after = |seconds| pulse.origin + Duration::from_secs(seconds);
        assert_eq!(pulse.age(after(60)), Duration::from_mins(1));
        pulse.observe(Some(Duration::from_millis(20)), after(60));
        assert_eq!(pulse.age(after(60)), Duration::ZERO);
        pulse.observe(Some(Duration::from_millis(20)), after(70));
        pulse.observe(None, after(70));
        assert_eq!((pulse.age(after(70)), pulse.latency()), (Duration::from_secs(10), Some(Duration::from_millis(20))));
        pulse.beat(after(70));
        assert_eq!(pulse.age(after(71)), Duration::from_secs(1));
    }
}
