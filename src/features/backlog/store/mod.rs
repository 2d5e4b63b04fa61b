//! Stores work items, dependencies and events.
//!
//! Each change of an item is one transaction, including its effects on other items. The model defines which transitions are allowed.
//!
//! - `items`, `insertion`, `counts`: reading and adding; `artefacts`: what items made;
//! - `reviews`: who judged a result, and what was found;
//! - `transitions`: changes of status, the job that each status needs, and the effects of an item's end on items that wait for it;
//! - `families`: which items are held while one is changed; `subjects`: which are about the same;
//! - `planning`: the planner's changes, many together in `bulk`; `run`: those of the job that runs an item; `persons`: people's, `editing`: their
//!   edits, `restoring`: cancellations that they take back, `requests`: what they were asked; `reshaping`: the parts of a mission; `jobs`: the jobs.
//!
//! Every change holds the item's family first, so that changes of connected items follow one another. Otherwise two children that end at the same time
//! could each see the other as open, and their parent would never end. Rows of jobs are locked after it.

mod artefacts;
mod bulk;
mod counts;
mod editing;
mod families;
mod insertion;
mod items;
mod jobs;
mod kanban;
mod persons;
mod planning;
mod reopening;
mod requests;
mod reshaping;
mod restoring;
mod retention;
mod reviews;
mod run;
mod subjects;
mod transitions;

pub use counts::ItemCounts;
pub use editing::ItemEdit;
pub use insertion::InsertItemsError;
pub use items::ItemFilter;
pub use jobs::{
    ANNOUNCE, EndedBetween, LEARNINGS, MISSION, MissionOf, PERSON, PLAN, REVIEW, RUN, review_by_people, set_item_aside, wake_mission,
};
pub use kanban::{KanbanCard, KanbanFilter};
pub use persons::{ItemAnswer, ItemJudgement, Remark};
pub use planning::Planned;
pub use reopening::reopen_whole;
pub(in crate::features::backlog) use reopening::{is_in_run, reopen_item_in, send_back_in};
pub use reshaping::{Reshaping, reshape};
pub use restoring::{RESTORABLE, Restored, find_root, restore_in};
pub use retention::retention;
pub use run::{Claimed, End, RunEnd};
pub use transitions::{Ended, ITEMS, ItemChange, ItemEvent};

pub use insertion::insert_items;
pub(crate) use jobs::ItemOf;
pub(crate) use persons::{answer_in, judge_in};
pub(crate) use requests::{PersonAnswer, RequestOf, record_reminder, take_answer};
