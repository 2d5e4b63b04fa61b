//! What a persona works with when it is asked: the prompt and its context, search over documents, and the composer that answers
//! where no model is configured.
//!
//! Nothing here decides who speaks, sends anything or keeps anything.

pub mod context;
pub mod offline;
pub mod prompt;
pub mod retrieval;

#[cfg(test)]
mod fixture;
