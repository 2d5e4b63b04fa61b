//! The data of the kanban page as plain text. The templates render it as HTML; scripts get it as JSON.

mod forms;
mod item;
mod kanban;
mod labels;
mod mission;

use std::sync::Arc;

use chrono::{DateTime, Utc};
use chrono_tz::Tz;
use serde::{Deserialize, Serialize};

use crate::adapters::http::kanban::Shown;
use crate::features::backlog::model::{Owner, Urgency, WorkStatus};
use crate::store::Store;
use kernel::chat::ChatPlatform;
use kernel::ids::{PersonaSlug, UserId};
use kernel::llm::budget::Budgets;
use kernel::persona::roster::Roster;
use kernel::time::{SharedClock, show_time};

pub(super) use forms::{Forms, NewView};
pub(super) use item::ItemView;
pub(super) use kanban::KanbanView;
pub(super) use mission::MissionView;

/// The query parameters. Unknown values are ignored, because a shared link can be older than the program.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Asked {
    /// `persona:vince`, `person:1`. Empty: all.
    owner: String,
    text: String,
    /// The id of a mission. Empty: all.
    mission: String,
}

/// Reads the backlog for display.
pub(super) struct Viewer {
    team: String,
    roster: Arc<Roster>,
    store: Store,
    platform: Arc<dyn ChatPlatform>,
    zone: Tz,
    budgets: Budgets,
    clock: SharedClock,
}

impl Viewer {
    pub(super) fn new(shown: &Shown) -> Self {
        Self {
            team: shown.team.clone(),
            roster: shown.roster.clone(),
            store: shown.store.clone(),
            platform: shown.platform.clone(),
            zone: shown.zone,
            budgets: shown.budgets.clone(),
            clock: shown.clock.clone(),
        }
    }

    /// When an item is due, or how urgent it is.
    fn show_when(&self, due: Option<DateTime<Utc>>, urgency: Urgency, status: WorkStatus) -> String {
        let Some(due) = due else { return labels::urgency(urgency).to_owned() };
        let now = self.clock.now();
        if status.is_over() {
            return format!("due {}", show_time(due, self.zone));
        }
        let word = if due < now { "overdue since" } else { "due" };
        format!("{word} {}", labels::date(due, now, self.zone))
    }

    fn show_owner(&self, owner: &Owner) -> Who {
        match owner {
            Owner::Persona(slug) => self.show_persona(slug),
            Owner::Person { id, name } => Who { key: format!("person:{id}"), name: name.clone(), color: None },
        }
    }

    fn show_persona(&self, slug: &PersonaSlug) -> Who {
        let color = self.roster.find(slug).map(|persona| format!("#{:06x}", persona.color));
        Who { key: format!("persona:{slug}"), name: self.roster.name_of(slug).to_owned(), color }
    }
}

/// A persona or a person.
#[derive(Debug, Clone, PartialEq, Serialize)]
struct Who {
    key: String,
    name: String,
    /// A CSS color. None for a person, or a persona that has left.
    color: Option<String>,
}

/// Parses an owner's key. A person without cards is shown by id, because no name is known.
fn parse_owner(key: &str) -> Option<Owner> {
    match key.split_once(':')? {
        ("persona", slug) => Some(Owner::Persona(slug.into())),
        ("person", id) => {
            let id = UserId::new(id);
            Some(Owner::Person { name: id.bare().to_owned(), id })
        }
        _ => None,
    }
}
