//! Vectors of texts: stored as one byte for each dimension, compared all at once, and made by a sentence model.
//!
//! A package of its own, because its loops are compiled for speed and the rest of the program for size.

mod nearest;
#[cfg(feature = "sentence-model")]
pub mod sentence_model;

pub use nearest::{Near, Vectors, compact};
