//! Jobs that people added, and the firings, which make each instant fire once in any number of processes.

mod firings;
mod jobs;

pub use firings::{Fired, FiringEffect, FiringJob, NewFiring, SCHEDULE, end_firing, retention};
pub use jobs::Pause;
