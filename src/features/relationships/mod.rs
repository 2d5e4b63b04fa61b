//! Trust and tension between each two personas (MEM-6).
//!
//! They are moved by reviews, by the sides in board meetings and by what people think of an insight, in the transaction of that cause: what is stored once
//! moves them once. With time they return to neutral. That is computed when they are read, so there is one row for each pair and no job. They set the tone
//! of a prompt if they are strong, decide between reviewers and members of a board meeting who fit equally well, and never change what is said.
//!
//! A persona that has left the team takes its rows along when the team starts.

mod commands;
mod feature;
pub mod model;
mod store;

pub use feature::RelationshipsFeature;
pub use model::{Cause, Move, Relationships};
pub use store::move_relationships;
