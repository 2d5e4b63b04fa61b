//! What comes first (WORK-3).

use std::cmp::Reverse;

use chrono::NaiveDate;

use super::{Urgency, WorkItem};

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
    pub waited_for: Reverse<u32>,
    /// How many items lie before it on its longest way.
    pub depth: u32,
}

impl Rank {
    /// The place of an item that nothing is known to wait for, and that waits for nothing.
    pub fn alone(item: &WorkItem) -> Self {
        Self { urgency: item.urgency, day: item.created_at.date_naive(), waited_for: Reverse(0), depth: 0 }
    }
}
