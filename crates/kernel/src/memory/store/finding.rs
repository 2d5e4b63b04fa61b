use super::{MemoryColumns, read};
use crate::db::{Backend, Database, Document, Result, bounded, document, sql};
use crate::ids::{MemoryId, MessageId, PersonaSlug};
use crate::memory::search::{Candidate, Recall, Vector, Wanted, to_store};
use crate::memory::{Memory, MemorySource, Scope, short_id};
use crate::text::essence;

/// How many memories of before get their words in one transaction.
const AT_ONCE: usize = 500;

impl Database {
    /// Candidates that share a word with a question. The full text search of each database has its own language.
    pub(in crate::memory) async fn find_by_words(&self, wanted: &Wanted, asked: &Recall<'_>, limit: i64) -> Result<Vec<Candidate>> {
        let (persona, [place, parent]) = (asked.persona.map_or("", PersonaSlug::as_str), asked.scope.heard());
        let rows: Vec<MemoryColumns> = match self.db().read() {
            Backend::Sqlite(pool) => {
                // The words come first: for each memory once more, they would take seconds.
                let query = sqlx::query_as(
                    "SELECT memories.* FROM memory_words CROSS JOIN memories ON memories.number = memory_words.rowid
                     WHERE memory_words MATCH $1 AND kind IN ('lesson', 'fact') AND ended_at IS NULL AND NOT held
                         AND ($2 = '' OR persona IS NULL OR persona = $2) AND (place IS NULL OR place = $3 OR place = $4)
                     ORDER BY rank LIMIT $5",
                );
                query.bind(wanted.for_sqlite()).bind(persona).bind(place).bind(parent).bind(limit).fetch_all(pool).await?
            }
            Backend::Postgres(pool) => {
                let query = sqlx::query_as(
                    "SELECT id, kind, persona, text, tags, significance, source, created_at, ended_at, place, taught_by, held, replaces,
                         forgotten_by, words, vector
                     FROM memories, to_tsquery('simple', $1) AS wanted
                     WHERE search @@ wanted AND kind IN ('lesson', 'fact') AND ended_at IS NULL AND NOT held
                         AND ($2 = '' OR persona IS NULL OR persona = $2) AND (place IS NULL OR place = $3 OR place = $4)
                     ORDER BY ts_rank(search, wanted) DESC, created_at DESC LIMIT $5",
                );
                let query = query.bind(wanted.for_postgres()).bind(persona).bind(place).bind(parent).bind(limit);
                bounded(query.fetch_all(pool)).await?
            }
        };
        rows.into_iter().map(MemoryColumns::into_candidate).collect()
    }

    /// The most significant memories that may be told, then the newest. By the index in this order, and not by the one of kinds.
    pub(in crate::memory) async fn list_significant(&self, asked: &Recall<'_>, limit: i64) -> Result<Vec<Candidate>> {
        let [place, parent] = asked.scope.heard();
        let rows: Vec<MemoryColumns> = sql!(
            self.db().read(),
            fetch_all,
            "SELECT * FROM memories WHERE (kind || '') IN ('lesson', 'fact') AND ended_at IS NULL AND NOT held
                 AND ($1 = '' OR persona IS NULL OR persona = $1) AND (place IS NULL OR place = $2 OR place = $3)
             ORDER BY significance DESC, created_at DESC, id DESC LIMIT $4",
            asked.persona.map_or("", PersonaSlug::as_str),
            place,
            parent,
            limit
        )?;
        rows.into_iter().map(MemoryColumns::into_candidate).collect()
    }

    /// What people taught and may be told in `scope`, the newest first.
    pub async fn list_taught(&self, scope: &Scope, limit: usize) -> Result<Vec<Memory>> {
        let [place, parent] = scope.heard();
        read(sql!(
            self.db().read(),
            fetch_all,
            "SELECT * FROM memories WHERE kind = 'fact' AND ended_at IS NULL AND NOT held AND (place IS NULL OR place = $1 OR place = $2)
             ORDER BY significance DESC, created_at DESC, id DESC LIMIT $3",
            place,
            parent,
            i64::try_from(limit).unwrap_or(i64::MAX)
        )?)
    }

    /// The memories with an id that a person typed, whatever became of them. More than one by a rare chance.
    pub async fn find_memories(&self, short: &str, scope: &Scope) -> Result<Vec<Memory>> {
        self.derive_missing().await?;
        let [place, parent] = scope.heard();
        read(sql!(
            self.db().read(),
            fetch_all,
            "SELECT * FROM memories WHERE short = $1 AND (place IS NULL OR place = $2 OR place = $3) ORDER BY created_at, id",
            short,
            place,
            parent
        )?)
    }

    pub async fn find_memory(&self, id: &MemoryId) -> Result<Option<Memory>> {
        let row: Option<MemoryColumns> = sql!(self.db().read(), fetch_optional, "SELECT * FROM memories WHERE id = $1", id.as_str())?;
        row.map(Memory::try_from).transpose()
    }

    /// What was learnt from a message and is not forgotten, oldest first.
    pub async fn list_memories_of(&self, message: &MessageId) -> Result<Vec<Memory>> {
        read(sql!(
            self.db().read(),
            fetch_all,
            "SELECT * FROM memories WHERE source = $1 AND forgotten_by IS NULL ORDER BY created_at, id",
            document(&MemorySource::Message(message.clone()))
        )?)
    }

    /// The memory that took the place of another one.
    pub async fn find_successor(&self, id: &MemoryId) -> Result<Option<Memory>> {
        let row: Option<MemoryColumns> = sql!(
            self.db().read(),
            fetch_optional,
            "SELECT * FROM memories WHERE replaces = $1 ORDER BY created_at DESC, id DESC LIMIT 1",
            id.as_str()
        )?;
        row.map(Memory::try_from).transpose()
    }

    /// An active memory with the same words, in the same place, of the same persona.
    pub async fn find_same_memory(&self, memory: &Memory) -> Result<Option<Memory>> {
        let mut transaction = self.db().begin().await?;
        super::changing::find_same(&mut transaction, memory).await
    }

    /// Derives words and vectors of memories from before there were any.
    pub(in crate::memory) async fn derive_missing(&self) -> Result<()> {
        loop {
            let rows: Vec<(String, String, String)> =
                sql!(self.db().read(), fetch_all, "SELECT id, text, tags FROM memories WHERE words IS NULL LIMIT 500")?;
            if rows.is_empty() {
                return Ok(());
            }
            let were_all = rows.len() < AT_ONCE;
            let mut transaction = self.db().begin().await?;
            for (id, text, tags) in rows {
                let id = MemoryId::new(id);
                let tags = Document::<Vec<String>>::read(tags)?.into_iter().filter(|tag| tag != Memory::OUTSIDE);
                let searched = std::iter::once(text.clone()).chain(tags).collect::<Vec<_>>().join(" ");
                sql!(
                    transaction.on(),
                    execute,
                    "UPDATE memories SET short = $2, essence = $3, words = $4, vector = $5 WHERE id = $1 AND words IS NULL",
                    id.as_str(),
                    short_id(&id),
                    essence(&text),
                    to_store(&searched),
                    Vector::of(&searched).to_bytes()
                )?;
            }
            transaction.commit().await?;
            if were_all {
                return Ok(());
            }
        }
    }
}
