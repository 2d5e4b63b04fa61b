//! The changes of the job that runs an item: start, journal, approvals and the end of the run. Every write names the job, and is refused once another
//! run has it.

mod approvals;
mod endings;
mod journal;
mod starting;

pub use endings::{End, RunEnd};
pub(super) use journal::{has_journal, insert_entry};
pub use starting::Claimed;
