//! What people change in the memory, each with its event.

use async_trait::async_trait;
use chrono::{DateTime, Utc};

use crate::store::Store;
use kernel::db::{Applied, Effect, Result, Transaction};
use kernel::events::{Audience, Event, Topic, record};
use kernel::ids::MemoryId;
use kernel::memory::store::{confirm_memory, forget_memory, save_memory};
use kernel::memory::{Memory, Teacher};

/// What people change in the memory. What it says is not repeated.
const MEMORIES: Topic = Topic::new("memory");

impl Store {
    /// Stores what a person taught. Returns the id under which it is kept.
    pub(super) async fn teach(&self, memory: &Memory) -> Result<MemoryId> {
        let mut transaction = self.db().begin().await?;
        let kept = teach(&mut transaction, memory).await?;
        transaction.commit().await?;
        Ok(kept)
    }

    /// Forgets memories for good, all or none. The number of those that were not forgotten before.
    pub(super) async fn forget(&self, memories: &[Memory], by: &Teacher, at: DateTime<Utc>) -> Result<usize> {
        let mut transaction = self.db().begin().await?;
        let forgotten = forget(&mut transaction, memories, by, at).await?;
        transaction.commit().await?;
        Ok(forgotten)
    }

    /// Has a memory from text from outside told. False if it does not wait for that.
    pub(super) async fn confirm(&self, memory: &Memory, by: &Teacher, at: DateTime<Utc>) -> Result<bool> {
        let mut transaction = self.db().begin().await?;
        let confirmed = confirm_memory(&mut transaction, &memory.id).await?;
        if confirmed {
            record(&mut transaction, &event(memory, "confirmed", by, at)).await?;
        }
        transaction.commit().await?;
        Ok(confirmed)
    }
}

/// A new fact, written with the decision on the message that teaches it.
#[derive(Debug)]
pub(super) struct Teach(pub Memory);

#[async_trait]
impl Effect for Teach {
    async fn apply(&self, transaction: &mut Transaction, _: DateTime<Utc>) -> Result<Applied> {
        teach(transaction, &self.0).await?;
        Ok(Applied::Done)
    }
}

/// What a person taught is taken back, perhaps for something else.
#[derive(Debug)]
pub(super) struct ChangeTaught {
    pub older: Vec<Memory>,
    pub new: Option<Memory>,
    pub by: Teacher,
}

#[async_trait]
impl Effect for ChangeTaught {
    async fn apply(&self, transaction: &mut Transaction, at: DateTime<Utc>) -> Result<Applied> {
        forget(transaction, &self.older, &self.by, at).await?;
        if let Some(memory) = &self.new {
            teach(transaction, memory).await?;
        }
        Ok(Applied::Done)
    }
}

async fn forget(transaction: &mut Transaction, memories: &[Memory], by: &Teacher, at: DateTime<Utc>) -> Result<usize> {
    let mut forgotten = 0;
    for memory in memories {
        if forget_memory(transaction, &memory.id, &by.name, at).await? {
            record(transaction, &event(memory, "forgotten", by, at)).await?;
            forgotten += 1;
        }
    }
    Ok(forgotten)
}

async fn teach(transaction: &mut Transaction, memory: &Memory) -> Result<MemoryId> {
    let kept = save_memory(transaction, memory).await?;
    if let Some(by) = &memory.taught_by {
        let taught = event(memory, "taught", by, memory.created_at).with("replaces", memory.replaces.as_ref().map(MemoryId::as_str));
        record(transaction, &taught).await?;
    }
    Ok(kept)
}

fn event(memory: &Memory, kind: &'static str, by: &Teacher, at: DateTime<Utc>) -> Event {
    let audience = memory.place.as_ref().map_or(Audience::Team, |place| Audience::Channel(place.clone()));
    Event::new(MEMORIES, memory.id.as_str(), kind, at).by_name(&by.name).seen_by(audience)
}
