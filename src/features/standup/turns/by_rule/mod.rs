//! What is said where no model says it (LLM-2): reports, signals and conclusions put together from the shared page by rule.
//!
//! Nothing is judged and nothing is made up. Each number stands on the page or in a stored report, or is the difference of two that do;
//! the same page gives the same words. The wording of figures is `figures`'; that no model was at work is said once, by the Day Report.

mod actions;
mod alarm;
mod delta;
mod report;
mod signals;
mod summary;

pub(super) use actions::propose;
pub(super) use report::compose;
pub(super) use summary::sum_up;

use crate::features::standup::model::page::{PageItem, PageReading};

/// Items that are sums of what happened, as ledger and activity have them, or values anew. They are no events that could be counted or shown
/// as news.
const SUMS: [&str; 5] = ["activity", "day", "persona", "model", "value"];

/// What happened since the last report, newest first.
fn events(reading: &PageReading) -> impl Iterator<Item = &PageItem> {
    reading.items.iter().filter(|item| !SUMS.contains(&item.what.as_str()))
}

#[cfg(test)]
mod tests;
