//! Rate limits of bots, with Discord's headers. Discord does not publish limits per route. These are observed by
//! clients: 5 messages in 5 seconds, 1 reaction in 250 ms, 5 typing events in 5 seconds. All other routes have 50 per
//! second.

use std::collections::{HashMap, VecDeque};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::options::RateLimits;
use super::snowflake::{Snowflake, now_ms};

/// "All bots can make up to 50 requests per second."
const GLOBAL_PER_SECOND: u32 = 50;
const MESSAGES_PER_5S: u32 = 5;
/// "IP addresses that make too many invalid HTTP requests are restricted: 10,000 per 10 minutes."
const INVALID_LIMIT: usize = 10_000;
const INVALID_WINDOW: Duration = Duration::from_mins(10);
/// "1000 IDENTIFY calls in a 24-hour period."
const SESSION_STARTS: usize = 1_000;
const DAY: Duration = Duration::from_hours(24);

/// The limit of a route, and the key by which it is counted.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Route {
    /// Method and path with the ids taken out.
    pub(crate) template: String,
    /// The channel, guild or webhook with its own limit.
    pub(crate) major: String,
}

/// The state of one bucket after a request, for the headers.
#[derive(Clone, Debug)]
pub(crate) struct Quota {
    pub(crate) limit: u32,
    pub(crate) remaining: u32,
    pub(crate) reset_after: Duration,
    pub(crate) bucket: String,
}

pub(crate) enum RateDecision {
    /// The caller has no limit, and nothing is counted.
    Unlimited,
    Pass(Quota),
    Limited {
        quota: Quota,
        global: bool,
    },
}

pub(crate) enum Identify {
    Allowed,
    TooSoon,
    UsedUp,
}

struct Window {
    since: Instant,
    used: u32,
}

pub(crate) struct Limits {
    rule: RateLimits,
    buckets: HashMap<(Snowflake, Route), Window>,
    global: HashMap<Snowflake, Window>,
    invalid: VecDeque<Instant>,
    identifies: HashMap<Snowflake, VecDeque<Instant>>,
    /// When each group of shards of a bot last started a session.
    groups: HashMap<(Snowflake, u64), Instant>,
    /// The number of groups. The shards whose ids leave the same remainder by it are one.
    max_concurrency: u64,
    /// The time between two sessions of a group.
    spacing: Duration,
}

impl Limits {
    pub(crate) fn new(rule: RateLimits, max_concurrency: u64, spacing: Duration) -> Self {
        Self {
            rule,
            buckets: HashMap::new(),
            global: HashMap::new(),
            invalid: VecDeque::new(),
            identifies: HashMap::new(),
            groups: HashMap::new(),
            max_concurrency: max_concurrency.max(1),
            spacing,
        }
    }

    /// Counts a request of a bot. `in_global` is false for webhooks, which have no global limit.
    pub(crate) fn count(&mut self, bot: Snowflake, route: Route, in_global: bool) -> RateDecision {
        if self.rule == RateLimits::Off {
            return RateDecision::Unlimited;
        }
        let (limit, period) = self.allowance(&route.template);
        let bucket = bucket_name(&route.template);
        if in_global {
            let second = Duration::from_secs(1);
            let per_second = self.global_per_second();
            let window = self.global.entry(bot).or_insert_with(Window::new);
            if let Err(reset_after) = window.take(per_second, second) {
                return RateDecision::Limited { quota: Quota { limit, remaining: 0, reset_after, bucket }, global: true };
            }
        }
        // Drops old windows, so that the map does not grow with the number of channels.
        if self.buckets.len() > 10_000 {
            self.buckets.retain(|_, window| window.since.elapsed() < Duration::from_mins(1));
        }
        let window = self.buckets.entry((bot, route)).or_insert_with(Window::new);
        match window.take(limit, period) {
            Ok(()) => {
                let reset_after = period.saturating_sub(window.since.elapsed());
                RateDecision::Pass(Quota { limit, remaining: limit - window.used, reset_after, bucket })
            }
            Err(reset_after) => RateDecision::Limited { quota: Quota { limit, remaining: 0, reset_after, bucket }, global: false },
        }
    }

    fn global_per_second(&self) -> u32 {
        match self.rule {
            RateLimits::Custom { global_per_second, .. } => global_per_second,
            _ => GLOBAL_PER_SECOND,
        }
    }

    fn allowance(&self, template: &str) -> (u32, Duration) {
        let messages = match self.rule {
            RateLimits::Custom { messages_per_5s, .. } => messages_per_5s,
            _ => MESSAGES_PER_5S,
        };
        let five_seconds = Duration::from_secs(5);
        match template {
            "POST /channels/:id/messages" => (messages, five_seconds),
            "PATCH /channels/:id/messages/:id" | "POST /webhooks/:id/:token" | "POST /channels/:id/typing" => (5, five_seconds),
            "DELETE /channels/:id/messages/:id" => (5, Duration::from_secs(1)),
            "PUT /channels/:id/messages/:id/reactions/:emoji" | "DELETE /channels/:id/messages/:id/reactions/:emoji" => {
                (1, Duration::from_millis(250))
            }
            _ => (50, Duration::from_secs(1)),
        }
    }

    /// Counts a response with 401, 403 or 429.
    pub(crate) fn count_invalid(&mut self) {
        self.drop_old_invalid();
        self.invalid.push_back(Instant::now());
    }

    /// How many invalid requests there were in the past ten minutes.
    pub(crate) fn invalid_requests(&mut self) -> usize {
        self.drop_old_invalid();
        self.invalid.len()
    }

    pub(crate) fn is_banned(&mut self) -> bool {
        self.rule != RateLimits::Off && self.invalid_requests() >= INVALID_LIMIT
    }

    fn drop_old_invalid(&mut self) {
        while self.invalid.front().is_some_and(|at| at.elapsed() > INVALID_WINDOW) {
            self.invalid.pop_front();
        }
    }

    /// Counts a login of a bot's shard. One that comes too soon counts towards the day only.
    pub(crate) fn identify(&mut self, bot: Snowflake, shard: u64) -> Identify {
        let (limited, now) = (self.rule != RateLimits::Off, Instant::now());
        let starts = self.identifies.entry(bot).or_default();
        forget_old(starts);
        if limited && starts.len() >= SESSION_STARTS {
            return Identify::UsedUp;
        }
        starts.push_back(now);
        let group = (bot, shard % self.max_concurrency);
        if limited && self.groups.get(&group).is_some_and(|last| now.duration_since(*last) < self.spacing) {
            return Identify::TooSoon;
        }
        self.groups.insert(group, now);
        Identify::Allowed
    }

    /// The `session_start_limit` of a bot.
    pub(crate) fn session_starts(&mut self, bot: Snowflake) -> Value {
        let starts = self.identifies.entry(bot).or_default();
        forget_old(starts);
        let reset_after = starts.front().map_or(Duration::ZERO, |first| DAY.saturating_sub(first.elapsed()));
        json!({
            "total": SESSION_STARTS, "remaining": SESSION_STARTS.saturating_sub(starts.len()), "reset_after": reset_after.as_millis(),
            "max_concurrency": self.max_concurrency,
        })
    }
}

impl Window {
    fn new() -> Self {
        Self { since: Instant::now(), used: 0 }
    }

    /// Uses one of `limit`, or returns how long to wait.
    fn take(&mut self, limit: u32, period: Duration) -> Result<(), Duration> {
        if self.since.elapsed() >= period {
            *self = Self::new();
        }
        if self.used >= limit {
            return Err(period.saturating_sub(self.since.elapsed()));
        }
        self.used += 1;
        Ok(())
    }
}

fn forget_old(starts: &mut VecDeque<Instant>) {
    while starts.front().is_some_and(|at| at.elapsed() > DAY) {
        starts.pop_front();
    }
}

/// An opaque name, as Discord's are.
fn bucket_name(template: &str) -> String {
    use std::hash::{DefaultHasher, Hash, Hasher};
    let mut hasher = DefaultHasher::new();
    template.hash(&mut hasher);
    format!("{:016x}", hasher.finish())
}

impl Quota {
    pub(crate) fn headers(&self) -> [(&'static str, String); 5] {
        let after = self.reset_after.as_secs_f64();
        let now = Duration::from_millis(now_ms()).as_secs_f64();
        [
            ("x-ratelimit-limit", self.limit.to_string()),
            ("x-ratelimit-remaining", self.remaining.to_string()),
            ("x-ratelimit-reset", format!("{:.3}", now + after)),
            ("x-ratelimit-reset-after", format!("{after:.3}")),
            ("x-ratelimit-bucket", self.bucket.clone()),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn discord() -> Limits {
        Limits::new(RateLimits::Discord, 1, Duration::from_secs(5))
    }

    fn route(major: &str) -> Route {
        Route { template: "POST /channels/:id/messages".to_owned(), major: major.to_owned() }
    }

    #[test]
    fn the_sixth_message_in_five_seconds_waits_and_other_channels_do_not() {
        let mut limits = discord();
        for left in (0..5).rev() {
            let RateDecision::Pass(quota) = limits.count(Snowflake::MIN, route("1"), true) else { panic!("not limited yet") };
            assert_eq!(quota.remaining, left);
        }
        let sixth = limits.count(Snowflake::MIN, route("1"), true);
        assert!(matches!(sixth, RateDecision::Limited { global: false, quota } if quota.reset_after > Duration::from_secs(4)));
        assert!(matches!(limits.count(Snowflake::MIN, route("2"), true), RateDecision::Pass(_)));
        assert!(matches!(limits.count(Snowflake::MAX, route("1"), true), RateDecision::Pass(_)));
    }

    #[test]
    fn fifty_requests_a_second_are_the_most_except_for_webhooks() {
        let mut limits = discord();
        for channel in 0..50 {
            assert!(matches!(limits.count(Snowflake::MIN, route(&channel.to_string()), true), RateDecision::Pass(_)));
        }
        assert!(matches!(limits.count(Snowflake::MIN, route("x"), true), RateDecision::Limited { global: true, .. }));
        assert!(matches!(limits.count(Snowflake::MIN, route("x"), false), RateDecision::Pass(_)));
    }

    #[test]
    fn a_thousand_session_starts_use_up_the_day() {
        let mut limits = discord();
        for _ in 0..SESSION_STARTS {
            limits.identify(Snowflake::MIN, 0);
        }
        assert!(matches!(limits.identify(Snowflake::MIN, 0), Identify::UsedUp));
        assert_eq!(
            (&limits.session_starts(Snowflake::MIN)["remaining"], &limits.session_starts(Snowflake::MAX)["remaining"]),
            (&json!(0), &json!(1_000))
        );
    }

    #[test]
    fn a_second_identify_of_a_group_of_shards_is_too_soon() {
        let mut limits = Limits::new(RateLimits::Discord, 2, Duration::from_hours(1));
        for shard in [0, 1] {
            assert!(matches!(limits.identify(Snowflake::MIN, shard), Identify::Allowed));
            assert!(matches!(limits.identify(Snowflake::MIN, shard + 2), Identify::TooSoon));
            assert!(matches!(limits.identify(Snowflake::MAX, shard), Identify::Allowed), "another bot has its own limit");
        }
        assert!((0..3).all(|_| matches!(Limits::new(RateLimits::Off, 1, DAY).identify(Snowflake::MIN, 0), Identify::Allowed)));
    }
}
