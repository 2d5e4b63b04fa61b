use chrono::{DateTime, Utc};

use crate::db::{Database, Document, Result, Transaction, Word, document, plain, sql};
use crate::ids::{MemoryId, PersonaSlug};
use crate::memory::{Memory, MemoryKind, MemorySource};

#[derive(sqlx::FromRow)]
struct MemoryColumns {
    id: String,
    #[sqlx(try_from = "String")]
    kind: Word<MemoryKind>,
    persona: Option<String>,
    text: String,
    #[sqlx(try_from = "String")]
    tags: Document<Vec<String>>,
    significance: f64,
    #[sqlx(try_from = "String")]
    source: Document<MemorySource>,
    created_at: DateTime<Utc>,
    ended_at: Option<DateTime<Utc>>,
}

impl From<MemoryColumns> for Memory {
    fn from(row: MemoryColumns) -> Self {
        Self {
            id: row.id.into(),
            kind: row.kind.0,
            persona: row.persona.map(PersonaSlug::new),
            text: row.text,
            tags: row.tags.0,
            significance: row.significance,
            source: row.source.0,
            created_at: row.created_at,
            ended_at: row.ended_at,
        }
    }
}

impl Database {
    /// Stores all memories or none. Existing ones are not changed.
    pub async fn record_memories(&self, memories: &[Memory]) -> Result<()> {
        let mut transaction = self.db().begin().await?;
        insert_memories(&mut transaction, memories).await?;
        transaction.commit().await
    }

    /// Up to `limit` active lessons of a persona and the team, by significance, then newest first.
    pub async fn list_lessons(&self, persona: &PersonaSlug, limit: u32) -> Result<Vec<Memory>> {
        let rows: Vec<MemoryColumns> = sql!(
            self.db().read(),
            fetch_all,
            "SELECT * FROM memories WHERE kind = 'lesson' AND ended_at IS NULL AND (persona IS NULL OR persona = $1)
             ORDER BY significance DESC, created_at DESC, id DESC LIMIT $2",
            persona.as_str(),
            i64::from(limit)
        )?;
        Ok(rows.into_iter().map(Memory::from).collect())
    }

    /// The newest lessons of all personas, including ended ones.
    pub async fn list_learnt(&self, limit: u32) -> Result<Vec<Memory>> {
        let rows: Vec<MemoryColumns> = sql!(
            self.db().read(),
            fetch_all,
            "SELECT * FROM memories WHERE kind = 'lesson' ORDER BY created_at DESC, id DESC LIMIT $1",
            i64::from(limit)
        )?;
        Ok(rows.into_iter().map(Memory::from).collect())
    }

    /// The number of lessons and of ended lessons. Equal numbers mean an unchanged list. The newest lesson is no proof, because of two
    /// concurrent ones the older can be stored second.
    pub async fn count_learnt(&self) -> Result<(i64, i64)> {
        sql!(self.db().read(), fetch_one, "SELECT COUNT(*), COUNT(ended_at) FROM memories WHERE kind = 'lesson'")
    }

    /// Ends a memory, so that it is not used any more. False if it has ended or does not exist.
    pub async fn end_memory(&self, memory: &MemoryId, at: DateTime<Utc>) -> Result<bool> {
        let ended =
            sql!(self.db().write()?, execute, "UPDATE memories SET ended_at = $2 WHERE id = $1 AND ended_at IS NULL", memory.as_str(), at)?;
        Ok(ended > 0)
    }
}

pub async fn insert_memories(transaction: &mut Transaction, memories: &[Memory]) -> Result<()> {
    for memory in memories {
        sql!(
            transaction.on(),
            execute,
            "INSERT INTO memories (id, kind, persona, text, tags, significance, source, created_at, ended_at)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT (id) DO NOTHING",
            memory.id.as_str(),
            memory.kind.as_str(),
            memory.persona.as_ref().map(PersonaSlug::as_str),
            plain(&memory.text),
            document(&memory.tags),
            memory.significance,
            document(&memory.source),
            memory.created_at,
            memory.ended_at
        )?;
    }
    Ok(())
}
