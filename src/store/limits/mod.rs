//! What holds the team back: halts, the guard's records, notices already given, money.

mod guard;
mod halts;
mod ledger;
mod notices;
mod spending;

pub use guard::Blocked;
pub use halts::{Halt, HaltScope};
pub use spending::{ReserveError, Reserved, Spent};
