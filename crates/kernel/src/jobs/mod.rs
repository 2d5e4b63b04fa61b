//! Durable jobs: work that survives the death of a process.
//!
//! A feature enqueues a job in the transaction that causes it, and provides a [`JobHandler`] for its kind. A worker in each process claims jobs, runs
//! their handlers, and sends heartbeats. A handler must be idempotent: each write names the job's token ([`JobContext::begin`]), and results are
//! stored step by step ([`JobContext::step`]).
//!
//! The worker holds one lease for all its jobs, because a process dies as a whole. The time limit of its kind ends a handler that hangs.
//!
//! | the process dies | what is stored | what follows |
//! | --- | --- | --- |
//! | before the transaction of `enqueue` commits | nothing | nothing |
//! | after it | a job that is ready | any worker claims it |
//! | after the claim, or within a step | a running job whose holder sends no heartbeat | taken back after the lease (on SQLite: at the next start),
//! run again |
//! | after a step is stored | the same, with the step | run again; the step returns the stored result |
//! | within the last transaction | as before it | run again from the last step |
//! | after it | a job that is done | nothing |
//!
//! [`blame`] contains the rules for a job whose process died.

mod admission;
mod blame;
mod context;
mod handler;
mod handover;
pub(crate) mod manual;
mod model;
mod retention;
mod store;
mod worker;

pub use context::{FinalTransaction, JobContext};
pub use handler::{Failure, JobError, JobHandler, Paused};
pub use handover::Handover;
pub use model::{Job, JobId, JobRecord, JobState, JobsSettings, KindSettings, NewJob};
pub use retention::RetentionRule;
pub use store::{cancel, enqueue, enqueue_all, find, forget_steps, read_steps, run_again, set_priority, wake_at};
pub use worker::{Jobs, JobsDeps};
