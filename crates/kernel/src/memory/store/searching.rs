//! The queries of the search.

use chrono::{DateTime, Utc};

use super::MemoryColumns;
use crate::db::{Backend, Database, Document, Readable, Result, Word, bounded};
use crate::ids::PersonaSlug;
use crate::memory::search::{Entry, Recall, for_postgres, for_sqlite};
use crate::memory::{Memory, MemoryKind, Origin, Teacher};

/// How many changed rows are read at once.
const PAGE: i64 = 5000;

/// Rows that have changed.
pub(in crate::memory) struct Changed {
    pub entries: Vec<Entry>,
    /// Where the next page begins.
    pub next: i64,
    pub has_more: bool,
    /// Where to begin after the last page, if not at `next`.
    pub horizon: Option<i64>,
}

#[derive(sqlx::FromRow)]
struct EntryColumns {
    number: i64,
    #[sqlx(try_from = "String")]
    kind: Word<MemoryKind>,
    persona: Option<String>,
    significance: f64,
    created_at: DateTime<Utc>,
    ended_at: Option<DateTime<Utc>>,
    place: Option<String>,
    taught_by: Option<String>,
    origin: Option<String>,
    message: Option<String>,
    held: bool,
    words: Option<String>,
    vector: Option<Vec<u8>>,
    meaning: Option<Vec<u8>>,
    meaning_model: Option<String>,
    revision: i64,
}

impl EntryColumns {
    fn read(self) -> Result<Entry> {
        let taught_by = self.taught_by.map(Document::<Teacher>::read).transpose()?;
        let origin = self.origin.map(Document::<Origin>::read).transpose()?;
        Ok(Entry {
            number: self.number,
            kind: self.kind.0,
            persona: self.persona,
            place: self.place,
            person: taught_by.or(origin.map(|origin| origin.by)),
            message: self.message,
            at: self.created_at,
            significance: self.significance,
            is_live: self.ended_at.is_none() && !self.held,
            words: self.words.unwrap_or_default(),
            hashed: self.vector.unwrap_or_default(),
            meaning: self.meaning_model.zip(self.meaning),
        })
    }
}

#[derive(sqlx::FromRow)]
struct NumberedColumns {
    number: i64,
    #[sqlx(flatten)]
    memory: MemoryColumns,
}

impl Database {
    /// The rows that have changed since a cursor. On PostgreSQL the cursor is the oldest transaction that was not over before the first page. So no
    /// row is missed, but a row may be read twice.
    pub(in crate::memory) async fn list_changed_entries(&self, cursor: i64) -> Result<Changed> {
        let (rows, horizon): (Vec<Readable<EntryColumns>>, Option<i64>) = match self.db().read() {
            Backend::Sqlite(pool) => {
                let rows = sqlx::query_as(
                    "SELECT id, number, kind, persona, significance, created_at, ended_at, place, taught_by, origin, message, held, words, vector,
                         meaning, meaning_model, revision
                     FROM memories WHERE revision > $1 ORDER BY revision LIMIT $2",
                );
                // Older rows have no revision, so they are read by their numbers.
                let first = sqlx::query_as(
                    "SELECT id, number, kind, persona, significance, created_at, ended_at, place, taught_by, origin, message, held, words, vector,
                         meaning, meaning_model, revision
                     FROM memories WHERE revision = 0",
                );
                let mut all: Vec<Readable<EntryColumns>> = if cursor < 0 { first.fetch_all(pool).await? } else { Vec::new() };
                all.extend(rows.bind(cursor.max(0)).bind(PAGE).fetch_all(pool).await?);
                (all, None)
            }
            Backend::Postgres(pool) => {
                // Read before the rows: a transaction that ends in between is then read again.
                let horizon = sqlx::query_as(
                    "SELECT pg_snapshot_xmin(pg_current_snapshot())::text::bigint, COALESCE((SELECT MAX(revision) FROM memories) >= $1, FALSE)",
                );
                let (horizon, has_changed): (i64, bool) = bounded(horizon.bind(cursor).fetch_one(pool)).await?;
                if !has_changed {
                    return Ok(Changed { entries: Vec::new(), next: cursor.max(0), has_more: false, horizon: Some(horizon) });
                }
                // All rows of one transaction at once, because nothing tells them apart.
                let rows = sqlx::query_as(
                    "SELECT id, number, kind, persona, significance, created_at, ended_at, place, taught_by, origin, message, held, words, vector,
                         meaning, meaning_model, revision
                     FROM memories
                     WHERE revision >= $1 AND revision <= (
                         SELECT COALESCE(MAX(page.revision), $1)
                         FROM (SELECT revision FROM memories WHERE revision >= $1 ORDER BY revision LIMIT $2) page)",
                );
                (bounded(rows.bind(cursor).bind(PAGE).fetch_all(pool)).await?, Some(horizon))
            }
        };
        let is_full = i64::try_from(rows.len()).is_ok_and(|count| count >= PAGE);
        let read = self.db().read_each("memories", rows, |row: EntryColumns| Ok((row.revision, row.read()?)));
        let last = read.iter().map(|(revision, _)| *revision).max();
        let next = last.map_or(cursor, |last| last + i64::from(horizon.is_some())).max(0);
        let entries = read.into_iter().map(|(_, entry)| entry).collect();
        // A page without any row that can be read would be read again and again.
        Ok(Changed { entries, next, has_more: is_full && last.is_some(), horizon })
    }

    /// The numbers of rows that have all words of one of the groups. The full text search of each database has its own language.
    pub(in crate::memory) async fn find_numbers_by_words(&self, groups: &[Vec<String>], limit: usize) -> Result<Vec<i64>> {
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        match self.db().read() {
            Backend::Sqlite(pool) => {
                // As one text, because reading a row costs more than finding it. The newest first.
                let query = sqlx::query_scalar(
                    "SELECT json_group_array(number) FROM (
                         SELECT rowid AS number FROM memory_words WHERE memory_words MATCH $1 ORDER BY rowid DESC LIMIT $2)",
                );
                let numbers: String = query.bind(for_sqlite(groups)).bind(limit).fetch_one(pool).await?;
                Document::read(numbers)
            }
            Backend::Postgres(pool) => {
                let query = sqlx::query_scalar(
                    "SELECT COALESCE(array_agg(number), '{}') FROM (
                         SELECT number FROM memory_words WHERE search @@ to_tsquery('simple', $1) ORDER BY number DESC LIMIT $2) found",
                );
                Ok(bounded(query.bind(for_postgres(groups)).bind(limit).fetch_one(pool)).await?)
            }
        }
    }

    /// The memories with these numbers, as far as they may be told, whatever their kind.
    pub(in crate::memory) async fn list_by_numbers(&self, numbers: &[i64], asked: &Recall<'_>) -> Result<Vec<(i64, Memory)>> {
        let (persona, [place, parent]) = (asked.persona.map_or("", PersonaSlug::as_str), asked.scope.heard());
        let rows: Vec<Readable<NumberedColumns>> = match self.db().read() {
            Backend::Sqlite(pool) => {
                let query = sqlx::query_as(
                    "SELECT * FROM memories WHERE number IN (SELECT value FROM json_each($1)) AND ended_at IS NULL AND NOT held
                         AND ($2 = '' OR persona IS NULL OR persona = $2) AND (place IS NULL OR place = $3 OR place = $4)",
                );
                let numbers = crate::db::document(&numbers);
                query.bind(numbers).bind(persona).bind(place).bind(parent).fetch_all(pool).await?
            }
            Backend::Postgres(pool) => {
                // The offset makes PostgreSQL find the rows by their numbers. Without statistics, it would also read a whole index of rows in use.
                let query = sqlx::query_as(
                    "SELECT * FROM (SELECT * FROM memories WHERE number = ANY($1) OFFSET 0) numbered WHERE ended_at IS NULL AND NOT held
                         AND ($2 = '' OR persona IS NULL OR persona = $2) AND (place IS NULL OR place = $3 OR place = $4)",
                );
                bounded(query.bind(numbers).bind(persona).bind(place).bind(parent).fetch_all(pool)).await?
            }
        };
        Ok(self.db().read_each("memories", rows, |row: NumberedColumns| Ok((row.number, row.memory.try_into()?))))
    }

    /// Which of these rows exist.
    pub(in crate::memory) async fn list_existing(&self, numbers: &[i64]) -> Result<Vec<i64>> {
        Ok(match self.db().read() {
            Backend::Sqlite(pool) => {
                let query = sqlx::query_scalar("SELECT number FROM memories WHERE number IN (SELECT value FROM json_each($1))");
                query.bind(crate::db::document(&numbers)).fetch_all(pool).await?
            }
            Backend::Postgres(pool) => {
                let query = sqlx::query_scalar("SELECT number FROM memories WHERE number = ANY($1)");
                bounded(query.bind(numbers).fetch_all(pool)).await?
            }
        })
    }
}
