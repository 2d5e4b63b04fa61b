//! Examples that unit tests of all packages share.

pub mod feeds;
pub mod persona;
pub mod roster;
