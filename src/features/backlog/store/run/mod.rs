//! What a worker does with an item: it claims it by a lease, keeps a journal of the run, asks a person to allow a call, and ends the run.
//!
//! A lease carries no time. Whoever sees the same token and beat for long enough by its own clock takes the item back, so that the clocks of
//! machines need not agree. Each write of a worker names its lease and is refused once somebody else has the item.

mod approvals;
mod endings;
mod journal;
mod leases;

pub use endings::{End, RunEnd};
pub use leases::{ClaimTerms, Claimed, SeenLease};
