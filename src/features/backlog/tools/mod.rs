//! What personas can do with the backlog.

mod add;
mod read;
mod search;

use std::sync::Arc;

use crate::features::ToolDeps;
use add::BacklogAdd;
use kernel::tools::{Act, Tool};
use read::ItemRead;
use search::BacklogSearch;

pub fn list(ToolDeps { store, roster, people, config, .. }: &ToolDeps) -> Vec<Arc<dyn Tool>> {
    let search = BacklogSearch { store: store.clone(), roster: roster.clone() };
    let add =
        BacklogAdd { store: store.clone(), roster: roster.clone(), people: people.clone(), closes: config.backlog.working_hours.closes };
    let read = ItemRead { store: store.clone(), roster: roster.clone() };
    vec![Arc::new(search), Arc::new(read), Arc::new(add)]
}

/// What an answer must not claim without [`BacklogAdd`].
pub const ADDING: Act = Act {
    name: "backlog",
    claim: "something was or will be put into the backlog, a to-do list or a list of tasks",
    done_by: &[add::NAME, "backlog", "mission"],
    correction: "Correction: nothing was added to the backlog.",
};

/// As [`ADDING`], for a promise to tell. What comes of an item is told to the person who asked for it, so an item that watches something keeps it.
pub const TELLING: Act = Act {
    name: "telling",
    claim: "somebody will get a message when something happens, is done or is found out",
    done_by: &[add::NAME, "ask_agent", "backlog", "board", "board_create", "mission", "remind", "reminder_set", "schedule"],
    correction: "Correction: nothing will tell you that by itself. Ask for it as an item of the backlog, or use `/remind`.",
};
