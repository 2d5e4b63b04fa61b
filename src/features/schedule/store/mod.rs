//! Jobs that people added, and the rows by which a job fires once for each of its instants, whatever the number of processes.

mod firings;
mod jobs;

pub use firings::{Fired, FiringEffect, FiringJob, NewFiring, end_firing, retention};
