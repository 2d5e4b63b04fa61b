//! What people do to the backlog: look, add, hurry, retry, cancel, change, and decide by button. `commands` words the replies.
//!
//! Nothing here works on an item. It changes rows of the store and notifies the worker.

mod adding;
mod asker;
pub(super) mod changing;
mod finding;
pub(super) mod press;

use std::sync::Arc;

use tokio::sync::Notify;

use crate::features::backlog::render::Voice;
use crate::store::Store;
use kernel::chat::outbox::Relay;
use kernel::db::StoreError;
use kernel::ids::{ChannelId, UserId};
use kernel::llm::budget::Budgets;
use kernel::persona::roster::Roster;
use kernel::time::SharedClock;

pub use asker::Asker;
pub use finding::{ListQuery, Listed};

/// What it works with.
pub struct Parts {
    pub store: Store,
    pub roster: Arc<Roster>,
    /// Who may own an item besides personas, with the name that they are called by.
    pub people: Vec<(UserId, String)>,
    pub budgets: Budgets,
    /// After how many rejections a person decides what becomes of an item.
    pub most_rejections: u32,
    /// None beside a team that runs: its own relay finds the rows.
    pub relay: Option<Relay>,
    pub clock: SharedClock,
    /// Notified when an item was changed.
    pub ring: Arc<Notify>,
}

/// The backlog as people reach it.
pub struct Backlog {
    parts: Parts,
}

/// Why something was not done, in words for whoever asked.
#[derive(Debug, thiserror::Error)]
pub enum BacklogError {
    #[error("{0}")]
    Refused(String),
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Backlog {
    pub fn new(parts: Parts) -> Self {
        Self { parts }
    }

    pub fn store(&self) -> &Store {
        &self.parts.store
    }

    pub fn roster(&self) -> &Roster {
        &self.parts.roster
    }

    /// The coordinator's voice in a channel: it owns the backlog.
    fn voice<'a>(&'a self, channel: &'a ChannelId) -> Voice<'a> {
        Voice { persona: &self.parts.roster.coordinator().slug, channel, roster: &self.parts.roster }
    }

    /// Tells the loop that items changed, and the relay in which channel rows wait.
    fn ring(&self, told: Option<&ChannelId>) {
        self.parts.ring.notify_one();
        if let (Some(relay), Some(channel)) = (&self.parts.relay, told) {
            relay.wake(channel);
        }
    }
}

fn refused(why: impl Into<String>) -> BacklogError {
    BacklogError::Refused(why.into())
}
