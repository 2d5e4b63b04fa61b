//! Feeds with correct and faulty web servers, and the shared page.

mod github;
mod http_json;
mod page;
mod rss;
mod search;
pub(crate) mod web;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, TimeDelta, TimeZone as _, Utc};
use kernel::feeds;
use kernel::feeds::{Feed, FeedQuery, FeedSources, Reading};
use kernel::persona::FeedSpec;
use kernel::time::ManualClock;
use serde_json::{Value as Json, json};

use crate::support::nothing;

/// A Saturday.
fn now() -> DateTime<Utc> {
    Utc.with_ymd_and_hms(2026, 11, 21, 22, 50, 0).unwrap()
}

fn last_days(days: i64) -> FeedQuery {
    FeedQuery { now: now(), since: now() - TimeDelta::days(days), until: now(), limit: 100 }
}

fn sources(work: &Path, clock: &ManualClock) -> FeedSources {
    nothing::feed_sources(work, Arc::new(clock.clone()))
}

fn spec(kind: &str, name: &str, settings: Json) -> FeedSpec {
    let Json::Object(settings) = settings else { panic!("settings are an object") };
    FeedSpec { kind: kind.into(), name: name.into(), settings }
}

fn build(kind: &str, settings: Json, clock: &ManualClock) -> Feed {
    feeds::build(&spec(kind, kind, settings), &sources(Path::new("/nowhere"), clock)).unwrap()
}

/// Reads a feed of `kind` at `url`. The error is as shown to people.
async fn read(kind: &str, url: &str) -> Result<Reading, String> {
    let settings = if kind == "rss" { json!({"url": url}) } else { json!({"url": url, "values": {"queue": "/queue"}}) };
    let read = build(kind, settings, &ManualClock::new(now())).read(&last_days(7)).await;
    read.map_err(|error| error.to_string())
}

/// Waits until `sleepers` tasks sleep, then advances past the feed's time limit.
async fn run_out(clock: &ManualClock, sleepers: usize) {
    while clock.sleepers() < sleepers {
        tokio::task::yield_now().await;
    }
    clock.advance(Duration::from_secs(10));
}
