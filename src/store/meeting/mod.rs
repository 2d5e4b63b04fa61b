//! Meetings and what they leave behind: one file per noun, in the order of a meeting's way.
//!
//! Whether a meeting is held, who speaks next and when it ends is decided elsewhere. Here each step of it is one transaction that
//! first takes hold of the meeting's row, so that nothing is stored in a meeting that somebody else has just ended.

mod closing;
mod figures;
mod meetings;
mod predictions;
mod ratings;
mod reports;
mod seats;

pub use closing::StandupClosing;
pub use meetings::{Called, OpenMeeting};
pub use reports::StoredReport;

pub(in crate::store) use meetings::{ask_wrap, insert_meeting};
pub(in crate::store) use seats::finish_seat;
