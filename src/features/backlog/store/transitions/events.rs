//! Events: one per change of status (WORK-2).

use chrono::{DateTime, Utc};

use crate::features::backlog::model::{WorkItem, WorkStatus};
use crate::features::backlog::store::items::ItemColumns;
use crate::store::Store;
use kernel::db::{Result, Transaction, Word, plain, sql};
use kernel::ids::WorkItemId;

/// An item's changes in a time range.
#[derive(Debug, Clone, PartialEq)]
pub struct ItemChange {
    /// Its current state.
    pub item: WorkItem,
    /// Its status before the range. None if it was created within it.
    pub from: Option<WorkStatus>,
    /// Its status at the end of the range.
    pub to: WorkStatus,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ItemEvent {
    /// None for the creation.
    pub from: Option<WorkStatus>,
    pub to: WorkStatus,
    /// A reason if it is not obvious.
    pub note: Option<String>,
    pub at: DateTime<Utc>,
}

#[derive(sqlx::FromRow)]
struct StepColumns {
    from_status: Option<String>,
    #[sqlx(try_from = "String")]
    to_status: Word<WorkStatus>,
    note: Option<String>,
    at: DateTime<Utc>,
}

#[derive(sqlx::FromRow)]
struct EventColumns {
    #[sqlx(flatten)]
    item: ItemColumns,
    from_status: Option<String>,
    #[sqlx(try_from = "String")]
    to_status: Word<WorkStatus>,
}

impl Store {
    /// All events of an item, oldest first.
    pub async fn list_events(&self, item: &WorkItemId) -> Result<Vec<ItemEvent>> {
        let rows: Vec<StepColumns> = sql!(
            self.db().read(),
            fetch_all,
            "SELECT from_status, to_status, note, at FROM work_events WHERE item = $1 ORDER BY position",
            item.as_str()
        )?;
        rows.into_iter()
            .map(|row| {
                Ok(ItemEvent { from: row.from_status.map(Word::read).transpose()?, to: row.to_status.0, note: row.note, at: row.at })
            })
            .collect()
    }

    /// A counter that grows with each change of any item.
    pub async fn backlog_mark(&self) -> Result<i64> {
        let (mark,): (i64,) = sql!(self.db().read(), fetch_one, "SELECT COALESCE(MAX(position), 0) FROM work_events")?;
        Ok(mark)
    }

    /// Items that ended between two marks without being worked on, in order: parents whose last child ended, and items that need a failed one.
    pub async fn list_ended_with_others(&self, after: i64, until: i64) -> Result<Vec<WorkItem>> {
        let rows: Vec<ItemColumns> = sql!(
            self.db().read(),
            fetch_all,
            "SELECT work_items.*, (SELECT string_agg(needs, ' ' ORDER BY position) FROM work_dependencies WHERE item = work_items.id) AS depends_on
             FROM work_events JOIN work_items ON work_items.id = work_events.item
             WHERE work_events.position > $1 AND work_events.position <= $2 AND from_status IN ('new', 'ready', 'blocked') AND to_status IN ('done', 'failed')
                 AND work_items.status = to_status
             ORDER BY work_events.position",
            after,
            until
        )?;
        rows.into_iter().map(WorkItem::try_from).collect()
    }

    /// One line per item that changed after `since` until `until`, earliest change first. Items with the same status at both ends are left
    /// out.
    pub async fn list_items_changed(&self, since: DateTime<Utc>, until: DateTime<Utc>) -> Result<Vec<ItemChange>> {
        let events: Vec<EventColumns> = sql!(
            self.db().read(),
            fetch_all,
            "SELECT work_items.*, (SELECT string_agg(needs, ' ' ORDER BY position) FROM work_dependencies WHERE item = work_items.id) AS depends_on,
                 work_events.from_status, work_events.to_status
             FROM work_events JOIN work_items ON work_items.id = work_events.item
             WHERE work_events.at > $1 AND work_events.at <= $2 ORDER BY work_events.position",
            since,
            until
        )?;
        let mut changes: Vec<ItemChange> = Vec::new();
        for event in events {
            let (item, to) = (WorkItem::try_from(event.item)?, event.to_status.0);
            if let Some(known) = changes.iter_mut().find(|change| change.item.id == item.id) {
                known.to = to;
            } else {
                changes.push(ItemChange { item, from: event.from_status.map(Word::read).transpose()?, to });
            }
        }
        changes.retain(|change| change.from != Some(change.to));
        Ok(changes)
    }
}

pub(crate) async fn insert_event(
    transaction: &mut Transaction,
    item: &WorkItemId,
    from: Option<WorkStatus>,
    to: WorkStatus,
    note: Option<&str>,
    at: DateTime<Utc>,
) -> Result<()> {
    sql!(
        transaction.on(),
        execute,
        "INSERT INTO work_events (item, from_status, to_status, note, at) VALUES ($1, $2, $3, $4, $5)",
        item.as_str(),
        from.map(WorkStatus::as_str),
        to.as_str(),
        note.map(plain),
        at
    )?;
    Ok(())
}
