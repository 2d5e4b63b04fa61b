//! Generates reports, signals and conclusions without a model, from the shared page (LLM-2).
//!
//! Every number is on the page or in a stored report, or is the difference of two such numbers. The same page gives the same text. The Day
//! Report says that no model was used.

mod actions;
mod causes;
mod delta;
mod news;
mod report;
mod signals;
mod summary;

pub(super) use actions::propose;
pub(super) use report::compose;
pub(super) use summary::{LINE, LINES, complete, sum_up};

use crate::features::standup::model::page::{PageItem, PageReading};

/// Items that are sums or repeated values. They are not events to count or quote.
const SUMS: [&str; 5] = ["activity", "day", "persona", "model", "value"];

/// Events since the last report, newest first.
fn events(reading: &PageReading) -> impl Iterator<Item = &PageItem> {
    reading.items.iter().filter(|item| !SUMS.contains(&item.what.as_str()))
}

#[cfg(test)]
mod tests;
