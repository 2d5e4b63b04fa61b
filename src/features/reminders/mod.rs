//! Reminders: "remind me tomorrow at 9 to pay the hosting bill", `/remind`, `every Monday at 8`.
//!
//! A request becomes a row and a job for its time, in one transaction. For a sentence (`listener`) this is the transaction that decides on the
//! message. A command or a button (`commands`) has its own. Both use [`Reminders`] (`service`). The job (`jobs`) tells the person by a mention. `request` and `whom` read
//! what people write, `kernel::when` the times in it, in the person's zone; `render` has the texts. A sentence whose time is not read whole is left to
//! the persona that was asked, which has a tool for reminders (`tool`); without a model the person is asked.
//!
//! A reminder belongs to its channel: it is told, listed and changed there. A reminder in a direct conversation is for the person who asked. A halt
//! of the team does not stop reminders, because a person asked for them.
//!
//! # A crash at any step
//!
//! | the process dies | the row that says so | the next start |
//! | --- | --- | --- |
//! | before the message is decided on | inbox, not decided on | decides, and with that stores the reminder |
//! | after that | reminder `waiting`, a job for its round, confirmation in the outbox | sends the confirmation; tells when the time comes |
//! | before the telling commits | as before, the job running | the job is taken back and tells |
//! | after it | reminder `told`, or `waiting` in the next round with its job; message in the outbox; the job done | sends it, under the same nonce |
//! | before a message that the platform refuses is given up | message `pending` in the outbox | tries it again |
//! | after it | message `failed`, the one for the next place in the outbox, in one transaction | sends that one |
//! | before a snooze, an end or a cancellation commits | as before | nothing; the person got no answer and presses again |
//! | after it | reminder `waiting` in a new round with its job, `done` or `cancelled` | the job of the old round finds nothing to tell |
//!
//! # Clocks
//!
//! Each round is told once, even if clocks change, because telling it ends the round. After a clock has jumped ahead, or after a downtime, a repeated
//! reminder is told once, and its next time is the first one after that. After a clock is set back, reminders that were not told yet wait longer.

pub mod button;
mod commands;
mod feature;
mod jobs;
mod listener;
pub mod model;
pub mod render;
pub mod request;
mod service;
mod store;
mod tool;
mod whom;

use kernel::tools::Act;

pub use feature::RemindersFeature;
pub use service::{Deps, Reminders};

/// What an answer of a persona must not claim without having called the tool.
pub const REMINDING: Act = Act {
    name: "reminder",
    claim: "a reminder was set, or somebody will be reminded at a certain time",
    done_by: &[tool::NAME, "remind"],
    correction: "Correction: no reminder was set. Use `/remind`, or write \"remind me tomorrow at 9 to …\".",
};
