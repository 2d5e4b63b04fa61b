//! What comes first (WORK-3).

use chrono::NaiveDate;

use crate::features::backlog::model::Urgency;

/// An item's place in the order of work; the smallest is claimed first.
///
/// Urgency, then age in whole days, then how many wait for it, then how deep it lies. Age counts in days, or nothing behind it would ever
/// count: no two items are equally old to the microsecond.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Rank {
    /// Its own, or that of the most urgent item that waits for it.
    pub urgency: Urgency,
    /// The day on which it came up, UTC.
    pub day: NaiveDate,
    /// How many items wait for it, directly and through others.
    pub waited_for: std::cmp::Reverse<u32>,
    /// How many items lie before it on its longest way.
    pub depth: u32,
}
