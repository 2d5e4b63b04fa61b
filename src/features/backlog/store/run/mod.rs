//! A worker's changes: claim by lease, journal, approvals and the end of a run.
//!
//! A lease has no time. A process that sees the same token and heartbeat count for long enough, by its own clock, reclaims the item. So
//! clocks of machines need not agree. Every write names its lease and is rejected after a reclaim.

mod approvals;
mod endings;
mod journal;
mod leases;

pub use endings::{End, RunEnd};
pub use leases::{ClaimTerms, Claimed, SeenLease};
