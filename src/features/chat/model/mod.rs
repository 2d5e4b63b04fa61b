//! What was decided about a message, and asks between personas.

pub mod ask;
pub mod decision;
