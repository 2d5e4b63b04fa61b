//! Decisions on messages, and asks between personas.

pub mod approval;
pub mod ask;
pub mod decision;
pub mod talk;
