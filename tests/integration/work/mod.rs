//! Work items from their claim to their end.

mod learning;
mod proof;
mod review;
mod stage;
