//! Memories in the database.

mod archiving;
mod changing;
mod finding;
mod meaning;
mod saying;
mod searching;
mod spans;

use chrono::{DateTime, Utc};

use crate::db::{Database, Document, Readable, Result, StoreError, Transaction, Word, document, plain, sql};
use crate::ids::{ChannelId, MemoryId, MessageId, PersonaSlug};
use crate::memory::search::{Vector, to_store};
use crate::memory::{Memory, MemoryKind, MemorySource, Origin, Scope, Teacher};
use crate::text::essence;

pub use archiving::archiving;
pub use changing::{confirm_memory, forget_memories_of, forget_memory, replace_memory, save_memory, save_memory_as};
pub(in crate::memory) use meaning::record_meaning;
pub use saying::{delete_said, remember_said, reword_said};
pub use spans::{delete_span, save_span, span_retention};

/// The stored form of [`MemorySource::WorkItem`], as a pattern.
const OF_ITEM: &str = "{\"work_item\"%";

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
    place: Option<String>,
    taught_by: Option<String>,
    held: bool,
    replaces: Option<String>,
    forgotten_by: Option<String>,
    origin: Option<String>,
}

impl TryFrom<MemoryColumns> for Memory {
    type Error = StoreError;

    fn try_from(row: MemoryColumns) -> Result<Self> {
        Ok(Self {
            id: row.id.into(),
            kind: row.kind.0,
            persona: row.persona.map(PersonaSlug::new),
            text: row.text,
            tags: row.tags.0,
            significance: row.significance,
            source: row.source.0,
            created_at: row.created_at,
            ended_at: row.ended_at,
            place: row.place.map(ChannelId::new),
            taught_by: row.taught_by.map(Document::<Teacher>::read).transpose()?,
            held: row.held,
            replaces: row.replaces.map(MemoryId::new),
            forgotten_by: row.forgotten_by,
            origin: row.origin.map(Document::<Box<Origin>>::read).transpose()?,
        })
    }
}

fn read(database: &Database, rows: Vec<Readable<MemoryColumns>>) -> Vec<Memory> {
    database.db().read_each("memories", rows, Memory::try_from)
}

impl Database {
    /// Stores all memories or none. Existing ones are not changed.
    pub async fn record_memories(&self, memories: &[Memory]) -> Result<()> {
        let mut transaction = self.db().begin().await?;
        insert_memories(&mut transaction, memories).await?;
        transaction.commit().await
    }

    /// Up to `limit` active lessons of a persona and the team that may be told in `scope`, by significance, then newest first.
    pub async fn list_lessons_in(&self, persona: &PersonaSlug, scope: &Scope, limit: u32) -> Result<Vec<Memory>> {
        let [place, parent] = scope.heard();
        Ok(read(
            self,
            sql!(
                self.db().read(),
                fetch_all,
                "SELECT * FROM memories WHERE kind = 'lesson' AND ended_at IS NULL AND NOT held AND (persona IS NULL OR persona = $1)
                 AND (place IS NULL OR place = $2 OR place = $3)
             ORDER BY significance DESC, created_at DESC, id DESC LIMIT $4",
                persona.as_str(),
                place,
                parent,
                i64::from(limit)
            )?,
        ))
    }

    /// What is learnt from items that ended since a time and may be told in `scope`, the newest first. Also what a person has not confirmed yet, which
    /// is told as text from outside.
    pub async fn list_outcomes(&self, scope: &Scope, since: DateTime<Utc>, limit: u32) -> Result<Vec<Memory>> {
        let [place, parent] = scope.heard();
        Ok(read(
            self,
            sql!(
                self.db().read(),
                fetch_all,
                "SELECT * FROM memories WHERE kind = 'lesson' AND ended_at IS NULL AND forgotten_by IS NULL AND created_at >= $1
                 AND source LIKE $5 AND (place IS NULL OR place = $2 OR place = $3)
             ORDER BY created_at DESC, id DESC LIMIT $4",
                since,
                place,
                parent,
                i64::from(limit),
                OF_ITEM
            )?,
        ))
    }

    /// The same for memories that may be told everywhere.
    pub async fn list_lessons(&self, persona: &PersonaSlug, limit: u32) -> Result<Vec<Memory>> {
        self.list_lessons_in(persona, &Scope::team(), limit).await
    }

    /// The newest lessons of all personas, including ended ones. Without those of private places, and without what waits for a person.
    pub async fn list_learnt(&self, limit: u32) -> Result<Vec<Memory>> {
        Ok(read(
            self,
            sql!(
                self.db().read(),
                fetch_all,
                "SELECT * FROM memories WHERE kind = 'lesson' AND place IS NULL AND NOT held AND forgotten_by IS NULL
             ORDER BY created_at DESC, id DESC LIMIT $1",
                i64::from(limit)
            )?,
        ))
    }

    /// The numbers of lessons, of ended, of held and of forgotten ones. Equal numbers mean an unchanged list. The newest lesson alone would not prove
    /// that, because the older of two concurrent lessons can be stored second.
    pub async fn count_learnt(&self) -> Result<(i64, i64, i64, i64)> {
        sql!(
            self.db().read(),
            fetch_one,
            "SELECT COUNT(*), COUNT(ended_at), COUNT(CASE WHEN held THEN 1 END), COUNT(forgotten_by)
             FROM memories WHERE kind = 'lesson' AND place IS NULL"
        )
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
        let text = plain(&memory.text);
        let searched = memory.searched();
        sql!(
            transaction.on(),
            execute,
            "INSERT INTO memories (id, kind, persona, text, tags, significance, source, created_at, ended_at, place, taught_by, held, replaces,
                 forgotten_by, origin, message, short, essence, words, vector)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20) ON CONFLICT (id) DO NOTHING",
            memory.id.as_str(),
            memory.kind.as_str(),
            memory.persona.as_ref().map(PersonaSlug::as_str),
            &text,
            document(&memory.tags),
            memory.significance,
            document(&memory.source),
            memory.created_at,
            memory.ended_at,
            memory.place.as_ref().map(ChannelId::as_str),
            memory.taught_by.as_ref().map(document),
            memory.held,
            memory.replaces.as_ref().map(MemoryId::as_str),
            memory.forgotten_by.as_deref(),
            memory.origin.as_ref().map(document),
            memory.message().map(MessageId::as_str),
            memory.short_id(),
            essence(&text),
            to_store(&searched),
            Vector::of(&searched).to_bytes()
        )?;
    }
    Ok(())
}
