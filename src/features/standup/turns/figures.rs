//! Formats feed values and changes for generated reports and prompts.

use crate::features::standup::model::page::{PageReading, PageValue};
use crate::features::standup::model::prediction::Answer;
use crate::features::standup::model::report::ValueChange;
use kernel::figure::{amount, number};
use kernel::time::Today;

/// `commits 502`.
pub(super) fn value(value: &PageValue) -> String {
    format!("{} {}", value.name, amount(value.number, &value.name, &value.unit))
}

/// All values of a feed: `commits 502, branches 7`.
pub(super) fn values(reading: &PageReading) -> String {
    reading.values.iter().map(value).collect::<Vec<_>>().join(", ")
}

/// `+12`, `−3`, or `no change`.
pub(super) fn difference(change: &ValueChange) -> String {
    if !change.has_moved() {
        return "no change".into();
    }
    let sign = if change.now > change.before { '+' } else { '−' };
    format!("{sign}{}", number((change.now - change.before).abs()))
}

/// `repository commits 490 → 502 (+12)`.
pub(super) fn step(change: &ValueChange) -> String {
    let now = amount(change.now, &change.name, &change.unit);
    format!("{} {} {} → {now} ({})", change.feed, change.name, number(change.before), difference(change))
}

/// With the start: `… since Fri 27 Nov, 09:00`.
pub(super) fn change(change: &ValueChange, today: Today) -> String {
    format!("{} since {}", step(change), today.show(change.before_at))
}

pub(super) fn answer(answer: Answer) -> &'static str {
    match answer {
        Answer::Yes => "yes",
        Answer::No => "no",
        Answer::Uncertain => "uncertain",
    }
}

#[cfg(test)]
mod tests {
    use chrono_tz::Tz;

    use super::*;
    use kernel::testing::feeds::now;

    fn changed(before: f64, after: f64) -> ValueChange {
        let (feed, name, unit) = ("shop".into(), "latency".into(), "ms".into());
        ValueChange { feed, name, unit, before, before_at: now(), now: after, now_at: now(), usual: None }
    }

    #[test]
    fn a_change_has_a_sign_a_size_and_a_beginning() {
        let today = Today { now: now(), zone: Tz::UTC };
        assert_eq!(change(&changed(490.0, 502.0), today), "shop latency 490 → 502 ms (+12) since 22:50");
        assert_eq!(change(&changed(4.0, 1.0), today), "shop latency 4 → 1 ms (−3) since 22:50");
        assert_eq!(difference(&changed(0.1 + 0.2, 0.3)), "no change");
        assert!(!changed(0.1 + 0.2, 0.3).has_moved() && changed(0.0, 1.0).has_moved());
    }

    #[test]
    fn the_share_of_a_change_is_of_what_there_was() {
        let share = |before, after| changed(before, after).share();
        assert!((share(4.0, 6.0) - 0.5).abs() < 1e-9 && (share(4.0, 1.0) - 0.75).abs() < 1e-9);
        assert!((share(0.0, 3.0) - 1.0).abs() < 1e-9 && share(0.0, 0.0).abs() < 1e-9);
    }
}
