//! Discord's rate limits for one token: a bucket per route, described by response headers, and a global one.
//!
//! Pure: the time is passed in. serenity's own limiter is not used. It ignores the configured address, keeps posting during a global block,
//! and resends after an unreadable header (12,024 posts of one message in 6 s).

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::Duration;

use reqwest::Method;
use reqwest::header::HeaderMap;
use tokio::time::Instant;

/// Discord allows 50 requests a second per token.
const GLOBAL_PER_SECOND: u32 = 50;
/// Discord has no longer buckets. A header with a larger value is ignored.
const LONGEST_BUCKET: f64 = 3600.0;
/// Above this number, buckets that have refilled are dropped.
const REMEMBERED_BUCKETS: usize = 512;

/// A route as Discord counts it: the method, the path without ids, and the leading channel, server, webhook or interaction.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Route {
    template: String,
    major: String,
}

impl Route {
    /// The route of a path such as `/channels/1/messages/2`.
    pub(crate) fn of(method: &Method, path: &str) -> Self {
        let path = path.split_once('?').map_or(path, |(path, _)| path);
        let mut parts = path.trim_start_matches('/').split('/');
        let head = parts.next().unwrap_or_default();
        let mut major = String::new();
        let by_token = matches!(head, "webhooks" | "interactions");
        if by_token || matches!(head, "channels" | "guilds") {
            major.push_str(parts.next().unwrap_or_default());
        }
        if by_token && let Some(token) = parts.next() {
            // Each token has its own bucket. Only its hash is stored.
            let mut hasher = DefaultHasher::new();
            token.hash(&mut hasher);
            major = format!("{major}/{:x}", hasher.finish());
        }
        let rest: Vec<&str> = parts.map(|part| if part.bytes().all(|byte| byte.is_ascii_digit()) { ":id" } else { part }).collect();
        Self { template: format!("{method} {head}/{}", rest.join("/")), major }
    }

    /// The method and the path without ids and tokens.
    pub(crate) fn template(&self) -> &str {
        &self.template
    }
}

/// The rate limits of one token.
#[derive(Debug, Default)]
pub(crate) struct Limits {
    buckets: HashMap<Route, Bucket>,
    /// The names of buckets that several routes share.
    shared: HashMap<Route, Route>,
    blocked_until: Option<Instant>,
    second: Option<(Instant, u32)>,
}

#[derive(Debug, Clone, Copy)]
struct Bucket {
    remaining: u32,
    full_again: Instant,
}

/// Whether a request counts towards the token's global limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Counted {
    Globally,
    /// Webhooks and interactions have only the limits of their own tokens.
    Alone,
}

impl Limits {
    /// Takes one request from the limits. If none is left, takes nothing and returns the wait.
    pub(crate) fn reserve(&mut self, route: &Route, counted: Counted, now: Instant) -> Option<Duration> {
        if counted == Counted::Globally
            && let Some(wait) = self.global_wait(now)
        {
            return Some(wait);
        }
        let key = self.key(route);
        if let Some(bucket) = self.buckets.get_mut(&key)
            && bucket.full_again > now
        {
            if bucket.remaining == 0 {
                return Some(bucket.full_again - now);
            }
            bucket.remaining -= 1;
        }
        if counted == Counted::Globally {
            self.count_globally(now);
        }
        None
    }

    /// Reads the bucket from the headers of an answer. Unreadable headers are ignored.
    pub(crate) fn learn(&mut self, route: &Route, headers: &HeaderMap, now: Instant) {
        let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
        let (Some(remaining), Some(reset_after)) = (
            text("x-ratelimit-remaining").and_then(|value| value.parse::<u32>().ok()),
            text("x-ratelimit-reset-after").and_then(|value| value.parse::<f64>().ok()).filter(|s| (0.0..=LONGEST_BUCKET).contains(s)),
        ) else {
            return;
        };
        if let Some(name) = text("x-ratelimit-bucket") {
            let shared = Route { template: name.to_owned(), major: route.major.clone() };
            self.shared.insert(route.clone(), shared);
        }
        self.forget_old(now);
        let bucket = Bucket { remaining, full_again: now + Duration::from_secs_f64(reset_after) };
        self.buckets.insert(self.key(route), bucket);
    }

    /// Blocks one route, after a 429.
    pub(crate) fn block(&mut self, route: &Route, wait: Duration, now: Instant) {
        self.buckets.insert(self.key(route), Bucket { remaining: 0, full_again: now + wait });
    }

    /// Blocks the whole token, after a global 429.
    pub(crate) fn block_all(&mut self, wait: Duration, now: Instant) {
        self.blocked_until = Some(now + wait);
    }

    fn global_wait(&self, now: Instant) -> Option<Duration> {
        let blocked = self.blocked_until.filter(|until| *until > now);
        let spent = self.second.filter(|(_, sent)| *sent >= GLOBAL_PER_SECOND).map(|(began, _)| began + Duration::from_secs(1));
        blocked.max(spent.filter(|until| *until > now)).map(|until| until - now)
    }

    fn count_globally(&mut self, now: Instant) {
        self.second = match self.second {
            Some((began, sent)) if now.duration_since(began) < Duration::from_secs(1) => Some((began, sent + 1)),
            _ => Some((now, 1)),
        };
    }

    fn key(&self, route: &Route) -> Route {
        self.shared.get(route).unwrap_or(route).clone()
    }

    fn forget_old(&mut self, now: Instant) {
        if self.buckets.len() > REMEMBERED_BUCKETS {
            self.buckets.retain(|_, bucket| bucket.full_again > now);
            let Self { buckets, shared, .. } = self;
            shared.retain(|_, key| buckets.contains_key(key));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(&'static str, &'static str)]) -> HeaderMap {
        pairs.iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap())).collect()
    }

    fn post(path: &str) -> Route {
        Route::of(&Method::POST, path)
    }

    #[test]
    fn a_route_keeps_its_head_and_drops_other_ids_and_tokens() {
        assert_eq!(Route::of(&Method::GET, "/channels/1/messages/2"), Route::of(&Method::GET, "/channels/1/messages/3"));
        assert_ne!(post("/channels/1/messages"), post("/channels/2/messages"));
        assert_ne!(post("/channels/1/messages"), Route::of(&Method::GET, "/channels/1/messages"));
        let webhook = post("/webhooks/9/very-secret");
        assert!(!format!("{webhook:?}").contains("secret"));
        assert_ne!(webhook, post("/webhooks/9/other"));
    }

    #[test]
    fn an_empty_bucket_waits_until_it_is_full_again_and_others_do_not() {
        let (mut limits, now) = (Limits::default(), Instant::now());
        let (here, there) = (post("/channels/1/messages"), post("/channels/2/messages"));
        limits.learn(&here, &headers(&[("x-ratelimit-remaining", "1"), ("x-ratelimit-reset-after", "2.5")]), now);
        assert_eq!(limits.reserve(&here, Counted::Globally, now), None);
        assert_eq!(limits.reserve(&here, Counted::Globally, now), Some(Duration::from_millis(2500)));
        assert_eq!(limits.reserve(&there, Counted::Globally, now), None);
        assert_eq!(limits.reserve(&here, Counted::Globally, now + Duration::from_secs(3)), None);
    }

    #[test]
    fn routes_with_one_bucket_name_share_it_within_a_channel() {
        let (mut limits, now) = (Limits::default(), Instant::now());
        let (create, delete) = (post("/channels/1/messages"), Route::of(&Method::DELETE, "/channels/1/messages/5"));
        let seen = |left| headers(&[("x-ratelimit-bucket", "abc"), ("x-ratelimit-remaining", left), ("x-ratelimit-reset-after", "1")]);
        limits.learn(&create, &seen("4"), now);
        limits.learn(&delete, &seen("0"), now);
        assert!(limits.reserve(&create, Counted::Globally, now).is_some());
    }

    #[test]
    fn garbage_in_headers_says_nothing() {
        let (mut limits, now) = (Limits::default(), Instant::now());
        let route = post("/channels/1/messages");
        for (remaining, reset) in [("x", "1"), ("0", "NaN"), ("0", "inf"), ("0", "-1"), ("-3", "1"), ("0", "1e300"), ("", "")] {
            limits.learn(&route, &headers(&[("x-ratelimit-remaining", remaining), ("x-ratelimit-reset-after", reset)]), now);
            assert_eq!(limits.reserve(&route, Counted::Globally, now), None, "{remaining} {reset}");
        }
    }

    #[test]
    fn a_global_block_stops_all_routes_but_webhooks_of_their_own_token() {
        let (mut limits, now) = (Limits::default(), Instant::now());
        limits.block_all(Duration::from_secs(3), now);
        assert_eq!(limits.reserve(&post("/channels/1/messages"), Counted::Globally, now), Some(Duration::from_secs(3)));
        assert_eq!(limits.reserve(&post("/webhooks/1/t"), Counted::Alone, now), None);
        assert_eq!(limits.reserve(&post("/channels/1/messages"), Counted::Globally, now + Duration::from_secs(3)), None);
    }

    #[test]
    fn more_than_fifty_requests_a_second_wait_for_the_next() {
        let (mut limits, now) = (Limits::default(), Instant::now());
        let sent = (0..80).filter(|n| limits.reserve(&post(&format!("/channels/{n}/messages")), Counted::Globally, now).is_none()).count();
        assert_eq!(sent, 50);
        assert_eq!(limits.reserve(&post("/channels/99/messages"), Counted::Globally, now + Duration::from_secs(1)), None);
    }
}
