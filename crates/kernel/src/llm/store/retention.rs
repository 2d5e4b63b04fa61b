//! Which model calls are kept.

use std::time::Duration;

use chrono::{DateTime, Utc};

use crate::db::{Database, Result, sql};
use crate::jobs::RetentionRule;

/// Deletes model calls once they are this old, except those of work items: the cost of an open item is added up from its calls. The daily sums, which
/// the daily budgets use, are kept for good.
pub fn retention(kept: Duration) -> RetentionRule {
    RetentionRule::new("model calls", &["ledger"], kept, |database, before, limit| {
        Box::pin(async move { database.delete_calls_before(before, limit).await })
    })
}

impl Database {
    /// Deletes up to `limit` model calls from before `at`, and returns how many.
    pub async fn delete_calls_before(&self, at: DateTime<Utc>, limit: u32) -> Result<u64> {
        sql!(
            self.db().write()?,
            execute,
            "DELETE FROM ledger WHERE id IN (SELECT id FROM ledger WHERE at < $1 AND purpose <> 'step' ORDER BY at LIMIT $2)",
            at,
            i64::from(limit)
        )
    }
}
