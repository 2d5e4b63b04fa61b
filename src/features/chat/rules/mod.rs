//! Who answers what: the rules of talk, pure and each in a file of its own.
//!
//! [`router`] decides who answers a person, [`guard`] whether an agent may answer an agent, [`authorize`] who may do what. They lean on
//! [`addressing`] (whom a text speaks to), [`ask_phrase`] ("ask Vince what he thinks") and [`intent`] (questions and directives). Nothing here
//! reads a store or a clock, calls a model, or lets a display name count for anything.

pub mod addressing;
pub mod ask_phrase;
pub(crate) mod authorize;
pub mod guard;
pub mod intent;
pub mod router;
