//! What people look at afterwards: the trace of a message, the team's activity, the state of the database. Nothing here writes.

mod activity;
mod summary;
mod trace;

pub use activity::{ActivityKind, ActivityLine};
pub use summary::Summary;
pub use trace::{BlockRow, CallRow, DeliveryRow, Trace};
