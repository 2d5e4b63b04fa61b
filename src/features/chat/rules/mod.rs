//! The rules that decide who answers. They are pure, each in its own file.
//!
//! [`router`] decides who answers a person, [`guard`] whether an agent may answer an agent, [`authorize`] who may do what. They use [`addressing`]
//! (which personas a text addresses), [`ask_phrase`] ("ask Vince what he thinks") and [`intent`] (questions and directives). Nothing here reads a
//! database or a clock, calls a model, or relies on a display name.

pub mod addressing;
pub mod ask_phrase;
pub(crate) mod authorize;
pub mod guard;
pub mod intent;
pub mod router;
