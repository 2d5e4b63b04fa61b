//! The ledger: what was reserved and spent, on what, within which limits.

mod ledger;
mod spending;

pub use spending::{ReserveError, Reserved, Spent};
