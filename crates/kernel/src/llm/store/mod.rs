//! The ledger: what was reserved and spent, on what, within which limits.

mod ledger;
mod retention;
mod spending;

pub use retention::retention;
pub use spending::{ReserveError, Reserved, Spent};
