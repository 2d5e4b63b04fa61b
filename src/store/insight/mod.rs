//! What people look at afterwards: the trace of a message, the team's activity, numbers of feeds over time, the state of the
//! database, the backlog as a board. Nothing here writes but `samples`, which keeps what feeds said.

mod activity;
mod board;
mod samples;
mod summary;
mod trace;

pub use activity::{ActivityKind, ActivityLine};
pub use board::{BoardCard, BoardFilter};
pub use summary::Summary;
pub use trace::{BlockRow, CallRow, DeliveryRow, Trace};
