//! Renders items: announcements, questions, the list and the details.
//!
//! Pure. Text from people, models and pages is escaped by [`Medium`](kernel::chat::medium::Medium). Times are in UTC and say so. Messages
//! are of kind `Notice`, so they do not become part of prompts.

mod details;
mod labels;
mod lines;
mod list;
mod messages;

#[cfg(test)]
mod sample;

pub use details::{Detail, ItemDetails, RunDetails, render_item};
pub use labels::{describe_change, name_of_owner};
pub use lines::{render_cancelled, render_done, render_failed};
pub use list::{ListView, render_list};
pub use messages::Announcer;
