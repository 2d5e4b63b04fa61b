//! Work items from claim to end.

mod learning;
mod proof;
mod review;
mod stage;
