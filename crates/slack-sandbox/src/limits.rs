//! Rate limits of the Web API: "per API method per workspace per app". Slack publishes numbers per minute, and says without a number that bursts are
//! "tolerated". Here the calls of a full minute may come at once, and the allowance refills steadily.

use std::collections::HashMap;
use std::time::Duration;

use super::options::RateLimits;

/// The tier of a method.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tier {
    /// 1 a minute. Ten may come at once, because an app may have ten connections.
    One,
    /// 20 a minute.
    Two,
    /// 50 a minute.
    Three,
    /// 100 a minute.
    Four,
    /// "hundreds of requests per minute".
    Hundreds,
    /// Messages: one a second in each channel, with short bursts, and several hundred a minute in the workspace.
    Posting,
}

/// Messages that may come at once in a channel. Slack gives no number; clients have seen far more pass.
const POST_BURST: f64 = 4.0;
const POSTS_PER_MINUTE: f64 = 300.0;
/// Requests for history of commercially distributed apps.
const COMMERCIAL_PER_MINUTE: f64 = 1.0;

struct Bucket {
    left: f64,
    since: Duration,
}

pub(crate) struct Limits {
    rule: RateLimits,
    buckets: HashMap<(String, String), Bucket>,
}

impl Limits {
    pub(crate) fn new(rule: RateLimits) -> Self {
        Self { rule, buckets: HashMap::new() }
    }

    /// Counts a call. `Err` is the time to wait in whole seconds, as `Retry-After` gives it.
    pub(crate) fn count(&mut self, app: &str, method: &str, tier: Tier, channel: Option<&str>, now: Duration) -> Result<(), u64> {
        let (per_minute, burst) = match tier {
            Tier::One => (1.0, 10.0),
            Tier::Two => (20.0, 20.0),
            Tier::Three => (50.0, 50.0),
            Tier::Four => (100.0, 100.0),
            Tier::Hundreds => (600.0, 600.0),
            Tier::Posting => {
                if let Some(channel) = channel {
                    self.take(app, &format!("{method} in {channel}"), 60.0, POST_BURST, now)?;
                }
                (POSTS_PER_MINUTE, POSTS_PER_MINUTE)
            }
        };
        self.take(app, method, per_minute, burst, now)
    }

    /// Counts a request for history of a commercially distributed app.
    pub(crate) fn count_commercial(&mut self, app: &str, method: &str, now: Duration) -> Result<(), u64> {
        self.take(app, &format!("{method} commercial"), COMMERCIAL_PER_MINUTE, 1.0, now)
    }

    fn take(&mut self, app: &str, key: &str, per_minute: f64, burst: f64, now: Duration) -> Result<(), u64> {
        if self.rule == RateLimits::Off {
            return Ok(());
        }
        let bucket = self.buckets.entry((app.to_owned(), key.to_owned())).or_insert(Bucket { left: burst, since: now });
        let refilled = bucket.left + now.saturating_sub(bucket.since).as_secs_f64() * per_minute / 60.0;
        (bucket.left, bucket.since) = (refilled.min(burst), now);
        if bucket.left < 1.0 {
            let wait = Duration::from_secs_f64((1.0 - bucket.left) * 60.0 / per_minute);
            return Err((wait.as_secs() + u64::from(wait.subsec_millis() > 0)).max(1));
        }
        bucket.left -= 1.0;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tier_allows_its_number_and_refills() {
        for (tier, number, wait) in [(Tier::Two, 20, 3), (Tier::Three, 50, 2), (Tier::Four, 100, 1)] {
            let mut limits = Limits::new(RateLimits::Slack);
            let now = Duration::from_secs(1_000);
            for _ in 0..number {
                limits.count("A", "m", tier, None, now).expect("within the tier");
            }
            assert_eq!(limits.count("A", "m", tier, None, now), Err(wait), "{tier:?}");
            assert!(limits.count("A", "other", tier, None, now).is_ok() && limits.count("B", "m", tier, None, now).is_ok());
            assert!(limits.count("A", "m", tier, None, now + Duration::from_secs(wait)).is_ok());
        }
    }

    #[test]
    fn a_channel_takes_one_message_a_second_after_a_short_burst() {
        let mut limits = Limits::new(RateLimits::Slack);
        let mut now = Duration::from_secs(1_000);
        let mut post = |channel: &str, now| limits.count("A", "chat.postMessage", Tier::Posting, Some(channel), now);
        for _ in 0..4 {
            post("C1", now).expect("a burst");
        }
        assert_eq!(post("C1", now), Err(1));
        assert!(post("C2", now).is_ok(), "another channel has its own limit");
        for _ in 0..3 {
            now += Duration::from_secs(1);
            assert!(post("C1", now).is_ok());
            assert_eq!(post("C1", now), Err(1));
        }
    }

    #[test]
    fn nothing_is_limited_when_limits_are_off() {
        let mut limits = Limits::new(RateLimits::Off);
        assert!((0..1_000).all(|_| limits.count("A", "m", Tier::One, None, Duration::ZERO).is_ok()));
    }
}
