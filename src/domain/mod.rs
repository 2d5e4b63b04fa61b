//! What the team talks about: plain types, state machines and the rules of text.
//!
//! No I/O, no async, no clock: time comes in as a value. Everything else in the crate may import this; it imports nothing.

pub mod action;
pub mod approval;
pub mod ask;
pub mod decision;
pub mod feed;
pub mod figure;
pub mod health;
pub mod ids;
pub mod meeting;
pub mod memory;
pub mod message;
pub mod outbound;
pub mod page;
pub mod persona;
pub mod prediction;
pub mod report;
pub mod roster;
pub mod schedule;
pub mod signal;
pub mod tension;
pub mod text;
pub mod turn;
pub mod usage;
pub mod work;

#[cfg(test)]
pub(crate) mod sample;
