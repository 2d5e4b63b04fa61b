//! Personas: their files, and the roster of those that are loaded.

pub mod file;
pub mod load;
mod model;
pub mod roster;

pub use model::*;
