//! What people teach the team: "remember: we deploy on Thursdays", `/memory`, and what text from outside may be remembered.
//!
//! A taught fact is a row of the kernel's memory with the highest significance. It is told in each prompt where it may be told, and found by the
//! search of personas, of people and of the answers without a model. A sentence (`listener`) writes it in the transaction that decides on the
//! message; a command or a button (`commands`) writes it in a transaction of its own. Both go through [`Memories`] (`service`). No model takes part.
//!
//! A fact that is taught in a private place is told, shown, replaced and forgotten only there: see [`Scope`](kernel::memory::Scope).
//!
//! # A crash at any step
//!
//! | the process dies | the row that says so | the next start |
//! | --- | --- | --- |
//! | before the message is decided on | inbox, not decided on | decides, and with that stores the fact and the answer |
//! | after that | the fact, the answer in the outbox | sends the answer |
//! | before a command or a button commits | as before | nothing; the person got no answer and does it again. The same words are one fact |

mod button;
mod commands;
mod feature;
mod knowledge;
mod listener;
mod quoting;
pub mod render;
pub mod request;
mod service;
mod store;
mod summaries;
mod tool;

use kernel::tools::Act;

pub use feature::MemoryFeature;
pub use render::offer_lesson;
pub use service::{Deps, Memories};

/// What an answer must not claim without the tool that does it.
pub const REMEMBERING: Act = Act {
    name: "memory",
    claim: "something was or will be remembered, noted, saved or written down",
    // What is an item or a reminder is written down, too.
    done_by: &["memory_save", "memory", "backlog_add", "backlog", "mission", "reminder_set", "remind"],
    correction: "Correction: nothing was remembered.",
};

/// As [`REMEMBERING`], for forgetting.
pub const FORGETTING: Act = Act {
    name: "forgetting",
    claim: "something was or will be forgotten or deleted from the memory",
    done_by: &["memory_forget", "memory"],
    correction: "Correction: nothing was forgotten.",
};
