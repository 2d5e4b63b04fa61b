use std::sync::Arc;

use async_trait::async_trait;
use chrono::{DateTime, Utc};

use crate::feeds::kinds::Source;
use crate::feeds::settings::Settings;
use crate::feeds::{FeedError, FeedItem, FeedQuery, FeedSources, FeedSpecError, Reading, Value};
use crate::money::{CostGroup, CostLine, Money};

/// Reads the ledger of model calls.
#[async_trait]
pub trait LedgerSource: Send + Sync {
    /// The costs from `since` to `until` by `group`. Groups without calls are left out.
    async fn list_costs(&self, since: DateTime<Utc>, until: DateTime<Utc>, group: CostGroup) -> anyhow::Result<Vec<CostLine>>;
}

/// The cost of model calls: one item per day, persona and model. [`FeedItem::what`] says which.
struct Ledger {
    source: Arc<dyn LedgerSource>,
}

#[expect(clippy::unnecessary_wraps, reason = "all kinds are built alike, and most can be declared wrongly")]
pub(super) fn build(_: &mut Settings<'_>, sources: &FeedSources) -> Result<Box<dyn Source>, FeedSpecError> {
    Ok(Box::new(Ledger { source: sources.ledger.clone() }))
}

#[async_trait]
impl Source for Ledger {
    fn is_local(&self) -> bool {
        true
    }

    async fn read(&self, asked: &FeedQuery) -> Result<Reading, FeedError> {
        let mut items = Vec::new();
        for group in [CostGroup::Day, CostGroup::Persona, CostGroup::Model] {
            let mut lines = self.list(asked.since, asked.until, group).await?;
            match group {
                CostGroup::Day => lines.sort_by(|a, b| b.key.cmp(&a.key)),
                _ => lines.sort_by_key(|line| std::cmp::Reverse(line.cost)),
            }
            items.extend(lines.iter().map(|line| item_of(group, line)));
        }
        let total = items.len();
        items.truncate(asked.limit);
        let today = self.list(asked.today(), asked.now, CostGroup::Day).await?;
        let cost = today.iter().fold(Money::default(), |sum, line| sum + line.cost);
        let tokens = today.iter().map(|line| line.usage.total()).sum();
        let values = vec![Value::new("cost today", cost.dollars(), "$"), Value::count("tokens today", tokens)];
        Ok(Reading { source: "the ledger of model calls".into(), as_of: asked.now, values, items, total, note: None, story: Vec::new() })
    }
}

impl Ledger {
    async fn list(&self, since: DateTime<Utc>, until: DateTime<Utc>, group: CostGroup) -> Result<Vec<CostLine>, FeedError> {
        let lines = self.source.list_costs(since, until, group).await;
        lines.map_err(|error| FeedError::Failed(format!("cannot read the ledger: {error:#}")))
    }
}

#[expect(clippy::cast_precision_loss, reason = "for showing")]
fn item_of(group: CostGroup, line: &CostLine) -> FeedItem {
    FeedItem {
        at: None,
        what: group.as_str().into(),
        by: None,
        text: line.key.clone(),
        reference: format!("ledger {} {}", group.as_str(), line.key),
        values: vec![
            Value::new("cost", line.cost.dollars(), "USD"),
            Value::new("calls", line.calls as f64, "calls"),
            Value::new("tokens", line.usage.total() as f64, "tokens"),
        ],
    }
}
