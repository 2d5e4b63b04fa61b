//! Executes items, one file per kind (WORK-6).
//!
//! An executor returns claims. An item is done only after the verifier has checked them.

pub(crate) mod agent_run;
mod ask;
mod failure;
mod item_journal;
mod remind;
mod watch;

use chrono::{DateTime, Utc};
use tokio_util::sync::CancellationToken;

use crate::features::backlog::model::{Blocker, NoAnswer, Product, Wait, WorkItem};
use kernel::chat::outbound::OutboundMessage;
use kernel::jobs::JobContext;
use kernel::persona::Persona;

/// An item and the persona that executes it.
pub(crate) struct Assignment<'a> {
    pub(crate) item: &'a WorkItem,
    pub(crate) job: &'a JobContext,
    pub(crate) persona: &'a Persona,
    /// Cancelled when the job is lost, the team is halted or the process stops. Later results are dropped.
    pub(crate) cancel: &'a CancellationToken,
}

/// The result of an executor.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Outcome {
    /// Claims for the verifier.
    Made(Product),
    /// Continue the same run at that time. Does not count as an attempt.
    Later { at: DateTime<Utc>, why: String },
    /// Continue after a person or the planner has ended the wait.
    Waits(Wait),
    /// A person was asked or told. Continue after their answer.
    Told { wait: Wait, message: Box<OutboundMessage> },
    /// The persona that was asked gave no answer.
    Unanswered(NoAnswer),
    /// This attempt failed.
    Failed { blocker: Blocker, why: String },
    /// No attempt can succeed.
    Impossible { blocker: Blocker, why: String },
}
