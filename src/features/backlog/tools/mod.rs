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

pub fn list(ToolDeps { store, roster, people, .. }: &ToolDeps) -> Vec<Arc<dyn Tool>> {
    let search = BacklogSearch { store: store.clone(), roster: roster.clone() };
    let add = BacklogAdd { store: store.clone(), roster: roster.clone(), people: people.clone() };
    let read = ItemRead { store: store.clone(), roster: roster.clone() };
    vec![Arc::new(search), Arc::new(read), Arc::new(add)]
}

/// What an answer must not claim without [`BacklogAdd`].
pub const ADDING: Act = Act {
    name: "backlog",
    claim: "something was or will be put into the backlog, a to-do list or a list of tasks",
    tool: Some("backlog_add"),
    command: None,
    correction: "Correction: nothing was added to the backlog.",
};
