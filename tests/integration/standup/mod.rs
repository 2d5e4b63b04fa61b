//! The daily standup from its call to its report, with a team in the sandbox.
//!
//! `stage` sets up the team with a `newsstand` of feeds and a `cast` for the model. The other files test one part of a standup each.
//! `crashes`, `job_crashes`, `processes` and their `aftermath` test crashes and clock changes.

mod aftermath;
mod cast;
mod checkin_crashes;
mod checkins;
mod conclusion;
mod crashes;
mod faults;
mod feeds;
mod health;
mod job_crashes;
mod mornings;
mod newsstand;
mod people;
mod predictions;
mod processes;
mod questions;
mod report;
mod repository;
mod revision;
mod signals;
mod stage;
mod steering;
mod upgrade;
