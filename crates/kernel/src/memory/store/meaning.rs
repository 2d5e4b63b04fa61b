//! Vectors of a sentence model.

use crate::db::{Database, Document, Result, Transaction, sql};
use crate::ids::MemoryId;
use crate::memory::Origin;

/// A memory without a vector.
pub(in crate::memory) struct Missing {
    pub memory: MemoryId,
    pub text: String,
    /// The text that the vector is made of.
    pub read: String,
}

impl Database {
    /// Up to `limit` memories in use that have no vector of a model, newest first.
    pub(in crate::memory) async fn list_without_meaning(&self, model: &str, limit: u32) -> Result<Vec<Missing>> {
        let rows: Vec<(String, String, Option<String>)> = sql!(
            self.db().read(),
            fetch_all,
            "SELECT id, text, origin FROM memories
             WHERE ended_at IS NULL AND text <> '' AND (meaning_model IS NULL OR meaning_model <> $1)
             ORDER BY created_at DESC, id LIMIT $2",
            model,
            i64::from(limit)
        )?;
        let with_heading = |(id, text, origin): (String, String, Option<String>)| {
            let origin = origin.map(Document::<Origin>::read).transpose()?;
            let heading = origin.and_then(|origin| origin.part?.heading);
            let read = heading.map_or_else(|| text.clone(), |heading| format!("{heading}: {text}"));
            Ok(Missing { memory: id.into(), text, read })
        };
        rows.into_iter().map(with_heading).collect()
    }
}

/// Stores the vector of a memory, unless its text has changed since. An empty vector says that the model has none for it.
pub(in crate::memory) async fn record_meaning(
    transaction: &mut Transaction,
    missing: &Missing,
    (model, vector): (&str, &[u8]),
) -> Result<()> {
    sql!(
        transaction.on(),
        execute,
        "UPDATE memories SET meaning = $3, meaning_model = $2 WHERE id = $1 AND ended_at IS NULL AND text = $4",
        missing.memory.as_str(),
        model,
        vector,
        missing.text.as_str()
    )
    .map(drop)
}
