use std::sync::Arc;

use async_trait::async_trait;
use chrono::{DateTime, Utc};

use crate::feeds::kinds::Source;
use crate::feeds::settings::Settings;
use crate::feeds::{FeedError, FeedItem, FeedQuery, FeedSources, FeedSpecError, Reading, Value};

/// Counts the team's own activity.
#[async_trait]
pub trait ActivitySource: Send + Sync {
    /// One line for each activity of a persona or a channel between the two times.
    async fn list_activity(&self, since: DateTime<Utc>, until: DateTime<Utc>) -> anyhow::Result<Vec<ActivityLine>>;
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ActivityLine {
    /// The activity, in the plural. `messages` and `answers` become values of the feed; others are only listed.
    pub what: String,
    /// The display name of the persona or channel: `Vince`, `#general`.
    pub whose: String,
    pub count: u64,
    /// The time of the last one.
    pub last_at: Option<DateTime<Utc>>,
}

/// The team's own activity: answers, asks, blocked messages.
struct Activity {
    source: Arc<dyn ActivitySource>,
}

#[expect(clippy::unnecessary_wraps, reason = "all kinds are built alike, and most can be declared wrongly")]
pub(super) fn build(_: &mut Settings<'_>, sources: &FeedSources) -> Result<Box<dyn Source>, FeedSpecError> {
    Ok(Box::new(Activity { source: sources.activity.clone() }))
}

#[async_trait]
impl Source for Activity {
    fn is_local(&self) -> bool {
        true
    }

    async fn read(&self, asked: &FeedQuery) -> Result<Reading, FeedError> {
        let today = self.list(asked.today(), asked.now).await?;
        let sum = |what: &str| today.iter().filter(|line| line.what == what).map(|line| line.count).sum();
        let values = vec![Value::count("messages today", sum("messages")), Value::count("answers today", sum("answers"))];
        let mut lines = self.list(asked.since, asked.until).await?;
        lines.retain(|line| line.count > 0);
        lines.sort_by(|a, b| b.last_at.cmp(&a.last_at).then_with(|| b.count.cmp(&a.count)));
        let total = lines.len();
        let items = lines.into_iter().take(asked.limit).map(item_of).collect();
        Ok(Reading { source: "the team's own activity".into(), as_of: asked.now, values, items, total, note: None, story: Vec::new() })
    }
}

impl Activity {
    async fn list(&self, since: DateTime<Utc>, until: DateTime<Utc>) -> Result<Vec<ActivityLine>, FeedError> {
        let lines = self.source.list_activity(since, until).await;
        lines.map_err(|error| FeedError::Failed(format!("cannot read the team's activity: {error:#}")))
    }
}

/// "turn failed" for "turns failed".
fn singular(what: &str) -> String {
    let (noun, rest) = what.split_once(' ').map_or((what, String::new()), |(noun, rest)| (noun, format!(" {rest}")));
    format!("{}{rest}", noun.strip_suffix('s').unwrap_or(noun))
}

fn item_of(line: ActivityLine) -> FeedItem {
    let what = if line.count == 1 { singular(&line.what) } else { line.what };
    FeedItem {
        at: line.last_at,
        what: "activity".into(),
        text: format!("{}: {} {what}", line.whose, line.count),
        by: Some(line.whose),
        reference: "activity".into(),
        values: vec![Value::count("count", line.count)],
    }
}
