//! What people do with the memory, whether by a sentence, a command or a button.

mod asker;
mod changing;
mod teaching;

use std::sync::Arc;

use chrono::{DateTime, Utc};
use chrono_tz::Tz;

use crate::features::chat::settings::ChannelRules;
use crate::features::memory::request::clean_id;
use crate::store::Store;
use kernel::agent::Agents;
use kernel::chat::message::{Speaker, Spoken};
use kernel::db::StoreError;
use kernel::ids::MessageId;
use kernel::memory::search::SEARCHABLE;
use kernel::memory::spans::Span;
use kernel::memory::{Memory, MemoryKind, Recall, Scope};
use kernel::persona::roster::Roster;
use kernel::time::{SharedClock, Today};
use kernel::tools::web::PageReader;

pub(in crate::features::memory) use asker::Asker;
pub(in crate::features::memory) use changing::Meant;
pub(in crate::features::memory) use teaching::{Lesson, Taught};

/// The most memories that a search shows.
const FOUND: usize = 10;

/// The services that the feature uses.
pub struct Deps {
    pub store: Store,
    pub roster: Arc<Roster>,
    /// What each channel is used for.
    pub channels: ChannelRules,
    /// None in a process that only carries out commands.
    pub agents: Option<Arc<Agents>>,
    pub pages: Arc<PageReader>,
    /// The team's zone, in which people's dates are.
    pub zone: Tz,
    pub clock: SharedClock,
}

/// The team's memory, as people use it.
pub struct Memories {
    deps: Deps,
}

/// Why something was not done, in words for the person who asked.
#[derive(Debug, thiserror::Error)]
pub(in crate::features::memory) enum MemoryError {
    #[error("{0}")]
    Refused(String),
    #[error(transparent)]
    Store(#[from] StoreError),
}

pub(in crate::features::memory) type Result<T, E = MemoryError> = std::result::Result<T, E>;

/// A memory with the ones that it replaced, newest first, and the one that replaced it.
pub(in crate::features::memory) struct History {
    pub(in crate::features::memory) memory: Memory,
    pub(in crate::features::memory) older: Vec<Memory>,
    pub(in crate::features::memory) newer: Option<Memory>,
}

/// A summary of a channel, opened down to its messages, each with the name of who said it.
pub(in crate::features::memory) struct OpenedSpan {
    pub(in crate::features::memory) span: Span,
    pub(in crate::features::memory) lines: Vec<(String, Spoken)>,
}

/// The most older versions that are shown.
const OLDER: usize = 10;

impl Memories {
    pub fn new(deps: Deps) -> Self {
        Self { deps }
    }

    pub(in crate::features::memory) fn now(&self) -> DateTime<Utc> {
        self.deps.clock.now()
    }

    pub(in crate::features::memory) fn zone(&self) -> Tz {
        self.deps.zone
    }

    pub(in crate::features::memory) fn roster(&self) -> &Roster {
        &self.deps.roster
    }

    pub(in crate::features::memory) fn channels(&self) -> &ChannelRules {
        &self.deps.channels
    }

    pub(in crate::features::memory) fn pages(&self) -> &PageReader {
        &self.deps.pages
    }

    pub(in crate::features::memory) fn agents(&self) -> Option<Arc<Agents>> {
        self.deps.agents.clone()
    }

    pub(in crate::features::memory) fn store(&self) -> &Store {
        &self.deps.store
    }

    /// Memories on a subject. What people taught comes first.
    pub(in crate::features::memory) async fn search(&self, words: &str, scope: &Scope) -> Result<Vec<Memory>> {
        let asked =
            Recall { today: Some(Today { now: self.now(), zone: self.zone() }), kinds: SEARCHABLE, ..Recall::new(words, scope, FOUND) };
        let mut found = self.store().recall(&asked).await?;
        found.sort_by_key(|memory| memory.kind != MemoryKind::Fact);
        Ok(found)
    }

    /// The memory with an id that somebody typed, where it may be told.
    pub(in crate::features::memory) async fn get(&self, written: &str, scope: &Scope) -> Result<Memory> {
        let id = clean_id(written);
        let mut found = self.store().find_memories(&id, scope).await?;
        match found.len() {
            1 => Ok(found.remove(0)),
            0 => Err(refused(format!("There is no memory `{}` here. `/memory search` finds them by words.", short(&id)))),
            _ => Err(refused("Two memories have this id by chance. An operator can have them forgotten by their buttons.")),
        }
    }

    /// What a message taught.
    pub(in crate::features::memory) async fn list_taught_in(&self, message: &MessageId) -> Result<Vec<Memory>, StoreError> {
        let learnt = self.store().list_memories_of(message).await?;
        Ok(learnt.into_iter().filter(|memory| memory.kind == MemoryKind::Fact && memory.forgotten_by.is_none()).collect())
    }

    pub(in crate::features::memory) async fn show(&self, written: &str, scope: &Scope) -> Result<History> {
        let memory = self.get(written, scope).await?;
        let older = self.list_older(&memory, scope).await?;
        let newer = self.store().find_successor(&memory.id).await?.filter(|newer| scope.hears(newer.place.as_ref()));
        Ok(History { memory, older, newer })
    }

    /// A summary of a channel with its messages, if the id is one of a summary that may be told here.
    pub(in crate::features::memory) async fn open_span(&self, written: &str, scope: &Scope) -> Result<Option<OpenedSpan>> {
        let Some(span) = self.store().find_span(&clean_id(written), scope).await? else { return Ok(None) };
        let mut lines = Vec::new();
        for message in self.store().list_span_messages(&span.id).await? {
            if let Some(line) = self.store().find_spoken(&span.channel, &message).await? {
                let name = match &line.speaker {
                    Speaker::Person { name, .. } | Speaker::ForeignBot { name, .. } => name.clone(),
                    Speaker::Persona(slug) => self.roster().name_of(slug).to_owned(),
                };
                lines.push((name, line));
            }
        }
        Ok(Some(OpenedSpan { span, lines }))
    }

    async fn list_older(&self, memory: &Memory, scope: &Scope) -> Result<Vec<Memory>> {
        let mut older: Vec<Memory> = Vec::new();
        let mut next = memory.replaces.clone();
        while let Some(id) = next.take().filter(|id| older.len() < OLDER && *id != memory.id && !older.iter().any(|known| known.id == *id))
        {
            if let Some(found) = self.store().find_memory(&id).await?.filter(|found| scope.hears(found.place.as_ref())) {
                next.clone_from(&found.replaces);
                older.push(found);
            }
        }
        Ok(older)
    }
}

/// A typed id, without characters that could format something.
fn short(written: &str) -> String {
    written.chars().filter(char::is_ascii_alphanumeric).take(12).collect()
}

pub(in crate::features::memory) fn refused(why: impl Into<String>) -> MemoryError {
    MemoryError::Refused(why.into())
}
