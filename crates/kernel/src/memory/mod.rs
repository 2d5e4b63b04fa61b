//! The team's memory and its search.
//!
//! A memory is stored with three things derived from its text: an id for people, its words for the full text search, and a vector of its letters.
//! [`search`] ranks what a question is about; [`Scope`] says where a memory may be told. Statements are in [`store`].

mod citing;
pub mod documents;
pub mod embedder;
pub mod job;
#[cfg(feature = "sentence-model")]
pub mod local_model;
mod model;
pub mod retrieval;
mod scope;
pub mod search;
mod similar;
pub mod spans;
pub mod store;
pub mod tools;

pub use model::*;
pub use scope::Scope;
pub use search::{Recall, speak_of_oneself};
pub use similar::are_alike;
