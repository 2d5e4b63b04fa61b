//! Decides which traces of items are kept. The items themselves are kept for good, with what they made and how they were proven.

use std::time::Duration;

use chrono::{DateTime, Utc};

use crate::features::backlog::model::{WorkItem, WorkStatus};
use crate::features::backlog::store::families;
use crate::store::Store;
use kernel::db::{Result, Transaction, sql};
use kernel::ids::{UserId, WorkItemId};
use kernel::jobs::RetentionRule;
use kernel::people::Erasure;

/// Deletes how items came about once they ended this long ago, and their model calls once these are that old.
pub fn retention(kept: Duration, calls_kept: Duration) -> Vec<RetentionRule> {
    let tables = &["events", "work_journal", "artefacts", "approvals", "reviews", "item_requests", "cancelled_items", "outbox"];
    vec![
        RetentionRule::new("work", tables, kept, |database, before, limit| {
            Box::pin(async move { Store::from(database).delete_work_before(before, limit).await })
        }),
        RetentionRule::new("model calls of work", &["ledger"], calls_kept, |database, before, limit| {
            Box::pin(async move { Store::from(database).delete_work_calls_before(before, limit).await })
        }),
    ]
}

/// Up to `limit` items that ended before `at`, with their last run. Items that an open item needs or consists of are left out.
async fn list_over(transaction: &mut Transaction, at: DateTime<Utc>, limit: u32) -> Result<Vec<(String, i64)>> {
    sql!(
        transaction.on(),
        fetch_all,
        // The old events come first. Items are kept for good, and the events of most old ones are gone.
        "SELECT DISTINCT work_items.id, work_items.run FROM events CROSS JOIN work_items
         WHERE work_items.id = events.subject AND events.topic = 'item' AND events.at < $1 AND work_items.status IN ('done', 'failed', 'cancelled') AND work_items.updated_at < $1
             AND NOT EXISTS (SELECT 1 FROM work_items whole WHERE whole.id = work_items.parent
                 AND whole.status NOT IN ('done', 'failed', 'cancelled'))
             AND NOT EXISTS (SELECT 1 FROM work_dependencies JOIN work_items others ON others.id = work_dependencies.item
                 WHERE work_dependencies.needs = work_items.id AND others.status NOT IN ('done', 'failed', 'cancelled'))
         LIMIT $2",
        at,
        i64::from(limit)
    )
}

impl Store {
    /// Removes the texts of ended items from private conversations with a person, and everything that was made in them.
    pub async fn forget_private_items(&self, erasure: &Erasure) -> Result<()> {
        let mut transaction = self.db().begin().await?;
        for channel in &erasure.private {
            let items: Vec<(String,)> = sql!(
                transaction.on(),
                fetch_all,
                "UPDATE work_items SET what = '(forgotten)', how = '', why = '', criteria = '[]', outcome = NULL, product = NULL, evidence = '[]'
                 WHERE private_to = $1 AND status IN ('done', 'failed', 'cancelled') RETURNING id /* reads all: a person is forgotten */",
                channel.as_str()
            )?;
            for (item,) in items {
                sql!(transaction.on(), execute, "DELETE FROM work_journal WHERE item = $1", item.as_str())?;
                sql!(transaction.on(), execute, "DELETE FROM artefacts WHERE item = $1", item.as_str())?;
                sql!(transaction.on(), execute, "DELETE FROM approvals WHERE item = $1", item.as_str())?;
                sql!(transaction.on(), execute, "DELETE FROM reviews WHERE item = $1", item.as_str())?;
                sql!(transaction.on(), execute, "DELETE FROM events WHERE topic = 'item' AND subject = $1", item.as_str())?;
                sql!(transaction.on(), execute, "DELETE FROM cancelled_items WHERE root = $1 OR item = $1", item.as_str())?;
            }
        }
        transaction.commit().await
    }

    /// Forgets the steps, the runs and the approvals of up to `limit` items that ended before `at`, and what people were told of them. Says how many
    /// items these were. Items that an open item needs or consists of are left out.
    pub async fn delete_work_before(&self, at: DateTime<Utc>, limit: u32) -> Result<u64> {
        let mut transaction = self.db().begin().await?;
        let candidates = list_over(&mut transaction, at, limit).await?;
        families::hold_all(&mut transaction, &candidates.iter().map(|(item, _)| item.as_str()).collect::<Vec<_>>()).await?;
        // From here on nobody can reopen one of them.
        let mut old = list_over(&mut transaction, at, limit).await?;
        old.retain(|item| candidates.contains(item));
        for (item, last_run) in &old {
            sql!(transaction.on(), execute, "DELETE FROM work_journal WHERE item = $1", item.as_str())?;
            // A result is kept with its item. What was rejected is not.
            sql!(
                transaction.on(),
                execute,
                "DELETE FROM artefacts WHERE item = $1 AND NOT EXISTS (SELECT 1 FROM work_items WHERE id = $1 AND status = 'done' AND run = artefacts.run)",
                item.as_str()
            )?;
            sql!(transaction.on(), execute, "DELETE FROM approvals WHERE item = $1", item.as_str())?;
            sql!(transaction.on(), execute, "DELETE FROM reviews WHERE item = $1", item.as_str())?;
            sql!(transaction.on(), execute, "DELETE FROM cancelled_items WHERE root = $1", item.as_str())?;
            let asked: Vec<(String, i64, i64)> =
                sql!(transaction.on(), fetch_all, "SELECT person, run, reminders FROM item_requests WHERE item = $1", item.as_str())?;
            for (person, run, reminders) in asked {
                for number in 0..reminders {
                    let repeated = format!("work-{item}-{run}-again-{}-{number}", UserId::new(person.as_str()).bare());
                    sql!(transaction.on(), execute, "DELETE FROM outbox WHERE id = $1 AND state <> 'pending'", repeated)?;
                }
            }
            sql!(transaction.on(), execute, "DELETE FROM item_requests WHERE item = $1", item.as_str())?;
            // The newest event of all is kept, because SQLite would use its position again.
            sql!(
                transaction.on(),
                execute,
                "DELETE FROM events WHERE topic = 'item' AND subject = $1 AND position < (SELECT MAX(position) FROM events)",
                item.as_str()
            )?;
            let item = WorkItemId::new(item.as_str());
            for run in 0..=u32::try_from(*last_run).unwrap_or_default() {
                let notices = WorkStatus::ALL.map(|status| WorkItem::notice_id_of(&item, run, status));
                for notice in notices.iter().chain([&WorkItem::reminder_id_of(&item, run)]) {
                    sql!(transaction.on(), execute, "DELETE FROM outbox WHERE id = $1 AND state <> 'pending'", notice.as_str())?;
                }
            }
        }
        transaction.commit().await?;
        Ok(old.len() as u64)
    }

    /// Whether an item ended before `at`, and no open item needs or consists of it.
    pub async fn is_long_over(&self, item: &WorkItemId, at: DateTime<Utc>) -> Result<bool> {
        let row: Option<(String,)> = sql!(
            self.db().read(),
            fetch_optional,
            "SELECT id FROM work_items
             WHERE id = $1 AND status IN ('done', 'failed', 'cancelled') AND updated_at < $2
                 AND NOT EXISTS (SELECT 1 FROM work_items whole WHERE whole.id = work_items.parent
                     AND whole.status NOT IN ('done', 'failed', 'cancelled'))
                 AND NOT EXISTS (SELECT 1 FROM work_dependencies JOIN work_items others ON others.id = work_dependencies.item
                     WHERE work_dependencies.needs = work_items.id AND others.status NOT IN ('done', 'failed', 'cancelled'))",
            item.as_str(),
            at
        )?;
        Ok(row.is_some())
    }

    /// Forgets up to `limit` model calls from before `at` of items that have ended, and says how many. An open item's budget counts all of its calls.
    pub async fn delete_work_calls_before(&self, at: DateTime<Utc>, limit: u32) -> Result<u64> {
        sql!(
            self.db().write()?,
            execute,
            "DELETE FROM ledger WHERE id IN (
                 SELECT id FROM ledger
                 WHERE at < $1 AND purpose = 'step'
                     AND NOT EXISTS (SELECT 1 FROM work_items WHERE work_items.id = ledger.subject
                         AND work_items.status NOT IN ('done', 'failed', 'cancelled'))
                 ORDER BY at LIMIT $2)",
            at,
            i64::from(limit)
        )
    }
}
