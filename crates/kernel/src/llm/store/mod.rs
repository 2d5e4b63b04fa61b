//! The ledger: reservations, costs and limits.

mod ledger;
mod retention;
mod spending;

pub use retention::retention;
pub use spending::{ReserveError, Reserved, Spent};
