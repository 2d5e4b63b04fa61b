//! Test fixtures shared by all packages.

pub mod feeds;
pub mod jobs;
pub mod persona;
pub mod roster;
