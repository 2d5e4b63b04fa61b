//! Cancellations that people take back. The transaction that cancels an item also writes how each item was that ends with it. Taking it back is one
//! transaction, too: each of them goes on where it was, with its run, its files and its wait. A run in progress goes on as after a crash.

use std::collections::BTreeSet;

use chrono::{DateTime, TimeDelta, Utc};

use crate::features::backlog::model::{Execution, Wait, WorkItem, WorkKind, WorkStatus};
use crate::features::backlog::store::transitions::ItemRecord;
use crate::store::Store;
use kernel::db::{Document, Result, Transaction, Word, document, sql};
use kernel::ids::WorkItemId;

/// How long a cancellation can be taken back.
pub const RESTORABLE: TimeDelta = TimeDelta::hours(1);

/// What came of taking a cancellation back.
#[derive(Debug, Clone, PartialEq)]
pub enum Restored {
    /// The items that go on, in the order in which they were added.
    Back(Vec<WorkItem>),
    /// It was cancelled too long ago, or was changed since.
    TooLate,
    /// It is part of something that is over and does not come back with it.
    InWhatIsOver,
}

#[derive(sqlx::FromRow)]
struct BeforeColumns {
    item: String,
    #[sqlx(try_from = "String")]
    status: Word<WorkStatus>,
    wait: Option<String>,
    not_before: Option<DateTime<Utc>>,
}

/// Writes how the open items of a family are, before `root` is cancelled. The caller holds the family.
pub(super) async fn note_before(transaction: &mut Transaction, root: &WorkItemId, at: DateTime<Utc>) -> Result<()> {
    sql!(transaction.on(), execute, "DELETE FROM cancelled_items WHERE at < $1", at - RESTORABLE)?;
    sql!(transaction.on(), execute, "DELETE FROM cancelled_items WHERE root = $1", root.as_str())?;
    sql!(
        transaction.on(),
        execute,
        "INSERT INTO cancelled_items (root, item, status, wait, not_before, at)
         SELECT $1, id, status, wait, not_before, $2 FROM work_items
         WHERE family = (SELECT family FROM work_items WHERE id = $1) AND status NOT IN ('done', 'failed', 'cancelled')",
        root.as_str(),
        at
    )?;
    Ok(())
}

/// Keeps those that ended with `root`.
pub(super) async fn keep_ended(transaction: &mut Transaction, root: &WorkItemId) -> Result<()> {
    sql!(
        transaction.on(),
        execute,
        "DELETE FROM cancelled_items WHERE root = $1 AND item IN (SELECT work_items.id FROM cancelled_items of_root
             JOIN work_items ON work_items.id = of_root.item
             WHERE of_root.root = $1 AND work_items.status NOT IN ('done', 'failed', 'cancelled'))",
        root.as_str()
    )?;
    Ok(())
}

/// The item whose cancellation ended this one within the last hour.
pub async fn find_root(transaction: &mut Transaction, item: &WorkItemId, at: DateTime<Utc>) -> Result<Option<WorkItemId>> {
    let root: Option<(String,)> = sql!(
        transaction.on(),
        fetch_optional,
        "SELECT root FROM cancelled_items WHERE item = $1 AND at >= $2 ORDER BY at DESC LIMIT 1",
        item.as_str(),
        at - RESTORABLE
    )?;
    Ok(root.map(|(root,)| root.into()))
}

/// Takes the cancellation of `root` back. Items that were changed since stay as they are.
pub async fn restore_in(transaction: &mut Transaction, root: &WorkItemId, by: &str, at: DateTime<Utc>) -> Result<Restored> {
    let Some(cancelled) = ItemRecord::find(transaction, root).await? else { return Ok(Restored::TooLate) };
    let before: Vec<BeforeColumns> = sql!(
        transaction.on(),
        fetch_all,
        "SELECT cancelled_items.item, cancelled_items.status, cancelled_items.wait, cancelled_items.not_before
         FROM cancelled_items CROSS JOIN work_items
         WHERE work_items.id = cancelled_items.item AND cancelled_items.root = $1 AND cancelled_items.at >= $2 AND work_items.updated_at = cancelled_items.at
             AND work_items.status IN ('failed', 'cancelled')
         ORDER BY work_items.created_at, work_items.id",
        root.as_str(),
        at - RESTORABLE
    )?;
    let comes_back = |item: &WorkItemId| before.iter().any(|row| row.item == item.as_str());
    if !comes_back(root) {
        return Ok(Restored::TooLate);
    }
    if let Some(whole) = cancelled.item.parent.as_ref().filter(|whole| !comes_back(whole))
        && ItemRecord::find(transaction, whole).await?.is_some_and(|whole| whole.item.status.is_over())
    {
        return Ok(Restored::InWhatIsOver);
    }
    sql!(transaction.on(), execute, "DELETE FROM cancelled_items WHERE root = $1", root.as_str())?;
    let note = format!("taken back, says {by}");
    let mut back = Vec::new();
    for row in before {
        back.push(WorkItemId::new(row.item.as_str()));
        put_back(transaction, row, &note, at).await?;
    }
    // Only now is it known what each of them waits for.
    let mut items = Vec::new();
    for id in back {
        if let Some(record) = ItemRecord::find(transaction, &id).await?.filter(|record| record.item.status == WorkStatus::Blocked) {
            record.place(transaction, None, at).await?;
        }
        items.extend(ItemRecord::find(transaction, &id).await?.map(|record| record.item));
    }
    reopen_whole_of(transaction, &items, at).await?;
    Ok(Restored::Back(items))
}

/// A whole that was judged without these parts waits for them again.
async fn reopen_whole_of(transaction: &mut Transaction, parts: &[WorkItem], at: DateTime<Utc>) -> Result<()> {
    let wholes: BTreeSet<&WorkItemId> = parts.iter().filter_map(|part| part.parent.as_ref()).collect();
    for whole in wholes {
        if let Some(mut record) = ItemRecord::find(transaction, whole).await?
            && matches!(record.item.status, WorkStatus::InReview | WorkStatus::Waiting)
        {
            record.restart_run();
            record.resume(transaction, "one of its parts was taken back", at).await?;
        }
    }
    Ok(())
}

async fn put_back(transaction: &mut Transaction, before: BeforeColumns, note: &str, at: DateTime<Utc>) -> Result<()> {
    let Some(mut record) = ItemRecord::find(transaction, &before.item.into()).await? else { return Ok(()) };
    let is_mission = record.item.kind == WorkKind::Mission;
    if is_mission {
        // The next delivery is another message than the one about its cancellation.
        record.restart_run();
    }
    record.item.outcome = None;
    record.item.wait = before.wait.map(Document::<Wait>::read).transpose()?;
    record.item.not_before = before.not_before;
    let status = match before.status.0 {
        WorkStatus::InProgress => WorkStatus::Ready,
        WorkStatus::InReview if is_mission => WorkStatus::Blocked,
        status => status,
    };
    record.go(transaction, status, Some(note), at).await
}

impl Store {
    /// Takes the cancellation of an item back, with all that ended because of it.
    pub async fn restore_item(&self, item: &WorkItemId, by: &str, at: DateTime<Utc>) -> Result<Restored> {
        let mut transaction = self.db().begin().await?;
        let restored = Box::pin(restore_in(&mut transaction, item, by, at)).await?;
        transaction.commit().await?;
        Ok(restored)
    }

    /// The mission that ended with this item when it was cancelled, and would come back with it.
    pub(in crate::features::backlog) async fn find_mission_ended_with(&self, root: &WorkItemId) -> Result<Option<WorkItemId>> {
        let mission: Option<(String,)> = sql!(
            self.db().read(),
            fetch_optional,
            "SELECT work_items.id FROM cancelled_items JOIN work_items ON work_items.id = cancelled_items.item
             WHERE cancelled_items.root = $1 AND work_items.kind = 'mission'",
            root.as_str()
        )?;
        Ok(mission.map(|(id,)| id.into()))
    }

    /// Whether an item ended by a cancellation that can still be taken back.
    pub async fn can_be_restored(&self, item: &WorkItemId, at: DateTime<Utc>) -> Result<bool> {
        let (can,): (bool,) = sql!(
            self.db().read(),
            fetch_one,
            "SELECT EXISTS (SELECT 1 FROM cancelled_items JOIN work_items ON work_items.id = cancelled_items.item
                 WHERE cancelled_items.item = $1 AND cancelled_items.at >= $2 AND work_items.updated_at = cancelled_items.at
                     AND work_items.status IN ('failed', 'cancelled'))",
            item.as_str(),
            at - RESTORABLE
        )?;
        Ok(can)
    }

    /// Whether there is work in an item that is lost with it: a persona has begun with it or one of its parts, or made something.
    pub async fn has_work(&self, item: &WorkItemId) -> Result<bool> {
        let (has,): (bool,) = sql!(
            self.db().read(),
            fetch_one,
            "SELECT EXISTS (SELECT 1 FROM work_items WHERE (id = $1 OR parent = $1) AND status <> 'cancelled'
                 AND execution IN ($2, $3, $4) AND (status IN ('done', 'in_review') OR product IS NOT NULL
                     OR EXISTS (SELECT 1 FROM work_journal WHERE work_journal.item = work_items.id)
                     OR EXISTS (SELECT 1 FROM artefacts WHERE artefacts.item = work_items.id)))",
            item.as_str(),
            document(&Execution::Research),
            document(&Execution::Write),
            document(&Execution::Build)
        )?;
        Ok(has)
    }
}
