//! What personas can do with the backlog.

mod add;
mod search;

pub use add::BacklogAdd;
pub use search::BacklogSearch;

use kernel::tools::Act;

/// What an answer must not claim without [`BacklogAdd`].
pub const ADDING: Act = Act {
    name: "backlog",
    claim: "something was or will be put into the backlog, a to-do list or a list of tasks",
    tool: Some("backlog_add"),
    correction: "Correction: nothing was added to the backlog.",
};
