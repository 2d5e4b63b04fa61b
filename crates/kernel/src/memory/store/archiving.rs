use std::time::Duration;

use chrono::{DateTime, Utc};

use crate::db::{Database, Result, sql};
use crate::jobs::RetentionRule;

/// Below this significance a memory is archived if it is old and unused. Facts that people teach and parts of documents are above it.
const INSIGNIFICANT: f64 = 0.6;

/// Ends old, unused, insignificant lessons, approaches and messages (MEM-7). They can still be shown, and are found by no question.
pub fn archiving(kept: Duration) -> RetentionRule {
    RetentionRule::new("old memories", &[], kept, |database, before, limit| {
        Box::pin(async move { database.archive_memories_before(before, limit).await })
    })
}

impl Database {
    /// Ends up to `limit` memories that were made and last used before `at`, and returns how many.
    pub async fn archive_memories_before(&self, at: DateTime<Utc>, limit: u32) -> Result<u64> {
        sql!(
            self.db().write()?,
            execute,
            "UPDATE memories SET ended_at = $1 WHERE id IN (
                 SELECT id FROM memories
                 WHERE kind IN ('lesson', 'approach', 'conversation') AND ended_at IS NULL AND created_at < $1 AND significance < $2
                     AND (used_at IS NULL OR used_at < $1) AND taught_by IS NULL
                 ORDER BY created_at LIMIT $3)",
            at,
            INSIGNIFICANT,
            i64::from(limit)
        )
    }
}
