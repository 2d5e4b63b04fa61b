//! Journals and products of runs.

use chrono::{DateTime, Utc};

use crate::features::backlog::model::{JournalEntry, Product, WorkItem};
use crate::features::backlog::store::transitions::ItemRecord;
use crate::store::Store;
use kernel::db::{Document, Result, Transaction, document, sql};
use kernel::ids::WorkItemId;
use kernel::jobs::JobContext;

/// Whether the current run of an item has begun.
pub(in crate::features::backlog::store) async fn has_journal(transaction: &mut Transaction, item: &WorkItem) -> Result<bool> {
    let (has_begun,): (bool,) = sql!(
        transaction.on(),
        fetch_one,
        "SELECT EXISTS (SELECT 1 FROM work_journal WHERE item = $1 AND run = $2)",
        item.id.as_str(),
        i64::from(item.run)
    )?;
    Ok(has_begun)
}

/// Adds an entry to the journal of an item's run. The caller holds its job, or has cancelled it.
pub(in crate::features::backlog::store) async fn insert_entry(
    transaction: &mut Transaction,
    item: &WorkItem,
    entry: &JournalEntry,
    at: DateTime<Utc>,
) -> Result<()> {
    sql!(
        transaction.on(),
        execute,
        "INSERT INTO work_journal (item, run, position, entry, at)
         VALUES ($1, $2, (SELECT COALESCE(MAX(position) + 1, 0) FROM work_journal WHERE item = $1 AND run = $2), $3, $4)",
        item.id.as_str(),
        i64::from(item.run),
        document(entry),
        at
    )?;
    Ok(())
}

#[derive(sqlx::FromRow)]
struct EntryColumns {
    #[sqlx(try_from = "String")]
    entry: Document<JournalEntry>,
    at: DateTime<Utc>,
}

impl Store {
    /// Appends to the journal of the item that a job runs. False if the job is lost.
    pub async fn append_journal(&self, job: &JobContext, item: &WorkItem, entries: &[JournalEntry], at: DateTime<Utc>) -> Result<bool> {
        let mut transaction = self.db().begin().await?;
        // Locks the job: a worker that takes it back waits for this write, or this write sees that the job is lost.
        if !job.hold(&mut transaction).await? {
            return Ok(false);
        }
        for entry in entries {
            insert_entry(&mut transaction, item, entry, at).await?;
        }
        transaction.commit().await?;
        Ok(true)
    }

    /// The journal of a run, in order.
    pub async fn list_journal(&self, item: &WorkItemId, run: u32) -> Result<Vec<(JournalEntry, DateTime<Utc>)>> {
        let rows: Vec<EntryColumns> = sql!(
            self.db().read(),
            fetch_all,
            "SELECT entry, at FROM work_journal WHERE item = $1 AND run = $2 ORDER BY position",
            item.as_str(),
            i64::from(run)
        )?;
        Ok(rows.into_iter().map(|row| (row.entry.0, row.at)).collect())
    }

    /// The journals of the runs before an item's current one, in order.
    pub async fn list_earlier_journals(&self, item: &WorkItem) -> Result<Vec<JournalEntry>> {
        let rows: Vec<EntryColumns> = sql!(
            self.db().read(),
            fetch_all,
            "SELECT entry, at FROM work_journal WHERE item = $1 AND run < $2 ORDER BY run, position",
            item.id.as_str(),
            i64::from(item.run)
        )?;
        Ok(rows.into_iter().map(|row| row.entry.0).collect())
    }

    /// The runs of an item with a journal, oldest first.
    pub async fn list_runs(&self, item: &WorkItemId) -> Result<Vec<u32>> {
        let rows: Vec<(i64,)> =
            sql!(self.db().read(), fetch_all, "SELECT DISTINCT run FROM work_journal WHERE item = $1 ORDER BY run", item.as_str())?;
        Ok(rows.into_iter().filter_map(|(run,)| u32::try_from(run).ok()).collect())
    }

    /// Stores the product of a run before it is verified. False if the job is lost.
    pub async fn record_product(&self, job: &JobContext, product: &Product, at: DateTime<Utc>) -> Result<bool> {
        let mut transaction = self.db().begin().await?;
        let Some(mut record) = ItemRecord::hold(&mut transaction, job).await? else { return Ok(false) };
        record.product = Some(product.clone());
        record.save(&mut transaction, at).await?;
        transaction.commit().await?;
        Ok(true)
    }

    /// The product of an item's current run, not verified.
    pub async fn find_product(&self, item: &WorkItemId) -> Result<Option<Product>> {
        let row: Option<(Option<String>,)> =
            sql!(self.db().read(), fetch_optional, "SELECT product FROM work_items WHERE id = $1", item.as_str())?;
        row.and_then(|(product,)| product).map(Document::read).transpose()
    }
}
