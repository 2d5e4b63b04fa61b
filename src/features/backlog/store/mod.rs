//! The backlog: work items, what each waits for, who works on them, and how each came to stand where it does.
//!
//! Which status may follow which is the domain's, what a run makes and whether it is good is decided elsewhere. Here each thing that happens to
//! an item is one transaction with all that follows from it for others.
//!
//! - `items`, `insertion`, `counts`: what there is;
//! - `standing`: how an item goes from one status to the next, and what its end does to those that wait for it;
//! - `planning`: what the planner sets; `run`: what a worker does; `persons`: what people do.
//!
//! Whoever moves an item passes the turnstile first, so that it sees all that was moved before: two parts that end at the same moment could
//! otherwise each take the other for open, and nobody would end their parent.

mod board;
mod counts;
mod insertion;
mod items;
mod persons;
mod planning;
mod retention;
mod run;
mod standing;

pub use board::{BoardCard, BoardFilter};
pub use counts::ItemCounts;
pub use insertion::InsertItemsError;
pub use items::ItemFilter;
pub use persons::{ItemAnswer, ItemEdit, ItemJudgement};
pub use planning::Planned;
pub use retention::retention;
pub use run::{ClaimTerms, Claimed, End, RunEnd, SeenLease};
pub use standing::{Ended, ItemChange, ItemEvent};

pub(crate) use insertion::insert_items;

/// The key under which PostgreSQL lets one change of the backlog pass at a time: "backlog" in ASCII.
const TURNSTILE: i64 = i64::from_be_bytes(*b"\0backlog");
