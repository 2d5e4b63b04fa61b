//! How work looks: one line for what became of an item, the messages that ask people for something, the list, and the whole of one item.
//!
//! Pure functions of stored facts: no store, no clock, no I/O, and nothing is decided here. What comes from people, models and pages reaches
//! Markdown only through [`Medium`](kernel::chat::medium::Medium). Times are in UTC and say so. What is posted is of kind `Notice`: the team
//! tells about itself, and no prompt is fed with it as if somebody had spoken.

mod lines;
mod list;
mod messages;
mod sheet;
mod words;

#[cfg(test)]
mod sample;

pub use lines::{render_cancelled, render_done, render_failed};
pub use list::{ListView, render_list};
pub use messages::Voice;
pub use sheet::{Detail, ItemSheet, RunSheet, render_item};
pub use words::{describe_change, name_of_owner};
