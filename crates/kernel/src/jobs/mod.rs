//! Durable jobs: work that is done although processes die.
//!
//! A feature enqueues a job in the transaction of which it is a consequence, and gives a [`JobHandler`] for its kind. A worker in each process claims
//! jobs, runs their handlers, and shows by a heartbeat that it lives. What a handler does twice must do no harm: each write names the job's token
//! ([`JobContext::begin`]), and what was done is stored step by step ([`JobContext::step`]).
//!
//! A lease is the worker's, not the job's, because a process dies as a whole: one heartbeat holds all its jobs. A handler that hangs is ended by the time
//! limit of its kind.
//!
//! | the process dies | what is there | what follows |
//! | --- | --- | --- |
//! | before the transaction of `enqueue` commits | nothing | nothing |
//! | after it | a job that is ready | any worker claims it |
//! | after the claim, or within a step | a job that runs, its holder silent | taken back after the lease (on SQLite: at the next start), run again |
//! | after a step is stored | the same, with the step | run again; the step gives what was stored |
//! | within the last transaction | as before it | run again from the last step |
//! | after it | a job that is done | nothing |
//!
//! What is held against a job whose process died is in [`blame`].

mod admission;
mod blame;
mod context;
mod handler;
mod handover;
mod model;
mod retention;
mod store;
mod worker;

pub use context::{FinalTransaction, JobContext};
pub use handler::{Failure, JobError, JobHandler};
pub use handover::Handover;
pub use model::{Job, JobId, JobRecord, JobState, JobsSettings, KindSettings, NewJob};
pub use retention::RetentionRule;
pub use store::{cancel, enqueue, find, run_again, wake_at};
pub use worker::{Jobs, JobsDeps};
