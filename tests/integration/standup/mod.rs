//! The daily standup from the word that calls it to its report, on a team in the sandbox.
//!
//! `stage` sets the team up with feeds of a `newsstand` and a `cast` for its model; the others are stories, one file for each part of a
//! standup. `crashes`, `job_crashes`, `processes` and their `aftermath` tell what becomes of it when processes die or clocks jump.

mod aftermath;
mod cast;
mod conclusion;
mod crashes;
mod faults;
mod feeds;
mod health;
mod job_crashes;
mod newsstand;
mod people;
mod predictions;
mod processes;
mod report;
mod revision;
mod signals;
mod stage;
mod steering;
