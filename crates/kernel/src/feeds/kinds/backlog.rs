use std::sync::Arc;

use async_trait::async_trait;
use chrono::{DateTime, TimeDelta, Utc};

use crate::feeds::kinds::Source;
use crate::feeds::settings::Settings;
use crate::feeds::{FeedError, FeedItem, FeedQuery, FeedSources, FeedSpecError, Reading, Value};

/// Reads work items.
#[async_trait]
pub trait BacklogSource: Send + Sync {
    /// The state of the backlog, with the newest `limit` items that changed from `since` to `until`. `today`: the time from which an item
    /// counts as done today.
    async fn read_backlog(&self, since: DateTime<Utc>, until: DateTime<Utc>, today: DateTime<Utc>, limit: usize)
    -> anyhow::Result<Backlog>;
}

/// The state of the backlog.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Backlog {
    /// The number of items per open status: `ready`, `blocked`, … Statuses without items may be missing.
    pub open: Vec<(String, u64)>,
    pub done_today: u64,
    pub changed: Vec<WorkLine>,
    /// The items that will be worked on next, in this order.
    pub next: Vec<WorkLine>,
    /// Items that cannot go on, the longest waiting first.
    pub stuck: Vec<WorkLine>,
    /// All items that changed in the range, also beyond the limit.
    pub total: u64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkLine {
    /// The short id: `W-12`.
    pub reference: String,
    pub text: String,
    /// The owner's display name: `Vince`.
    pub owner: Option<String>,
    /// The current status.
    pub status: String,
    /// What it waits for: `for an answer from Ann`.
    pub waits: Option<String>,
    /// When it last changed.
    pub at: DateTime<Utc>,
}

/// Reported even at zero, so that their history has no gaps.
const ALWAYS: [&str; 2] = ["ready", "blocked"];

/// Work items: the number in each status, and what changed.
struct Work {
    source: Arc<dyn BacklogSource>,
}

#[expect(clippy::unnecessary_wraps, reason = "all kinds are built alike, and most can be declared wrongly")]
pub(super) fn build(_: &mut Settings<'_>, sources: &FeedSources) -> Result<Box<dyn Source>, FeedSpecError> {
    Ok(Box::new(Work { source: sources.backlog.clone() }))
}

#[async_trait]
impl Source for Work {
    fn is_local(&self) -> bool {
        true
    }

    async fn read(&self, asked: &FeedQuery) -> Result<Reading, FeedError> {
        let backlog = self.source.read_backlog(asked.since, asked.until, asked.today(), asked.limit).await;
        let backlog = backlog.map_err(|error| FeedError::Failed(format!("cannot read the backlog: {error:#}")))?;
        let story = tell(&backlog, asked.now);
        Ok(Reading {
            source: "the backlog".into(),
            as_of: asked.now,
            values: gauges(&backlog),
            total: usize::try_from(backlog.total).unwrap_or(usize::MAX),
            items: backlog.changed.into_iter().take(asked.limit).map(item_of).collect(),
            note: None,
            story,
        })
    }
}

/// The most items that are named. The rest is counted.
const TOLD: usize = 3;

/// Says what is next, and what is stuck, since when and for whom.
fn tell(backlog: &Backlog, now: DateTime<Utc>) -> Vec<String> {
    let by = |line: &WorkLine| line.owner.as_ref().map_or(String::new(), |owner| format!(" ({owner})"));
    let next = backlog.next.iter().take(TOLD).map(|line| format!("\"{}\"{}", line.text, by(line)));
    let next: Vec<String> = next.collect();
    let stuck = backlog.stuck.iter().take(TOLD).map(|line| {
        let waits = line.waits.as_ref().map_or_else(|| line.status.replace('_', " "), |waits| format!("waits {waits}"));
        // What has waited for less than a day is not stuck yet.
        let stands = if now - line.at < TimeDelta::days(1) { "Waiting" } else { "Stuck" };
        format!("{stands}: \"{}\"{} {waits}, {}.", line.text, by(line), since(now - line.at))
    });
    let others = backlog.stuck.len().saturating_sub(TOLD);
    let others = (others > 0).then(|| format!("{others} more {}.", if others == 1 { "waits" } else { "wait" }));
    // The next items are mentioned only if something changed.
    let is_news = backlog.total > 0 || !backlog.stuck.is_empty();
    let next = (is_news && !next.is_empty()).then(|| format!("Next: {}.", next.join(", ")));
    stuck.chain(others).chain(next).collect()
}

/// `since today`, `for 3 days`.
fn since(age: TimeDelta) -> String {
    match age.num_days() {
        ..1 => "since today".to_owned(),
        1 => "for 1 day".to_owned(),
        days => format!("for {days} days"),
    }
}

fn gauges(backlog: &Backlog) -> Vec<Value> {
    let of = |status: &str| backlog.open.iter().filter(|(known, _)| known == status).map(|(_, count)| count).sum();
    let mut values = vec![Value::count("open", backlog.open.iter().map(|(_, count)| count).sum())];
    values.extend(ALWAYS.map(|status| Value::count(status, of(status))));
    let others = backlog.open.iter().filter(|(status, _)| !ALWAYS.contains(&status.as_str()));
    // For people: `in progress`.
    values.extend(others.map(|(status, count)| Value::count(status.replace('_', " "), *count)));
    values.push(Value::count("done today", backlog.done_today));
    values
}

fn item_of(line: WorkLine) -> FeedItem {
    FeedItem {
        at: Some(line.at),
        what: "work item".into(),
        by: line.owner,
        text: format!("{}: {}", line.status.replace('_', " "), line.text),
        reference: line.reference,
        values: Vec::new(),
    }
}
