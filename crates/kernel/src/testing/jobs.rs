//! Jobs that a test claims and ends itself.

pub use crate::jobs::manual::{ManualWorker, apply_rule};
