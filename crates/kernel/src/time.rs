//! A clock that can be replaced in tests.
//!
//! Code that waits or reads the time takes a [`Clock`], so that tests simulate hours in milliseconds. `tokio::time::pause` does not work
//! here: a paused runtime jumps ahead while SQLite or a socket works on another thread.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use chrono::{DateTime, Datelike as _, NaiveTime, Utc};
use chrono_tz::Tz;
use tokio::sync::oneshot;

use crate::when::instant;

/// A time as people read it, in the team's zone: `Fri 27 Nov, 09:00`.
pub fn show_time(at: DateTime<Utc>, zone: Tz) -> String {
    at.with_timezone(&zone).format("%a %-d %b, %H:%M").to_string()
}

/// The present and the team's zone. Shows times as short as is still clear.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Today {
    pub now: DateTime<Utc>,
    pub zone: Tz,
}

impl Today {
    /// The present in full: `Friday, 27 November 2026, 09:00 CET`.
    pub fn spell(self) -> String {
        self.now.with_timezone(&self.zone).format("%A, %-d %B %Y, %H:%M %Z").to_string()
    }

    /// When the day began.
    pub fn midnight(self) -> DateTime<Utc> {
        let date = self.now.with_timezone(&self.zone).date_naive();
        instant(date.and_time(NaiveTime::MIN), self.zone).unwrap_or(self.now)
    }

    /// `09:00` on the same day, `Fri 27 Nov, 09:00` in the same year, else `Fri 27 Nov 2025, 09:00`.
    pub fn show(self, at: DateTime<Utc>) -> String {
        let (local, now) = (at.with_timezone(&self.zone), self.now.with_timezone(&self.zone));
        if local.date_naive() == now.date_naive() {
            local.format("%H:%M").to_string()
        } else if local.year() == now.year() {
            show_time(at, self.zone)
        } else {
            local.format("%a %-d %b %Y, %H:%M").to_string()
        }
    }
}

/// A zone by its name, for `#[serde(with = "kernel::time::zone_name")]`.
pub mod zone_name {
    use chrono_tz::Tz;
    use serde::{Deserialize as _, Deserializer, Serializer};

    pub fn serialize<S: Serializer>(zone: &Tz, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(zone.name())
    }

    /// A zone that this version does not know is read as UTC.
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Tz, D::Error> {
        Ok(String::deserialize(deserializer)?.parse().unwrap_or(Tz::UTC))
    }
}

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
    use chrono::TimeZone as _;

    use super::*;

    #[test]
    fn a_time_is_shown_in_the_teams_zone_and_no_longer_than_needed() {
        let at = |year, month, day, hour| Utc.with_ymd_and_hms(year, month, day, hour, 0, 0).unwrap();
        let today = Today { now: at(2026, 11, 27, 23), zone: Tz::Europe__Berlin };
        assert_eq!(show_time(at(2026, 11, 27, 8), Tz::Europe__Berlin), "Fri 27 Nov, 09:00");
        assert_eq!(today.show(at(2026, 11, 27, 22)), "Fri 27 Nov, 23:00", "it is Saturday in Berlin");
        assert_eq!(today.show(at(2026, 11, 28, 8)), "09:00");
        assert_eq!(today.show(at(2025, 7, 1, 8)), "Tue 1 Jul 2025, 10:00");
    }

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
