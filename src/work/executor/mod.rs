//! How items are carried out, one file for each way of doing it (WORK-6).
//!
//! An executor makes something and says what it made; it never says that an item is done. What it says is verified by others.

mod ask;
pub(in crate::work) mod making;
mod remind;
mod watch;

use chrono::{DateTime, Utc};
use tokio_util::sync::CancellationToken;

use crate::domain::persona::Persona;
use crate::domain::work::{Lease, Product, Wait, WorkItem};

/// One item in the hands of one persona.
pub(in crate::work) struct Assignment<'a> {
    pub(in crate::work) item: &'a WorkItem,
    pub(in crate::work) lease: &'a Lease,
    pub(in crate::work) persona: &'a Persona,
    /// Cancelled when the lease is lost, the team is halted or the process stops: whatever comes afterwards is not taken any more.
    pub(in crate::work) cancel: &'a CancellationToken,
}

/// How far an executor came.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::work) enum Outcome {
    /// Something that can be verified.
    Made(Product),
    /// Not now; the same run goes on at that time. No try is used up.
    Later { at: DateTime<Utc>, why: String },
    /// Not before a person, or the planner, has ended the wait.
    Waits(Wait),
    /// This try came to nothing.
    Failed { why: String },
    /// No try will ever do.
    Impossible { why: String },
}
