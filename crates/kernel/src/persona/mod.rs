//! Persona files, expert files, skill files and the roster.

pub mod add;
pub mod expert;
pub mod file;
mod front_matter;
pub mod load;
mod model;
pub mod picture;
pub mod roster;
pub mod skill;
mod voice;

pub use model::*;
pub use voice::Voice;
