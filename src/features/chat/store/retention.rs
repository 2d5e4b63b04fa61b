//! Retention of messages, turns and asks.
//!
//! The row of a message prevents handling it twice. Only a backfill can deliver an old message again, and it begins after the mark of its channel.
//! The row is therefore deleted only once it lies before the mark. A message that still arrives again is too old to be answered (`chat.max_age` is at
//! most a week).

use std::time::Duration;

use chrono::{DateTime, Utc};

use crate::store::Store;
use kernel::db::{Result, sql};
use kernel::jobs::RetentionRule;

/// Deletes messages, turns, asks, approvals and blocks that are older than `kept`.
pub fn retention(kept: Duration) -> Vec<RetentionRule> {
    vec![
        RetentionRule::new("messages", &["inbox", "files"], kept, |database, before, limit| {
            Box::pin(async move { Store::from(database).delete_messages_before(before, limit).await })
        }),
        RetentionRule::new("turns", &["turns"], kept, |database, before, limit| {
            Box::pin(async move { Store::from(database).delete_turns_before(before, limit).await })
        }),
        RetentionRule::new("asks", &["asks"], kept, |database, before, limit| {
            Box::pin(async move { Store::from(database).delete_asks_before(before, limit).await })
        }),
        RetentionRule::new("chat approvals", &["chat_approvals"], kept, |database, before, limit| {
            Box::pin(async move { Store::from(database).delete_chat_approvals_before(before, limit).await })
        }),
        RetentionRule::new("blocks", &["blocks"], kept, |database, before, limit| {
            Box::pin(async move { Store::from(database).delete_blocks_before(before, limit).await })
        }),
    ]
}

impl Store {
    /// Deletes up to `limit` messages from before `at` with the text of their files, and returns how many. Keeps undecided messages, messages with
    /// open work, and messages that a backfill would deliver again.
    pub async fn delete_messages_before(&self, at: DateTime<Utc>, limit: u32) -> Result<u64> {
        let mut transaction = self.db().begin().await?;
        let old: Vec<(String,)> = sql!(
            transaction.on(),
            fetch_all,
            "SELECT id FROM inbox
             WHERE claimed_at < $1 AND sent_at < $1 AND (decided_at IS NOT NULL OR deleted_at IS NOT NULL OR NOT complete)
                 AND NOT EXISTS (SELECT 1 FROM turns WHERE turns.message = COALESCE(inbox.burst, inbox.id) AND turns.finished_at IS NULL)
                 AND NOT EXISTS (SELECT 1 FROM turns WHERE turns.chain = COALESCE(inbox.burst, inbox.id) AND turns.finished_at IS NULL)
                 AND NOT EXISTS (SELECT 1 FROM asks WHERE asks.message = COALESCE(inbox.burst, inbox.id) AND asks.state IN ('asked', 'expired'))
                 AND NOT EXISTS (SELECT 1 FROM channels WHERE channels.id = inbox.channel AND channels.last_at <= inbox.sent_at
                     AND channels.last_message <> inbox.id)
             ORDER BY claimed_at LIMIT $2",
            at,
            i64::from(limit)
        )?;
        for (message,) in &old {
            sql!(transaction.on(), execute, "DELETE FROM files WHERE message = $1", message.as_str())?;
            sql!(transaction.on(), execute, "DELETE FROM inbox WHERE id = $1", message.as_str())?;
        }
        transaction.commit().await?;
        Ok(old.len() as u64)
    }

    /// Deletes up to `limit` turns from before `at` whose chain has no open work, and returns how many.
    pub async fn delete_turns_before(&self, at: DateTime<Utc>, limit: u32) -> Result<u64> {
        sql!(
            self.db().write()?,
            execute,
            "DELETE FROM turns WHERE position IN (
                 SELECT old.position FROM turns old
                 WHERE old.queued_at < $1 AND old.finished_at < $1
                     AND NOT EXISTS (SELECT 1 FROM turns others WHERE others.chain = old.chain AND others.finished_at IS NULL)
                     AND NOT EXISTS (SELECT 1 FROM asks WHERE asks.chain = old.chain AND asks.state IN ('asked', 'expired'))
                 ORDER BY old.queued_at LIMIT $2)",
            at,
            i64::from(limit)
        )
    }

    /// Deletes up to `limit` asks from before `at` whose chain has no open work, and returns how many.
    pub async fn delete_asks_before(&self, at: DateTime<Utc>, limit: u32) -> Result<u64> {
        sql!(
            self.db().write()?,
            execute,
            "DELETE FROM asks WHERE id IN (
                 SELECT old.id FROM asks old
                 WHERE old.asked_at < $1 AND old.settled_at < $1 AND old.state NOT IN ('asked', 'expired')
                     AND NOT EXISTS (SELECT 1 FROM turns WHERE turns.chain = old.chain AND turns.finished_at IS NULL)
                     AND NOT EXISTS (SELECT 1 FROM asks others WHERE others.chain = old.chain AND others.state IN ('asked', 'expired'))
                 ORDER BY old.asked_at LIMIT $2)",
            at,
            i64::from(limit)
        )
    }

    /// Deletes up to `limit` blocks from before `at`, and returns how many.
    pub async fn delete_blocks_before(&self, at: DateTime<Utc>, limit: u32) -> Result<u64> {
        sql!(
            self.db().write()?,
            execute,
            "DELETE FROM blocks WHERE position IN (SELECT position FROM blocks WHERE at < $1 ORDER BY at LIMIT $2)",
            at,
            i64::from(limit)
        )
    }
}
