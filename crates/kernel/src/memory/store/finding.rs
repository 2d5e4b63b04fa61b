use chrono::{DateTime, Utc};

use super::{MemoryColumns, read};
use crate::db::{Database, Document, Result, sql};
use crate::ids::{ChannelId, MemoryId, MessageId};
use crate::memory::search::{Vector, to_store};
use crate::memory::{Memory, Scope, short_id};
use crate::text::essence;

/// How many older memories get their words in one transaction.
const AT_ONCE: usize = 500;

impl Database {
    /// What people taught and may be told in `scope`, the newest first.
    pub async fn list_taught(&self, scope: &Scope, limit: usize) -> Result<Vec<Memory>> {
        let [place, parent] = scope.heard();
        Ok(read(
            self,
            sql!(
            self.db().read(),
            fetch_all,
            "SELECT * FROM memories WHERE kind = 'fact' AND ended_at IS NULL AND NOT held AND (place IS NULL OR place = $1 OR place = $2)
             ORDER BY significance DESC, created_at DESC, id DESC LIMIT $3",
            place,
            parent,
            i64::try_from(limit).unwrap_or(i64::MAX)
        )?,
        ))
    }

    /// The memories with an id that a person typed, in any state. There is rarely more than one.
    pub async fn find_memories(&self, short: &str, scope: &Scope) -> Result<Vec<Memory>> {
        self.derive_missing().await?;
        let [place, parent] = scope.heard();
        Ok(read(
            self,
            sql!(
                self.db().read(),
                fetch_all,
                "SELECT * FROM memories WHERE short = $1 AND (place IS NULL OR place = $2 OR place = $3) ORDER BY created_at, id",
                short,
                place,
                parent
            )?,
        ))
    }

    /// The memories that come from a message, in any state.
    pub async fn list_memories_of(&self, message: &MessageId) -> Result<Vec<Memory>> {
        Ok(read(
            self,
            sql!(self.db().read(), fetch_all, "SELECT * FROM memories WHERE message = $1 ORDER BY created_at, id", message.as_str())?,
        ))
    }

    /// The memories in use that come from messages in a channel since a time, the last message first.
    pub async fn list_last_of(&self, channel: &ChannelId, since: DateTime<Utc>) -> Result<Vec<Memory>> {
        Ok(read(
            self,
            sql!(
                self.db().read(),
                fetch_all,
                "SELECT memories.* FROM inbox JOIN memories ON memories.message = inbox.id
             WHERE inbox.channel = $1 AND inbox.speaker IS NOT NULL AND inbox.sent_at >= $2
                 AND memories.kind <> 'document' AND memories.ended_at IS NULL
             ORDER BY inbox.sent_at DESC, memories.significance DESC LIMIT 20",
                channel.as_str(),
                since
            )?,
        ))
    }

    pub async fn find_memory(&self, id: &MemoryId) -> Result<Option<Memory>> {
        let row: Option<MemoryColumns> = sql!(self.db().read(), fetch_optional, "SELECT * FROM memories WHERE id = $1", id.as_str())?;
        row.map(Memory::try_from).transpose()
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

    /// Derives words and vectors for memories from before there were any. Runs once, because all newer memories have both.
    pub(in crate::memory) async fn derive_missing(&self) -> Result<()> {
        self.searching().derived.get_or_try_init(|| Box::pin(self.derive_all())).await.copied()
    }

    async fn derive_all(&self) -> Result<()> {
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
