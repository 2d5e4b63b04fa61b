use std::sync::Arc;

use async_trait::async_trait;
use chrono::{DateTime, Utc};

use super::settings::Settings;
use super::{Feed, FeedError, FeedItem, FeedQuery, FeedSources, FeedSpecError, Reading, Value};
use crate::domain::usage::{Money, TokenUsage};

pub(crate) const KIND: &str = "ledger";

/// Where model calls are accounted for.
#[async_trait]
pub trait LedgerSource: Send + Sync {
    /// Sums of all calls from `since` to `until`, by `group`. A group without calls has no line.
    async fn list_costs(&self, since: DateTime<Utc>, until: DateTime<Utc>, group: CostGroup) -> anyhow::Result<Vec<CostLine>>;
}

/// What costs are summed by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CostGroup {
    Day,
    Persona,
    Model,
}

impl CostGroup {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Day => "day",
            Self::Persona => "persona",
            Self::Model => "model",
        }
    }
}

/// One sum.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CostLine {
    /// The day as `2026-11-21`, the persona or the model.
    pub key: String,
    pub calls: u64,
    pub usage: TokenUsage,
    pub cost: Money,
}

/// What model calls cost: one item per day, per persona and per model; [`FeedItem::what`] says which.
struct Ledger {
    name: String,
    source: Arc<dyn LedgerSource>,
}

#[expect(clippy::unnecessary_wraps, reason = "all kinds are built alike, and most can be declared wrongly")]
pub(crate) fn build(settings: &mut Settings<'_>, sources: &FeedSources) -> Result<Box<dyn Feed>, FeedSpecError> {
    Ok(Box::new(Ledger { name: settings.name(), source: sources.ledger.clone() }))
}

#[async_trait]
impl Feed for Ledger {
    fn name(&self) -> &str {
        &self.name
    }

    fn kind(&self) -> &'static str {
        KIND
    }

    async fn read(&self, asked: &FeedQuery) -> Result<Reading, FeedError> {
        let mut items = Vec::new();
        for group in [CostGroup::Day, CostGroup::Persona, CostGroup::Model] {
            let lines = self.source.list_costs(asked.since, asked.until, group).await;
            let mut lines = lines.map_err(|error| FeedError::Failed(format!("the ledger could not be read: {error:#}")))?;
            match group {
                CostGroup::Day => lines.sort_by(|a, b| b.key.cmp(&a.key)),
                CostGroup::Persona | CostGroup::Model => lines.sort_by_key(|line| std::cmp::Reverse(line.cost)),
            }
            items.extend(lines.iter().map(|line| item_of(group, line)));
        }
        let total = items.len();
        items.truncate(asked.limit);
        Ok(Reading { source: "the ledger of model calls".into(), as_of: asked.now, items, total, note: None })
    }
}

#[expect(clippy::cast_precision_loss, reason = "for showing")]
fn item_of(group: CostGroup, line: &CostLine) -> FeedItem {
    let tokens = line.usage.total();
    FeedItem {
        at: None,
        what: group.as_str(),
        by: None,
        text: line.key.clone(),
        reference: format!("ledger {} {}", group.as_str(), line.key),
        values: vec![
            Value { name: "cost", number: line.cost.dollars(), unit: "USD" },
            Value { name: "calls", number: line.calls as f64, unit: "calls" },
            Value { name: "tokens", number: tokens as f64, unit: "tokens" },
        ],
    }
}
