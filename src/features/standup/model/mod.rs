//! The types and rules of standups: pure, no I/O.

pub mod health;
pub mod page;
pub mod prediction;
pub mod report;
pub mod tension;
