//! Trust and tension between each two personas (MEM-6).
//!
//! Reviews, the sides in board meetings and people's ratings of insights move them. Each move is stored in the transaction of its cause, so a cause
//! that is stored once moves them once. They return to neutral with time. This is computed on reading, so there is one row for each pair and no job.
//! Strong relationships set the tone of a prompt. Relationships also decide between equally suitable reviewers and members of board meetings. They
//! never change what is said.
//!
//! The rows of a persona that has left the team are removed when the team starts.

mod commands;
mod feature;
pub mod model;
mod store;

pub use feature::RelationshipsFeature;
pub use model::{Cause, Move, Relationships};
pub use store::move_relationships;
