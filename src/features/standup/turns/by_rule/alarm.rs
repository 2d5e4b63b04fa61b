//! Detects values that should be zero by their name: `checks down`, `failed jobs`. Needs no history.

use chrono::{DateTime, Utc};

use crate::features::backlog::model::{ExecutionKind, ProposedAction, Urgency, WatchTerms};
use crate::features::meeting::signal::{Direction, Evidence, Signal};
use crate::features::standup::model::page::{PageFeed, PageReading, PageValue};
use crate::features::standup::turns::by_rule::actions::{PATIENCE, owner_of};
use crate::features::standup::turns::figures;
use kernel::agent::offline::wording::{foreign, moment};
use kernel::feeds::condition::{Comparison, SettlingRule};
use kernel::figure;
use kernel::persona::roster::Roster;

#[rustfmt::skip] // One word a line would bury the list.
const BEST_AT_ZERO: [&str; 18] = [
    "crash", "crashes", "dead", "down", "error", "errors", "failed", "failing", "failure", "failures", "incidents", "lost", "outages", "overdue",
    "rejected", "stuck", "timeouts", "unhealthy",
];

/// A name may mislead, so the confidence is limited.
const CONFIDENCE: f64 = 0.7;

/// The values of a feed that should be zero but are not.
pub(super) fn list_alarms(reading: &PageReading) -> impl Iterator<Item = &PageValue> {
    let is_best_at_zero = |name: &str| name.to_lowercase().split(|c: char| !c.is_alphanumeric()).any(|word| BEST_AT_ZERO.contains(&word));
    reading.values.iter().filter(move |value| value.number > 0.0 && is_best_at_zero(&value.name))
}

pub(super) fn signal(feed: &PageFeed, value: &PageValue) -> Signal {
    Signal {
        subject: format!("{} {}", feed.feed, value.name),
        direction: Direction::Bad,
        confidence: CONFIDENCE,
        evidence: Some(Evidence { feed: feed.feed.clone(), value: figure::amount(value.number, &value.name, &value.unit) }),
    }
}

/// The action for an alarm.
pub(super) fn look_into(feed: &PageFeed, reading: &PageReading, value: &PageValue, roster: &Roster, now: DateTime<Utc>) -> ProposedAction {
    let (name, said) = (foreign(&feed.feed, 60), foreign(&figures::value(value), 60));
    let rule = SettlingRule {
        feed: feed.feed.clone(),
        value: value.name.clone(),
        unit: value.unit.clone(),
        comparison: Comparison::AtMost,
        threshold: 0.0,
    };
    ProposedAction {
        what: format!("Look into {} of {name}", foreign(&value.name, 60)),
        how: format!("Find the cause at {}. Bring it to 0, or explain why it may stay.", foreign(&reading.source, 120)),
        why: format!("The feed {name} says {said} at {}.", moment(reading.as_of, now)),
        owner: owner_of(feed.of.first(), roster),
        urgency: Urgency::Today,
        execution: Some(ExecutionKind::Watch),
        watch: Some(WatchTerms { feed: feed.feed.clone(), rule: Some(rule), until: now + PATIENCE }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn alarms(values: &[(&str, f64)]) -> Vec<String> {
        let value = |(name, number): &(&str, f64)| PageValue { name: (*name).to_owned(), number: *number, unit: String::new() };
        let reading = PageReading {
            source: "x".into(),
            as_of: DateTime::UNIX_EPOCH,
            items: Vec::new(),
            total: 0,
            values: values.iter().map(value).collect(),
            note: None,
        };
        list_alarms(&reading).map(|value| value.name.clone()).collect()
    }

    #[test]
    fn what_is_best_at_zero_and_is_not_is_an_alarm() {
        assert_eq!(
            alarms(&[("checks down", 1.0), ("Failed-Jobs", 2.0), ("errors", 0.0), ("downloads", 9.0), ("up", 3.0)]),
            ["checks down", "Failed-Jobs"]
        );
    }
}
