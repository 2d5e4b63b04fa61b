//! What the team talks about: plain types, state machines and the rules of text.
//!
//! No I/O, no async, no clock: time comes in as a value. Everything else in the crate may import this; it imports nothing.

pub mod ask;
pub mod decision;
pub mod ids;
pub mod message;
pub mod outbound;
pub mod persona;
pub mod roster;
pub mod schedule;
pub mod text;
pub mod turn;
pub mod usage;

#[cfg(test)]
pub(crate) mod sample;
