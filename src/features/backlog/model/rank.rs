//! The order of work (WORK-3).

use chrono::{DateTime, NaiveDate, Utc};

use crate::features::backlog::model::Urgency;

/// An item's rank. The smallest is claimed first.
///
/// Sorted by urgency, due date, age in days, number of waiting items, and depth. Age counts in whole days; otherwise no two items would be equally
/// old, and the later criteria would never apply.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Rank {
    /// The highest urgency of the item and those that wait for it.
    pub urgency: Urgency,
    /// The earliest due date of the item and those that wait for it. Items without a due date come last.
    pub due: DateTime<Utc>,
    /// The UTC day of creation.
    pub day: NaiveDate,
    /// The number of items that wait for it, directly or indirectly.
    pub waited_for: std::cmp::Reverse<u32>,
    /// The length of its longest chain of dependencies.
    pub depth: u32,
}

impl Rank {
    /// The due date of what has none: a day with a year of four digits, so that written ranks sort.
    pub const NEVER: DateTime<Utc> = DateTime::from_timestamp(253_402_214_400, 0).expect("the last day of 9999");
}
