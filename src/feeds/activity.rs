use std::sync::Arc;

use async_trait::async_trait;
use chrono::{DateTime, Utc};

use super::settings::Settings;
use super::{Feed, FeedError, FeedItem, FeedQuery, FeedSources, FeedSpecError, Reading, Value};

pub(crate) const KIND: &str = "activity";

/// Where the team's own doings are counted.
#[async_trait]
pub trait ActivitySource: Send + Sync {
    /// One line for each thing that was done by somebody or somewhere between the two instants.
    async fn list_activity(&self, since: DateTime<Utc>, until: DateTime<Utc>) -> anyhow::Result<Vec<ActivityLine>>;
}

/// How often something was done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ActivityLine {
    /// What was done, in the plural: `answers`, `messages`, `asks`.
    pub what: String,
    /// By whom or where, as people know it: `Vince`, `#general`.
    pub whose: String,
    pub count: u64,
    /// When it was last done.
    pub last_at: Option<DateTime<Utc>>,
}

/// What the team itself did: answers, asks, what the guard blocked.
struct Activity {
    name: String,
    source: Arc<dyn ActivitySource>,
}

#[expect(clippy::unnecessary_wraps, reason = "all kinds are built alike, and most can be declared wrongly")]
pub(crate) fn build(settings: &mut Settings<'_>, sources: &FeedSources) -> Result<Box<dyn Feed>, FeedSpecError> {
    Ok(Box::new(Activity { name: settings.name(), source: sources.activity.clone() }))
}

#[async_trait]
impl Feed for Activity {
    fn name(&self) -> &str {
        &self.name
    }

    fn kind(&self) -> &'static str {
        KIND
    }

    async fn read(&self, asked: &FeedQuery) -> Result<Reading, FeedError> {
        let lines = self.source.list_activity(asked.since, asked.until).await;
        let mut lines = lines.map_err(|error| FeedError::Failed(format!("the team's activity could not be read: {error:#}")))?;
        lines.retain(|line| line.count > 0);
        lines.sort_by(|a, b| b.last_at.cmp(&a.last_at).then_with(|| b.count.cmp(&a.count)));
        let total = lines.len();
        let items = lines.into_iter().take(asked.limit).map(item_of).collect();
        Ok(Reading { source: "the team's own activity".into(), as_of: asked.now, items, total, note: None })
    }
}

fn item_of(line: ActivityLine) -> FeedItem {
    #[expect(clippy::cast_precision_loss, reason = "for showing")]
    let number = line.count as f64;
    FeedItem {
        at: line.last_at,
        what: "activity",
        text: format!("{}: {} {}", line.whose, line.count, line.what),
        by: Some(line.whose),
        reference: "activity".into(),
        values: vec![Value { name: "count", number, unit: "" }],
    }
}
