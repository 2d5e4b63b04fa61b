//! Persona files and the roster.

pub mod add;
pub mod file;
pub mod load;
mod model;
pub mod picture;
pub mod roster;

pub use model::*;
