use std::sync::Arc;

use async_trait::async_trait;
use chrono::{DateTime, Utc};

use crate::feeds::kinds::Source;
use crate::feeds::settings::Settings;
use crate::feeds::{FeedError, FeedItem, FeedQuery, FeedSources, FeedSpecError, Reading, Value};

/// Where work items are kept.
#[async_trait]
pub trait BacklogSource: Send + Sync {
    /// How the backlog stands, with the work items that changed from `since` to `until`: the newest `limit` of them. `today` is since when
    /// an item counts as done today.
    async fn read_backlog(&self, since: DateTime<Utc>, until: DateTime<Utc>, today: DateTime<Utc>, limit: usize)
    -> anyhow::Result<Backlog>;
}

/// The backlog at one time.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Backlog {
    /// How many items have each status that is not an end: `ready`, `blocked`, … Statuses without items may be left out.
    pub open: Vec<(String, u64)>,
    pub done_today: u64,
    /// Newest first.
    pub changed: Vec<WorkLine>,
    /// All items that changed in the range.
    pub total: u64,
}

/// A work item that changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkLine {
    /// What people find it by: `W-12`.
    pub reference: String,
    pub text: String,
    /// As people know the owner: `Vince`.
    pub owner: Option<String>,
    /// The status that it has now.
    pub status: String,
    pub at: DateTime<Utc>,
}

/// These are told even where nothing has the status, so that a number that falls to zero is a number.
const ALWAYS: [&str; 2] = ["ready", "blocked"];

/// The work items: how many there are in each status, and what changed.
struct Work {
    source: Arc<dyn BacklogSource>,
}

#[expect(clippy::unnecessary_wraps, reason = "all kinds are built alike, and most can be declared wrongly")]
pub(super) fn build(_: &mut Settings<'_>, sources: &FeedSources) -> Result<Box<dyn Source>, FeedSpecError> {
    Ok(Box::new(Work { source: sources.backlog.clone() }))
}

#[async_trait]
impl Source for Work {
    async fn read(&self, asked: &FeedQuery) -> Result<Reading, FeedError> {
        let backlog = self.source.read_backlog(asked.since, asked.until, asked.today(), asked.limit).await;
        let backlog = backlog.map_err(|error| FeedError::Failed(format!("the backlog could not be read: {error:#}")))?;
        Ok(Reading {
            source: "the backlog".into(),
            as_of: asked.now,
            values: gauges(&backlog),
            total: usize::try_from(backlog.total).unwrap_or(usize::MAX),
            items: backlog.changed.into_iter().take(asked.limit).map(item_of).collect(),
            note: None,
        })
    }
}

fn gauges(backlog: &Backlog) -> Vec<Value> {
    let of = |status: &str| backlog.open.iter().filter(|(known, _)| known == status).map(|(_, count)| count).sum();
    let mut values = vec![Value::count("open", backlog.open.iter().map(|(_, count)| count).sum())];
    values.extend(ALWAYS.map(|status| Value::count(status, of(status))));
    let others = backlog.open.iter().filter(|(status, _)| !ALWAYS.contains(&status.as_str()));
    // As people write it: `in progress`.
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
