//! The backlog: work items, what each waits for, and how each came to stand where it does.
//!
//! Which item is next and who works on it is decided elsewhere; which status may follow which is the domain's.

mod counts;
mod items;
mod transitions;

pub use counts::ItemCounts;
pub use items::ItemFilter;
pub use transitions::{AdvanceError, ItemChange};

pub(super) use items::insert_items;
