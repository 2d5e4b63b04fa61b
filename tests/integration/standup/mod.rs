//! The daily standup from the word that calls it to its report, on a team in the sandbox.
//!
//! `stage` sets the team up with feeds of a `newsstand` and a `cast` for its model; the others are stories, one file for each part of a
//! standup. What a crash does to it is told elsewhere.

mod cast;
mod conclusion;
mod faults;
mod feeds;
mod health;
mod newsstand;
mod people;
mod predictions;
mod report;
mod revision;
mod signals;
mod stage;
mod steering;
