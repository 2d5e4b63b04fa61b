//! Personas: their files and the roster these make, what they work with when they are asked, and the turn itself.
//!
//! `file` and `load` read what a persona is. `prompt` and `context` make what a model is told; `retrieval` searches documents; `offline` answers where
//! no model is configured. `turn` asks a persona once, `standup` for what a standup needs of it, and `meter` accounts for it. Nothing here decides who speaks or sends anything.

pub mod context;
pub mod file;
pub mod load;
mod meter;
pub mod offline;
pub mod prompt;
pub mod retrieval;
pub mod standup;
pub mod turn;

#[cfg(test)]
pub(crate) mod fixture;

pub use meter::LedgerMeter;
