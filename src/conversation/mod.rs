//! Who answers what in a channel.
//!
//! The rules are pure and stand each in a file of its own: [`router`] decides who answers a person, [`guard`] whether an agent may answer
//! an agent. Both lean on [`addressing`] (whom a text speaks to), [`ask_phrase`] ("ask Vince what he thinks") and [`intent`] (questions
//! and directives). Nothing here calls a model to decide, sends to a platform, or lets a display name count for anything.

pub mod addressing;
pub mod ask_phrase;
pub mod guard;
pub mod intent;
pub mod router;
