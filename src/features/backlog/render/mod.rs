//! Renders items: announcements, questions, the list and the details.
//!
//! Pure. Text from people, models and pages is escaped by [`Medium`](kernel::chat::medium::Medium). Times are in UTC and say so; due dates are
//! in the team's zone. Messages are of kind `Notice`, so they do not become part of prompts.

mod approval;
mod decisions;
mod details;
mod files;
mod journal;
mod labels;
mod lines;
mod list;
mod messages;
mod offers;
mod requests;

#[cfg(test)]
mod sample;
#[cfg(test)]
mod tests;

pub use decisions::put_to;
pub use details::{Detail, ItemDetails, RunDetails, render_item};
pub use files::{FILES, attach, attach_some, how_to_merge, list_files};
pub(crate) use labels::{changed_tests, total};
pub use labels::{describe_change, name_of_owner};
pub use lines::{render_cancelled, render_done, render_failed};
pub use list::{ListView, render_list, render_plain, render_request};
pub use messages::{Announcer, Spot};
pub use offers::{OfferFacts, list_offers, takes_answer};
