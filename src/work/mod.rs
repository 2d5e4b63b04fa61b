//! The backlog loop: what was decided is planned, claimed, done, checked and remembered.
//!
//! Items are rows; a worker holds one by a lease and does nothing to it without. What is done in a run stands in its journal, what is said to
//! have come of it is verified by code or judged by somebody else, and only then it is done. Nothing here decides what is worth doing.

pub mod button;
pub mod desk;
mod executor;
pub mod render;
