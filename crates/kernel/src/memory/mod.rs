//! The team's memory and its search.

mod model;
pub mod retrieval;
pub mod store;
pub mod tools;

pub use model::*;
