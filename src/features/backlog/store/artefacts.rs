//! Artefacts: what items made, with the content. Those of the item's current run are its result.

use crate::features::backlog::model::{Artefact, ArtefactFacts, WorkItem};
use crate::store::Store;
use kernel::db::{Result, Transaction, count, sql};
use kernel::ids::WorkItemId;

#[derive(sqlx::FromRow)]
struct FactsColumns {
    name: String,
    media_type: String,
    #[sqlx(try_from = "i64")]
    bytes: u64,
    sha256: String,
}

#[derive(sqlx::FromRow)]
struct ArtefactColumns {
    #[sqlx(flatten)]
    facts: FactsColumns,
    content: Vec<u8>,
}

impl From<FactsColumns> for ArtefactFacts {
    fn from(row: FactsColumns) -> Self {
        Self { name: row.name, media_type: row.media_type, bytes: row.bytes, sha256: row.sha256 }
    }
}

impl From<ArtefactColumns> for Artefact {
    fn from(row: ArtefactColumns) -> Self {
        Self { facts: row.facts.into(), content: row.content }
    }
}

/// Stores what a run made, in place of what an earlier run did.
pub(super) async fn insert_artefacts(transaction: &mut Transaction, item: &WorkItemId, run: u32, artefacts: &[Artefact]) -> Result<()> {
    sql!(transaction.on(), execute, "DELETE FROM artefacts WHERE item = $1", item.as_str())?;
    for (position, artefact) in (0_i64..).zip(artefacts) {
        sql!(
            transaction.on(),
            execute,
            "INSERT INTO artefacts (item, run, position, name, media_type, bytes, sha256, content) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
            item.as_str(),
            i64::from(run),
            position,
            artefact.facts.name.as_str(),
            artefact.facts.media_type.as_str(),
            count(artefact.facts.bytes),
            artefact.facts.sha256.as_str(),
            artefact.content.as_slice()
        )?;
    }
    Ok(())
}

impl Store {
    /// The files of an item's result, in order.
    pub async fn list_artefacts(&self, item: &WorkItemId) -> Result<Vec<ArtefactFacts>> {
        let rows: Vec<FactsColumns> = sql!(
            self.db().read(),
            fetch_all,
            "SELECT name, media_type, bytes, sha256 FROM artefacts JOIN work_items ON work_items.id = artefacts.item AND work_items.run = artefacts.run
             WHERE artefacts.item = $1 ORDER BY position",
            item.as_str()
        )?;
        Ok(rows.into_iter().map(ArtefactFacts::from).collect())
    }

    /// The files of the run before, if they were sent back and the item was not changed since.
    pub async fn list_rejected_files(&self, item: &WorkItem) -> Result<Vec<ArtefactFacts>> {
        let Some(before) = item.run.checked_sub(1) else { return Ok(Vec::new()) };
        let rows: Vec<FactsColumns> = sql!(
            self.db().read(),
            fetch_all,
            "SELECT name, media_type, bytes, sha256 FROM artefacts
             WHERE item = $1 AND run = $2
                 AND EXISTS (SELECT 1 FROM reviews WHERE reviews.item = $1 AND reviews.run = $2 AND NOT accepted)
                 AND NOT EXISTS (
                 SELECT 1 FROM events WHERE topic = 'item' AND subject = $1 AND kind = 'new' AND events.position > (
                     SELECT MAX(position) FROM events WHERE topic = 'item' AND subject = $1 AND kind IN ('in_review', 'done')))
             ORDER BY artefacts.position",
            item.id.as_str(),
            i64::from(before)
        )?;
        Ok(rows.into_iter().map(ArtefactFacts::from).collect())
    }

    /// The files of an item's result with their contents.
    pub async fn read_artefacts(&self, item: &WorkItemId) -> Result<Vec<Artefact>> {
        let rows: Vec<ArtefactColumns> = sql!(
            self.db().read(),
            fetch_all,
            "SELECT name, media_type, bytes, sha256, content FROM artefacts
                 JOIN work_items ON work_items.id = artefacts.item AND work_items.run = artefacts.run
             WHERE artefacts.item = $1 ORDER BY position",
            item.as_str()
        )?;
        Ok(rows.into_iter().map(Artefact::from).collect())
    }

    /// The items with a file of this name in their result, with or without a folder, the one that was changed last first.
    pub(crate) async fn list_items_with_file(&self, name: &str, limit: u32) -> Result<Vec<WorkItemId>> {
        let rows: Vec<(String,)> = sql!(
            self.db().read(),
            fetch_all,
            "SELECT work_items.id FROM artefacts JOIN work_items ON work_items.id = artefacts.item AND work_items.run = artefacts.run
             WHERE artefacts.name = $1 OR substr(artefacts.name, length(artefacts.name) - length($1)) = '/' || $1
             GROUP BY work_items.id, work_items.updated_at ORDER BY work_items.updated_at DESC, work_items.id DESC LIMIT $2",
            name,
            i64::from(limit)
        )?;
        Ok(rows.into_iter().map(|(id,)| id.into()).collect())
    }

    /// One file of an item's result by its place, from 0.
    pub async fn find_artefact(&self, item: &WorkItemId, position: u32) -> Result<Option<Artefact>> {
        let row: Option<ArtefactColumns> = sql!(
            self.db().read(),
            fetch_optional,
            "SELECT name, media_type, bytes, sha256, content FROM artefacts
                 JOIN work_items ON work_items.id = artefacts.item AND work_items.run = artefacts.run
             WHERE artefacts.item = $1 AND position = $2",
            item.as_str(),
            i64::from(position)
        )?;
        Ok(row.map(Artefact::from))
    }
}
