//! The ledger: reservations, costs and limits.

mod ledger;
mod spending;

pub use spending::{ReserveError, Reserved, Spent};
