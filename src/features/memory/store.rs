//! What people change in the memory, each with its event.

use async_trait::async_trait;
use chrono::{DateTime, TimeDelta, Utc};

use crate::features::chat::store::{Said, withhold_message, withhold_posts};
use crate::features::memory::quoting::repeats;
use crate::store::Store;
use kernel::actor::Actor;
use kernel::chat::message::Speaker;
use kernel::db::rows::holds_id;
use kernel::db::{Applied, Effect, Result, Transaction, sql};
use kernel::events::{Audience, Event, Topic, record};
use kernel::ids::{MemoryId, MessageId, UserId};
use kernel::memory::store::{confirm_memory, delete_said, forget_memory, replace_memory, save_memory_as};
use kernel::memory::{Memory, Teacher};
use kernel::people::Erasure;

/// What people change in the memory. What it says is not repeated.
const MEMORIES: Topic = Topic::new("memory");

/// People often say something shortly before they teach it.
const AROUND: TimeDelta = TimeDelta::days(7);

impl Store {
    /// Stores what a person taught. `known`: a fact that says the same, into which it is merged. Returns the id under which it is kept.
    pub(super) async fn teach(&self, memory: &Memory, known: Option<&MemoryId>) -> Result<MemoryId> {
        let mut transaction = self.db().begin().await?;
        let kept = teach(&mut transaction, memory, known).await?;
        transaction.commit().await?;
        Ok(kept)
    }

    /// Forgets memories for good, all or none. Returns how many were not forgotten before.
    pub(super) async fn forget(&self, forgetting: &Forget) -> Result<usize> {
        let mut transaction = self.db().begin().await?;
        let forgotten = forget(&mut transaction, forgetting).await?;
        transaction.commit().await?;
        Ok(forgotten)
    }

    /// Forgets what a person taught, and what was learnt in conversations with that person alone.
    pub(super) async fn forget_memories_from(&self, erasure: &Erasure) -> Result<()> {
        let taught: Vec<(String, String, String)> = sql!(
            self.db().read(),
            fetch_all,
            "SELECT id, COALESCE(taught_by, '') || ' ' || COALESCE(origin, ''), COALESCE(place, '') FROM memories WHERE forgotten_by IS NULL
                 AND (taught_by LIKE $1 OR origin LIKE $1 OR place IS NOT NULL) /* reads all: a person is forgotten */",
            format!("%{}%", erasure.person)
        )?;
        let is_private = |place: &str| erasure.private.iter().any(|channel| channel.as_str() == place);
        let meant = taught.into_iter().filter(|(_, by, place)| holds_id(by, erasure.person.as_str()) || is_private(place));
        let mut transaction = self.db().begin().await?;
        for (id, ..) in meant {
            forget_memory(&mut transaction, &MemoryId::new(id), "the wish of a person", erasure.at).await?;
        }
        transaction.commit().await
    }

    /// Finds all that repeats memories which are to be forgotten. Writes nothing.
    pub(super) async fn draft_forget(&self, memories: Vec<Memory>, by: &Teacher, at: DateTime<Utc>) -> Result<Forget> {
        let posts = self.list_repeating(&memories).await?;
        let heard = self.list_retold(&memories, by).await?;
        Ok(Forget { memories, posts, heard, by: by.clone(), at })
    }

    /// Posts of the team that repeat one of these memories, in places where it may be told.
    async fn list_repeating(&self, memories: &[Memory]) -> Result<Vec<Said>> {
        let Some(since) = memories.iter().map(|memory| memory.created_at).min() else { return Ok(Vec::new()) };
        let texts: Vec<&str> = memories.iter().map(|memory| memory.text.as_str()).collect();
        let mut found = Vec::new();
        for seen in self.list_channels().await? {
            found.extend(self.list_posts(&seen.channel.id, since, |said| texts.iter().any(|text| repeats(said, text))).await?);
        }
        Ok(found)
    }

    /// Messages that repeat these memories, by the person who has them forgotten or by those who taught them.
    async fn list_retold(&self, memories: &[Memory], by: &Teacher) -> Result<Vec<MessageId>> {
        let Some(first) = memories.iter().map(|memory| memory.created_at).min() else { return Ok(Vec::new()) };
        let people: Vec<&UserId> = memories.iter().filter_map(Memory::person).chain([by]).filter_map(|person| person.id.as_ref()).collect();
        let mut found = Vec::new();
        for seen in self.list_channels().await? {
            for spoken in self.list_heard(&seen.channel.id, first - AROUND).await? {
                let is_theirs = matches!(&spoken.speaker, Speaker::Person { id, .. } if people.contains(&id));
                if is_theirs && memories.iter().any(|memory| repeats(&spoken.text, &memory.text)) {
                    found.extend(spoken.message);
                }
            }
        }
        Ok(found)
    }

    /// The message that caused a post of the team.
    pub(super) async fn find_cause(&self, posted: &MessageId) -> Result<Option<MessageId>> {
        let row: Option<(Option<String>,)> = sql!(
            self.db().read(),
            fetch_optional,
            "SELECT cause FROM outbox WHERE platform_id = $1 ORDER BY position DESC LIMIT 1",
            posted.as_str()
        )?;
        Ok(row.and_then(|(cause,)| cause).map(MessageId::new))
    }

    /// Lets a memory from outside text be told. False if it does not wait for that.
    pub(super) async fn confirm(&self, memory: &Memory, by: &Teacher, at: DateTime<Utc>) -> Result<bool> {
        let mut transaction = self.db().begin().await?;
        let confirmed = confirm_memory(&mut transaction, &memory.id).await?;
        if confirmed {
            record(&mut transaction, &event(memory, "confirmed", by, at)).await?;
        }
        transaction.commit().await?;
        Ok(confirmed)
    }

    /// Has one memory take the place of an older one. False if one of them is not in use any more.
    pub(super) async fn replace(&self, newer: &Memory, older: &Memory, by: &Teacher, at: DateTime<Utc>) -> Result<bool> {
        let mut transaction = self.db().begin().await?;
        let replaced = replace_memory(&mut transaction, &newer.id, &older.id, at).await?;
        if replaced {
            record(&mut transaction, &event(newer, "replaced", by, at).with("replaces", older.id.as_str())).await?;
        }
        transaction.commit().await?;
        Ok(replaced)
    }
}

/// A new fact, written with the decision on the message that teaches it.
#[derive(Debug)]
pub(super) struct Teach {
    pub(super) memory: Memory,
    /// The known fact into which it is merged.
    pub(super) known: Option<MemoryId>,
}

#[async_trait]
impl Effect for Teach {
    async fn apply(&self, transaction: &mut Transaction, _: DateTime<Utc>) -> Result<Applied> {
        teach(transaction, &self.memory, self.known.as_ref()).await?;
        Ok(Applied::Done)
    }
}

/// Memories that are forgotten, with all that repeats them.
#[derive(Debug)]
pub(super) struct Forget {
    pub(super) memories: Vec<Memory>,
    /// Posts of the team that repeat them.
    pub(super) posts: Vec<Said>,
    /// Messages of people that repeat them.
    pub(super) heard: Vec<MessageId>,
    pub(super) by: Teacher,
    pub(super) at: DateTime<Utc>,
}

#[async_trait]
impl Effect for Forget {
    async fn apply(&self, transaction: &mut Transaction, _: DateTime<Utc>) -> Result<Applied> {
        forget(transaction, self).await?;
        Ok(Applied::Done)
    }
}

/// Takes back facts that a message taught, and may teach another one. The message stays, with its new text.
#[derive(Debug)]
pub(super) struct ChangeTaught {
    pub(super) older: Vec<Memory>,
    pub(super) new: Option<Teach>,
    pub(super) by: Teacher,
}

#[async_trait]
impl Effect for ChangeTaught {
    async fn apply(&self, transaction: &mut Transaction, at: DateTime<Utc>) -> Result<Applied> {
        forget_each(transaction, &self.older, &self.by, at).await?;
        if let Some(new) = &self.new {
            teach(transaction, &new.memory, new.known.as_ref()).await?;
        }
        Ok(Applied::Done)
    }
}

async fn teach(transaction: &mut Transaction, memory: &Memory, known: Option<&MemoryId>) -> Result<MemoryId> {
    let kept = save_memory_as(transaction, memory, known).await?;
    if let Some(message) = memory.message() {
        // The message itself need not be remembered, too.
        delete_said(transaction, message).await?;
    }
    if let Some(by) = &memory.taught_by {
        let taught = event(memory, "taught", by, memory.created_at).with("replaces", memory.replaces.as_ref().map(MemoryId::as_str));
        record(transaction, &taught).await?;
    }
    Ok(kept)
}

async fn forget(transaction: &mut Transaction, forgetting: &Forget) -> Result<usize> {
    let Forget { memories, posts, heard, by, at } = forgetting;
    let forgotten = forget_each(transaction, memories, by, *at).await?;
    for message in memories.iter().filter_map(Memory::message).chain(heard) {
        withhold_message(transaction, message, *at).await?;
    }
    withhold_posts(transaction, posts, *at).await?;
    Ok(forgotten)
}

async fn forget_each(transaction: &mut Transaction, memories: &[Memory], by: &Teacher, at: DateTime<Utc>) -> Result<usize> {
    let mut forgotten = 0;
    for memory in memories {
        if forget_memory(transaction, &memory.id, &by.name, at).await? {
            record(transaction, &event(memory, "forgotten", by, at)).await?;
            forgotten += 1;
        }
    }
    Ok(forgotten)
}

fn event(memory: &Memory, kind: &'static str, by: &Teacher, at: DateTime<Utc>) -> Event {
    let audience = memory.place.as_ref().map_or(Audience::Team, |place| Audience::Channel(place.clone()));
    let event = Event::new(MEMORIES, memory.id.as_str(), kind, at).seen_by(audience);
    match &by.id {
        Some(id) => event.by(&Actor::Person { id: id.clone(), name: by.name.clone() }),
        None => event.by_name(&by.name),
    }
}
