//! What people can do with the backlog: list, add, prioritise, retry, cancel, edit, and answer with buttons. `commands` words the replies.
//!
//! Only changes rows, and their jobs with them.

mod adding;
mod asker;
pub(super) mod buttons;
mod cancelling;
pub(super) mod changing;
mod finding;
mod replying;

use std::sync::Arc;

use chrono::{DateTime, Utc};
use chrono_tz::Tz;

use crate::features::backlog::model::{Owner, WorkItem, WorkingHours};
use crate::features::backlog::render::{Announcer, Spot};
use crate::features::chat::rules::authorize::{Action, authorize};
use crate::features::chat::settings::ChatSettings;
use crate::store::Store;
use kernel::chat::message::InboundMessage;
use kernel::commands::Right;
use kernel::db::StoreError;
use kernel::llm::budget::Budgets;
use kernel::people::People;
use kernel::persona::roster::Roster;
use kernel::repository::Repositories;
use kernel::time::SharedClock;

pub use adding::AskedIn;
pub(in crate::features::backlog) use adding::PROSE;
pub use asker::Asker;
pub(in crate::features::backlog) use buttons::check_may_judge;
pub use cancelling::Cancelling;
pub use finding::{ListQuery, Listed};

pub struct Deps {
    pub store: Store,
    pub roster: Arc<Roster>,
    /// Who may own an item, besides personas.
    pub people: People,
    /// The repositories that items may work in.
    pub repositories: Repositories,
    pub budgets: Budgets,
    /// The team's zone, in which people's dates are.
    pub zone: Tz,
    pub working_hours: WorkingHours,
    /// After this many rejections a person decides about the item.
    pub most_rejections: u32,
    /// Who is an operator.
    pub chat: ChatSettings,
    /// Without a model nothing can tell an answer from "I don't know", so the person who answers is asked.
    pub is_offline: bool,
    /// The address of the kanban page, if people can open it.
    pub kanban: Option<String>,
    pub clock: SharedClock,
}

/// What those hear who give a paused persona an item.
pub(super) async fn describe_pause(store: &Store, owner: &Owner, roster: &Roster) -> Result<Option<String>, StoreError> {
    let Owner::Persona(slug) = owner else { return Ok(None) };
    let name = roster.name_of(slug);
    let is_paused = store.is_paused(slug).await?;
    Ok(is_paused.then(|| format!("{name} is paused, so it waits until `/team resume persona:{name}`.")))
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

    pub(super) fn now(&self) -> DateTime<Utc> {
        self.deps.clock.now()
    }

    pub fn zone(&self) -> Tz {
        self.deps.zone
    }

    /// The address of the kanban page.
    pub fn kanban(&self) -> Option<&str> {
        self.deps.kanban.as_deref()
    }

    pub fn roster(&self) -> &Roster {
        &self.deps.roster
    }

    /// The author of a message, with their rights there.
    pub(super) fn asker_of(&self, message: &InboundMessage) -> Asker {
        let operates = authorize(Action::Operate, &message.author, &message.channel, &self.deps.chat).is_ok();
        Asker::Person {
            id: message.author.id.clone(),
            name: message.author.name.clone(),
            right: if operates { Right::Operator } else { Right::Anybody },
            channel: Some(message.channel.clone()),
        }
    }

    /// Posts as the coordinator, who owns the backlog.
    fn announcer<'a>(&'a self, spot: &'a Spot) -> Announcer<'a> {
        Announcer { persona: &self.deps.roster.coordinator().slug, spot, roster: &self.deps.roster }
    }

    /// Where people are told what was decided about an item: its own place, or else the channel of the decision.
    async fn find_spot(&self, item: &WorkItem, asker: &Asker) -> Result<Option<Spot>, StoreError> {
        if item.channel.is_none() && item.private_to.is_some() {
            return Ok(self.deps.store.find_author(item).await?.map(|(author, _)| Spot::Direct(author)));
        }
        Ok(item.channel.as_ref().or(asker.channel()).cloned().map(Spot::Channel))
    }
}

fn refused(why: impl Into<String>) -> BacklogError {
    BacklogError::Refused(why.into())
}
