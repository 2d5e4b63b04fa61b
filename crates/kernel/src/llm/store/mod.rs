//! The ledger: reservations, costs and limits.

mod ledger;
mod rests;
mod retention;
mod spending;

pub use retention::retention;
pub(in crate::llm) use spending::NOTICE_AT;
pub use spending::{ReserveError, Reserved, Spent, join_budget, share_budget};
