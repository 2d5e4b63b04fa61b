//! How items are carried out, one file per kind (WORK-6).
//!
//! An executor says what it made. The verifier checks that, and only then is an item done.

pub(crate) mod agent_run;
mod ask;
mod failure;
mod item_journal;
mod remind;
mod watch;

use chrono::{DateTime, Utc};
use tokio_util::sync::CancellationToken;

use crate::features::backlog::model::{Lease, Product, Wait, WorkItem};
use kernel::persona::Persona;

/// One item that one persona carries out.
pub(crate) struct Assignment<'a> {
    pub(crate) item: &'a WorkItem,
    pub(crate) lease: &'a Lease,
    pub(crate) persona: &'a Persona,
    /// Cancelled when the lease is lost, the team is halted or the process stops. Later results are dropped.
    pub(crate) cancel: &'a CancellationToken,
}

/// How far an executor came.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Outcome {
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
