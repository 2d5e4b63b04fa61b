//! Messages, decisions and answers, and the queries that show them to people.

mod activity;
mod approvals;
mod asks;
mod decisions;
mod edits;
mod events;
mod guard;
mod inbox;
mod personal;
mod retention;
mod summary;
mod talk;
mod trace;
mod turn_ends;
mod turns;
mod withholding;

pub use activity::{ActivityKind, ActivityLine};
pub use asks::AskUpdate;
pub(crate) use asks::{LATE, settle};
pub use decisions::Decided;
pub use edits::{Edit, Edited};
pub use events::MESSAGES;
pub(crate) use events::TURNS;
pub use guard::Blocked;
pub use inbox::{Claim, InboxRow};
pub use retention::retention;
pub use summary::Summary;
pub use trace::{BlockRow, CallRow, DeliveryRow, Trace};
pub use turn_ends::{CancelScope, Finished, FollowUp, fail_turn, finish_turn};
pub use turns::TurnRow;
pub use withholding::{Said, hold_message, is_unchanged, withhold_message, withhold_posts};

pub(crate) use approvals::APPROVED;
use asks::AskColumns;
use inbox::InboxColumns;
pub(crate) use turns::TURN;
use turns::TurnColumns;
