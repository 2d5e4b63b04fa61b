//! Meetings: coordinated runs of turns with a facilitator and a written result.

pub mod standup;
