//! What the team remembers, and how it is found again.

mod model;
pub mod retrieval;
pub mod store;
pub mod tools;

pub use model::*;
