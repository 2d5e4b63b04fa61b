//! Test fixtures shared by all packages.

pub mod feeds;
pub mod persona;
pub mod roster;
