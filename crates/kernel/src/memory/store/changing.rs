use chrono::{DateTime, Utc};

use super::{MemoryColumns, insert_memories};
use crate::db::{Result, Transaction, document, plain, sql};
use crate::ids::{ChannelId, MemoryId, MessageId, PersonaSlug};
use crate::memory::search::{Vector, to_store};
use crate::memory::{Memory, MemoryKind, MemorySource};
use crate::text::essence;

/// Stores a memory. One with the same words in the same place becomes one with it (MEM-7), and the one that it replaces ends. Returns the id under
/// which it is kept.
pub async fn save_memory(transaction: &mut Transaction, memory: &Memory) -> Result<MemoryId> {
    let kept = if let Some(known) = find_same(transaction, memory).await? {
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

/// What a person teaches is kept in the person's words. What an agent notes again only counts for as much as the more significant of both.
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
        "UPDATE memories SET kind = $2, text = $3, significance = $4, taught_by = $5, held = $6, replaces = $7, essence = $8, words = $9, vector = $10
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
        "UPDATE memories SET text = '', tags = '[]', essence = '', words = '', vector = NULL, forgotten_by = $2, ended_at = $3
         WHERE id = $1 AND forgotten_by IS NULL",
        id.as_str(),
        by,
        at
    )?;
    Ok(forgotten > 0)
}

/// Forgets what was learnt from a message that is deleted.
pub async fn forget_memories_of(transaction: &mut Transaction, message: &MessageId, at: DateTime<Utc>) -> Result<()> {
    sql!(
        transaction.on(),
        execute,
        "UPDATE memories SET text = '', tags = '[]', essence = '', words = '', vector = NULL, forgotten_by = $2, ended_at = $3
         WHERE source = $1 AND forgotten_by IS NULL",
        document(&MemorySource::Message(message.clone())),
        "the deletion of its message",
        at
    )?;
    Ok(())
}

/// Has a memory from text from outside told from now on. False if it does not wait for that.
pub async fn confirm_memory(transaction: &mut Transaction, id: &MemoryId) -> Result<bool> {
    let confirmed =
        sql!(transaction.on(), execute, "UPDATE memories SET held = $2 WHERE id = $1 AND held AND ended_at IS NULL", id.as_str(), false)?;
    Ok(confirmed > 0)
}
