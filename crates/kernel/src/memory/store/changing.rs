use chrono::{DateTime, TimeDelta, Utc};

use super::{MemoryColumns, insert_memories};
use crate::db::{Backend, Database, Result, Transaction, bounded, document, plain, sql};
use crate::ids::{ChannelId, MemoryId, MessageId, PersonaSlug};
use crate::memory::search::{Vector, to_store};
use crate::memory::{Memory, MemoryKind};
use crate::text::essence;

/// Stores a memory. It is merged with a memory of the same words in the same place (MEM-7), and the memory that it replaces ends. Returns the id
/// under which it is kept.
pub async fn save_memory(transaction: &mut Transaction, memory: &Memory) -> Result<MemoryId> {
    save_memory_as(transaction, memory, None).await
}

/// Like [`save_memory`], but merges the memory with `known`, if that is still in use.
pub async fn save_memory_as(transaction: &mut Transaction, memory: &Memory, known: Option<&MemoryId>) -> Result<MemoryId> {
    let known = match known {
        Some(known) => find_in_use(transaction, known).await?,
        None => None,
    };
    let same = match known {
        Some(known) => Some(known),
        None => find_same(transaction, memory).await?,
    };
    let kept = if let Some(known) = same {
        merge(transaction, &known, memory).await?;
        known.id
    } else {
        insert_memories(transaction, std::slice::from_ref(memory)).await?;
        memory.id.clone()
    };
    if let Some(older) = memory.replaces.as_ref().filter(|older| **older != kept) {
        sql!(
            transaction.on(),
            execute,
            "UPDATE memories SET ended_at = $2 WHERE id = $1 AND ended_at IS NULL",
            older.as_str(),
            memory.created_at
        )?;
    }
    Ok(kept)
}

async fn find_in_use(transaction: &mut Transaction, id: &MemoryId) -> Result<Option<Memory>> {
    let row: Option<MemoryColumns> =
        sql!(transaction.on(), fetch_optional, "SELECT * FROM memories WHERE id = $1 AND ended_at IS NULL", id.as_str())?;
    row.map(Memory::try_from).transpose()
}

/// Replaces a memory by a newer one, and ends it. False if one of the two is not in use any more, or if the newer one already replaces another one.
pub async fn replace_memory(transaction: &mut Transaction, newer: &MemoryId, older: &MemoryId, at: DateTime<Utc>) -> Result<bool> {
    let (Some(_), Some(replacing)) = (find_in_use(transaction, older).await?, find_in_use(transaction, newer).await?) else {
        return Ok(false);
    };
    if newer == older || replacing.replaces.is_some() {
        return Ok(false);
    }
    sql!(transaction.on(), execute, "UPDATE memories SET replaces = $2 WHERE id = $1", newer.as_str(), older.as_str())?;
    sql!(transaction.on(), execute, "UPDATE memories SET ended_at = $2 WHERE id = $1", older.as_str(), at)?;
    Ok(true)
}

pub(super) async fn find_same(transaction: &mut Transaction, memory: &Memory) -> Result<Option<Memory>> {
    let essence = essence(&plain(&memory.text));
    if essence.is_empty() {
        return Ok(None);
    }
    let row: Option<MemoryColumns> = sql!(
        transaction.on(),
        fetch_optional,
        "SELECT * FROM memories WHERE essence = $1 AND ended_at IS NULL AND kind IN ('lesson', 'fact') AND COALESCE(place, '') = $2
             AND COALESCE(persona, '') = $3 AND id <> $4
         ORDER BY significance DESC, created_at, id LIMIT 1",
        essence,
        memory.place.as_ref().map_or("", ChannelId::as_str),
        memory.persona.as_ref().map_or("", PersonaSlug::as_str),
        memory.id.as_str()
    )?;
    row.map(Memory::try_from).transpose()
}

/// What a person teaches is kept in the person's words. If an agent notes it again, the higher significance of the two counts.
async fn merge(transaction: &mut Transaction, known: &Memory, new: &Memory) -> Result<()> {
    let taught = new.taught_by.is_some();
    let merged = Memory {
        kind: if taught { MemoryKind::Fact } else { known.kind },
        text: if taught { new.text.clone() } else { known.text.clone() },
        significance: known.significance.max(new.significance),
        taught_by: known.taught_by.clone().or_else(|| new.taught_by.clone()),
        held: known.held && new.held,
        replaces: new.replaces.clone().filter(|older| *older != known.id).or_else(|| known.replaces.clone()),
        ..known.clone()
    };
    let searched = merged.searched();
    sql!(
        transaction.on(),
        execute,
        "UPDATE memories SET kind = $2, text = $3, significance = $4, taught_by = $5, held = $6, replaces = $7, essence = $8, words = $9, vector = $10, meaning = NULL, meaning_model = NULL
         WHERE id = $1",
        merged.id.as_str(),
        merged.kind.as_str(),
        plain(&merged.text),
        merged.significance,
        merged.taught_by.as_ref().map(document),
        merged.held,
        merged.replaces.as_ref().map(MemoryId::as_str),
        essence(&plain(&merged.text)),
        to_store(&searched),
        Vector::of(&searched).to_bytes()
    )
    .map(drop)
}

/// Removes the text of a memory and all that was derived from it. Only its id stays, with who had it forgotten and when. False if it was forgotten
/// before, or does not exist.
pub async fn forget_memory(transaction: &mut Transaction, id: &MemoryId, by: &str, at: DateTime<Utc>) -> Result<bool> {
    let forgotten = sql!(
        transaction.on(),
        execute,
        "UPDATE memories SET text = '', tags = '[]', essence = '', words = '', vector = NULL, meaning = NULL, meaning_model = NULL, origin = NULL, forgotten_by = $2, ended_at = $3
         WHERE id = $1 AND forgotten_by IS NULL",
        id.as_str(),
        by,
        at
    )?;
    Ok(forgotten > 0)
}

impl Database {
    /// Notes that memories were found for an answer or a prompt. Once a day for each, because it only tells used ones from unused ones. Not on
    /// its first day: a new one is not archived anyway.
    pub async fn record_used(&self, memories: impl IntoIterator<Item = &Memory>, at: DateTime<Utc>) -> Result<()> {
        let before = at - TimeDelta::days(1);
        let ids: Vec<&str> = memories.into_iter().filter(|memory| memory.created_at < before).map(|memory| memory.id.as_str()).collect();
        if ids.is_empty() {
            return Ok(());
        }
        match self.db().write()? {
            Backend::Sqlite(pool) => {
                let query = sqlx::query(
                    "UPDATE memories SET used_at = $2 WHERE id IN (SELECT value FROM json_each($1)) AND (used_at IS NULL OR used_at < $3)",
                );
                query.bind(document(&ids)).bind(at).bind(before).execute(pool).await?;
            }
            Backend::Postgres(pool) => {
                let query = sqlx::query("UPDATE memories SET used_at = $2 WHERE id = ANY($1) AND (used_at IS NULL OR used_at < $3)");
                bounded(query.bind(ids).bind(at).bind(before).execute(pool)).await?;
            }
        }
        Ok(())
    }
}

/// Forgets what was learnt from a message that is deleted.
pub async fn forget_memories_of(transaction: &mut Transaction, message: &MessageId, at: DateTime<Utc>) -> Result<()> {
    sql!(
        transaction.on(),
        execute,
        "UPDATE memories SET text = '', tags = '[]', essence = '', words = '', vector = NULL, meaning = NULL, meaning_model = NULL, origin = NULL,
             forgotten_by = $2, ended_at = $3
         WHERE message = $1 AND forgotten_by IS NULL",
        message.as_str(),
        "the deletion of its message",
        at
    )?;
    Ok(())
}

/// Confirms a memory that comes from text from outside, so that it is told from now on. False if it is not waiting for that.
pub async fn confirm_memory(transaction: &mut Transaction, id: &MemoryId) -> Result<bool> {
    let confirmed =
        sql!(transaction.on(), execute, "UPDATE memories SET held = $2 WHERE id = $1 AND held AND ended_at IS NULL", id.as_str(), false)?;
    Ok(confirmed > 0)
}
