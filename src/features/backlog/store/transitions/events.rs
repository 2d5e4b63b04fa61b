//! The events of items: one per change of status (WORK-2), and one with a note for an action of a person that leaves the status as it is. The kind is
//! the status after the event. Requests for approval have a topic of their own.

use chrono::{DateTime, Utc};

use serde::{Deserialize, Serialize};

use crate::features::backlog::model::{Origin, WorkItem, WorkStatus};
use crate::features::backlog::store::items::ItemColumns;
use crate::features::backlog::store::jobs::EndedBetween;
use crate::store::Store;
use kernel::actor::Actor;
use kernel::db::{Document, Result, Transaction, Word, document, plain, sql};
use kernel::events::{self, Audience, Event, Topic};
use kernel::ids::WorkItemId;
use kernel::tools::approval::{Approval, ApprovalState};

/// The topic of changes of items. The statements below spell it out, because the indexes of its events do.
pub const ITEMS: Topic = Topic::new("item");

/// Requests for approval. The subject is the item.
const APPROVALS: Topic = Topic::new("approval");

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
    /// The number of its run after the event. None in rows of earlier versions, and where other items caused it.
    pub run: Option<u32>,
    pub at: DateTime<Utc>,
}

/// The payload of an event.
#[derive(Debug, Serialize, Deserialize)]
struct Change {
    from: Option<WorkStatus>,
    note: Option<String>,
    #[serde(default)]
    run: Option<u32>,
}

#[derive(sqlx::FromRow)]
struct StepColumns {
    #[sqlx(try_from = "String")]
    kind: Word<WorkStatus>,
    #[sqlx(try_from = "String")]
    change: Document<Change>,
    at: DateTime<Utc>,
}

#[derive(sqlx::FromRow)]
struct EventColumns {
    #[sqlx(flatten)]
    item: ItemColumns,
    #[sqlx(try_from = "String")]
    event_kind: Word<WorkStatus>,
    #[sqlx(try_from = "String")]
    change: Document<Change>,
}

impl Store {
    /// All changes of an item, oldest first.
    pub async fn list_events(&self, item: &WorkItemId) -> Result<Vec<ItemEvent>> {
        let rows: Vec<StepColumns> = sql!(
            self.db().read(),
            fetch_all,
            "SELECT kind, payload AS change, at FROM events WHERE topic = 'item' AND subject = $1 ORDER BY position",
            item.as_str()
        )?;
        let event = |StepColumns { kind, change: Document(Change { from, note, run }), at }| ItemEvent { from, to: kind.0, note, run, at };
        Ok(rows.into_iter().map(event).collect())
    }

    /// A number that changes with every change of an item. It adds up the last positions, because an event with an earlier one may be committed later.
    pub async fn backlog_mark(&self) -> Result<i64> {
        let (mark,): (i64,) = sql!(
            self.db().read(),
            fetch_one,
            "SELECT CAST(COALESCE(SUM(position), 0) AS BIGINT)
             FROM (SELECT position FROM events WHERE topic = 'item' ORDER BY position DESC LIMIT 100) AS newest"
        )?;
        Ok(mark)
    }

    /// Items that ended without being worked on, in order: parents whose last child ended, and items that need a failed one.
    pub async fn list_ended_with_others(&self, ended: &EndedBetween) -> Result<Vec<WorkItem>> {
        let rows: Vec<EventColumns> = sql!(
            self.db().read(),
            fetch_all,
            "SELECT work_items.*, (SELECT string_agg(needs, ' ' ORDER BY position) FROM work_dependencies WHERE item = work_items.id) AS depends_on,
                 events.kind AS event_kind, events.payload AS change
             FROM events JOIN work_items ON work_items.id = events.subject AND work_items.status = events.kind
             WHERE events.topic = 'item' AND events.position > $1 AND events.position <= $2 AND events.kind IN ('done', 'failed')
                 AND ($3 = '' OR work_items.family = (SELECT family FROM work_items of_it WHERE of_it.id = $3))
             ORDER BY events.position",
            ended.after,
            ended.until,
            ended.connected_with.as_ref().map_or("", WorkItemId::as_str)
        )?;
        let unworked = [WorkStatus::New, WorkStatus::Ready, WorkStatus::Blocked].map(Some);
        rows.into_iter().filter(|row| unworked.contains(&row.change.0.from)).map(|row| row.item.try_into()).collect()
    }

    /// One line per item that changed after `since` until `until`, earliest change first. Items with the same status at both ends are left
    /// out.
    pub async fn list_items_changed(&self, since: DateTime<Utc>, until: DateTime<Utc>) -> Result<Vec<ItemChange>> {
        let rows: Vec<EventColumns> = sql!(
            self.db().read(),
            fetch_all,
            "SELECT work_items.*, (SELECT string_agg(needs, ' ' ORDER BY position) FROM work_dependencies WHERE item = work_items.id) AS depends_on,
                 events.kind AS event_kind, events.payload AS change
             FROM events JOIN work_items ON work_items.id = events.subject
             WHERE events.topic = 'item' AND events.at > $1 AND events.at <= $2 ORDER BY events.position",
            since,
            until
        )?;
        let mut changes: Vec<ItemChange> = Vec::new();
        for row in rows {
            let (item, to) = (WorkItem::try_from(row.item)?, row.event_kind.0);
            if let Some(known) = changes.iter_mut().find(|change| change.item.id == item.id) {
                known.to = to;
            } else {
                changes.push(ItemChange { item, from: row.change.0.from, to });
            }
        }
        changes.retain(|change| change.from != Some(change.to));
        Ok(changes)
    }
}

/// Records that an item has its status now. `from` is none for a new item.
pub(crate) async fn insert_event(
    transaction: &mut Transaction,
    item: &WorkItem,
    from: Option<WorkStatus>,
    note: Option<&str>,
    at: DateTime<Utc>,
) -> Result<()> {
    events::record(transaction, &event_of(item, from, note, at)).await
}

/// The event that an item has its status now.
pub(in crate::features::backlog::store) fn event_of(
    item: &WorkItem,
    from: Option<WorkStatus>,
    note: Option<&str>,
    at: DateTime<Utc>,
) -> Event {
    let event = Event::new(ITEMS, item.id.as_str(), item.status.as_str(), at).seen_by(Audience::Team);
    let event = event.with("from", from.map(WorkStatus::as_str)).with("note", note.map(plain)).with("run", item.run);
    match (from, &item.origin, &item.persona) {
        (None, Origin::Person { id, name, .. }, _) => event.by(&Actor::Person { id: id.clone(), name: name.clone() }),
        (Some(from), _, Some(persona)) if [from, item.status].contains(&WorkStatus::InProgress) => event.by_persona(persona),
        _ => event,
    }
}

/// The JSON of a [`Change`] before the status, which the statements insert.
const CHANGE_FROM: &str = r#"{"from":""#;

/// The JSON after the status.
fn note_after_status(note: &str) -> String {
    format!(r#"","note":{}}}"#, document(&plain(note)))
}

/// Records that the blocked items without children that needed only this one are ready. Called before their update.
pub(super) async fn insert_releases(transaction: &mut Transaction, needed: &WorkItemId, note: &str, at: DateTime<Utc>) -> Result<()> {
    sql!(
        transaction.on(),
        execute,
        "INSERT INTO events (at, topic, subject, kind, audience, payload)
         SELECT $3, 'item', id, 'ready', 'team', $2 || status || $4 FROM work_items
         WHERE status = 'blocked' AND id IN (SELECT item FROM work_dependencies WHERE needs = $1)
             AND NOT EXISTS (SELECT 1 FROM work_items parts WHERE parts.parent = work_items.id)
             AND NOT EXISTS (SELECT 1 FROM work_dependencies others JOIN work_items needed ON needed.id = others.needs
                 WHERE others.item = work_items.id AND needed.status <> 'done')
         ORDER BY created_at, id",
        needed.as_str(),
        CHANGE_FROM,
        at,
        note_after_status(note)
    )?;
    transaction.announce(ITEMS);
    Ok(())
}

/// Records that all open items that need this one failed. Called before their update.
pub(super) async fn insert_failures(transaction: &mut Transaction, needed: &WorkItemId, why: &str, at: DateTime<Utc>) -> Result<()> {
    sql!(
        transaction.on(),
        execute,
        "INSERT INTO events (at, topic, subject, kind, audience, payload)
         SELECT $3, 'item', id, 'failed', 'team', $2 || status || $4 FROM work_items
         WHERE status NOT IN ('done', 'failed', 'cancelled') AND id IN (SELECT item FROM work_dependencies WHERE needs = $1)
         ORDER BY created_at, id",
        needed.as_str(),
        CHANGE_FROM,
        at,
        note_after_status(why)
    )?;
    transaction.announce(ITEMS);
    Ok(())
}

/// Records that an approval was asked for or decided. The arguments of the call are left out.
pub(crate) async fn insert_approval_event(transaction: &mut Transaction, approval: &Approval, at: DateTime<Utc>) -> Result<()> {
    let event = Event::new(APPROVALS, approval.item.as_str(), approval.state.as_str(), at).seen_by(Audience::Team);
    let event = event.with("approval", approval.id.as_str()).with("tool", plain(&approval.tool)).with("run", approval.run);
    let event = match &approval.by {
        Some(by) if approval.state != ApprovalState::Asked => event.by_name(by),
        _ => event,
    };
    events::record(transaction, &event).await
}
