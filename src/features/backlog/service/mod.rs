//! What people can do with the backlog: list, add, prioritise, retry, cancel, edit, and answer with buttons. `commands` words the replies.
//!
//! Only changes rows, and their jobs with them.

mod adding;
mod asker;
pub(super) mod buttons;
pub(super) mod changing;
mod finding;

use std::sync::Arc;

use crate::features::backlog::render::Announcer;
use crate::store::Store;
use kernel::db::StoreError;
use kernel::ids::{ChannelId, UserId};
use kernel::llm::budget::Budgets;
use kernel::persona::roster::Roster;
use kernel::time::SharedClock;

pub use asker::Asker;
pub use finding::{ListQuery, Listed};

pub struct Deps {
    pub store: Store,
    pub roster: Arc<Roster>,
    /// The people who may own an item, with their names.
    pub people: Vec<(UserId, String)>,
    pub budgets: Budgets,
    /// After this many rejections a person decides about the item.
    pub most_rejections: u32,
    /// None beside a running team, whose relay finds the rows.
    pub clock: SharedClock,
}

/// The operations on the backlog.
pub struct Backlog {
    deps: Deps,
}

/// Why an operation failed, for the caller.
#[derive(Debug, thiserror::Error)]
pub enum BacklogError {
    #[error("{0}")]
    Refused(String),
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Backlog {
    pub fn new(deps: Deps) -> Self {
        Self { deps }
    }

    pub fn store(&self) -> &Store {
        &self.deps.store
    }

    pub fn roster(&self) -> &Roster {
        &self.deps.roster
    }

    /// Posts as the coordinator, who owns the backlog.
    fn announcer<'a>(&'a self, channel: &'a ChannelId) -> Announcer<'a> {
        Announcer { persona: &self.deps.roster.coordinator().slug, channel, roster: &self.deps.roster }
    }
}

fn refused(why: impl Into<String>) -> BacklogError {
    BacklogError::Refused(why.into())
}
