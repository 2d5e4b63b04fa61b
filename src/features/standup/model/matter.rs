//! Ranks the values of the shared page by their consequence, and not by the size of a percentage (STAND-18).

use std::collections::HashSet;

use crate::features::standup::model::page::{PageFeed, PageItem, PageReading, PageValue, SharedPage};
use crate::features::standup::model::report::ValueChange;
use kernel::feeds::condition::Expectation;
use kernel::text::essence;

/// From this distance to its median on, in multiples of its usual distance, a value counts as unusual.
const UNUSUAL: f64 = 3.0;

/// A relative change above this is large. For values without a history.
const LARGE: f64 = 0.5;

/// Names of values that should be zero. For feeds that declare no expectation.
#[rustfmt::skip] // One word a line would bury the list.
const BEST_AT_ZERO: [&str; 18] = [
    "crash", "crashes", "dead", "down", "error", "errors", "failed", "failing", "failure", "failures", "incidents", "lost", "outages", "overdue",
    "rejected", "stuck", "timeouts", "unhealthy",
];

/// Why a value matters, the most important reason first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Consequence {
    /// The value is not as the operator expects.
    Wrong,
    /// The value is far from its usual one.
    Unusual,
    /// The value has changed.
    Moved,
    /// The value is about the team's own work.
    Own,
}

/// A value that matters.
#[derive(Debug, Clone, Copy)]
pub struct Matter<'a> {
    pub consequence: Consequence,
    pub feed: &'a PageFeed,
    pub reading: &'a PageReading,
    pub value: &'a PageValue,
    pub change: Option<&'a ValueChange>,
    /// The operator's expectation of the value.
    pub expected: Option<&'a Expectation>,
    /// The size of the change, to compare matters with the same consequence.
    size: f64,
}

/// All values that are wrong or have changed, the most important first.
pub fn list_matters(page: &SharedPage) -> Vec<Matter<'_>> {
    let readings = page.feeds.iter().filter_map(|feed| Some((feed, feed.reading()?)));
    let values = readings.flat_map(|(feed, reading)| reading.values.iter().map(move |value| (feed, reading, value)));
    let mut matters: Vec<Matter<'_>> = values.filter_map(|(feed, reading, value)| judge(page, feed, reading, value)).collect();
    // A stable sort, so that equal matters keep the order of the page.
    matters.sort_by(|a, b| a.consequence.cmp(&b.consequence).then(b.size.total_cmp(&a.size)));
    matters
}

/// The changes of the page, the most important first.
pub fn rank_changes(page: &SharedPage) -> Vec<ValueChange> {
    list_matters(page).iter().filter_map(|matter| matter.change.cloned()).collect()
}

fn judge<'a>(page: &'a SharedPage, feed: &'a PageFeed, reading: &'a PageReading, value: &'a PageValue) -> Option<Matter<'a>> {
    let is_same = |change: &&ValueChange| change.feed == feed.feed && change.name == value.name && change.has_moved();
    let change = page.changes.iter().find(is_same);
    let expected = feed.expect.iter().find(|expected| expected.value == value.name);
    let consequence = match (expected, change) {
        (Some(expected), _) if !expected.is_met(value.number) => Consequence::Wrong,
        (None, _) if !feed.is_own() && should_be_zero(value, change) => Consequence::Wrong,
        // The number of entries says little, because the entries themselves are the news.
        (_, Some(_)) if feed.is_news() => return None,
        (_, None) => return None,
        (_, Some(_)) if feed.is_own() => Consequence::Own,
        (_, Some(change)) if is_unusual(change) => Consequence::Unusual,
        (_, Some(_)) => Consequence::Moved,
    };
    Some(Matter { consequence, feed, reading, value, change, expected, size: change.map_or(0.0, size) })
}

/// Whether a value is not zero although it usually is, or although its name says that it should be.
fn should_be_zero(value: &PageValue, change: Option<&ValueChange>) -> bool {
    let usual = change.and_then(|change| change.usual);
    let is_usually_zero = usual.is_some_and(|usual| usual.median == 0.0 && usual.spread == 0.0);
    let is_named_so = value.name.to_lowercase().split(|c: char| !c.is_alphanumeric()).any(|word| BEST_AT_ZERO.contains(&word));
    value.number > 0.0 && (is_usually_zero || is_named_so)
}

fn is_unusual(change: &ValueChange) -> bool {
    change.usual.map_or_else(|| change.share() > LARGE, |usual| usual.distance(change.now) >= UNUSUAL)
}

/// Without a history, a change by half counts as much as the smallest unusual one.
fn size(change: &ValueChange) -> f64 {
    change.usual.map_or_else(|| change.share() * UNUSUAL / LARGE, |usual| usual.distance(change.now))
}

/// The news entry that has the most words in common with the team's subjects, or the newest of several.
pub fn find_news<'a>(page: &'a SharedPage, watched: &[String]) -> Option<(&'a PageFeed, &'a PageItem)> {
    let readings = page.feeds.iter().filter(|feed| feed.is_news()).filter_map(|feed| Some((feed, feed.reading()?)));
    let items = readings.flat_map(|(feed, reading)| reading.items.iter().map(move |item| (feed, item)));
    items.max_by_key(|(_, item)| (count_in_common(&item.text, watched), item.at))
}

/// The number of words that a text has in common with the team's subjects.
pub fn count_in_common(text: &str, watched: &[String]) -> usize {
    let watched: HashSet<String> = watched.iter().flat_map(|text| words(text)).collect();
    words(text).iter().filter(|word| watched.contains(*word)).count()
}

fn words(text: &str) -> Vec<String> {
    let mut words: Vec<String> = essence(text).split(' ').filter(|word| word.chars().count() > 2).map(str::to_owned).collect();
    words.dedup();
    words
}

#[cfg(test)]
mod tests {
    use chrono::{DateTime, TimeDelta, Utc};

    use super::*;
    use crate::features::standup::model::report::Usual;
    use Consequence::{Moved, Own, Unusual, Wrong};

    fn now() -> DateTime<Utc> {
        "2026-11-20T09:00:00Z".parse().unwrap()
    }

    fn feed(name: &str, kind: &str, values: &[(&str, f64)]) -> PageFeed {
        let value = |(name, number): &(&str, f64)| PageValue { name: (*name).to_owned(), number: *number, unit: String::new() };
        let values = values.iter().map(value).collect();
        let reading = PageReading {
            source: name.to_owned(),
            as_of: now(),
            items: Vec::new(),
            total: 0,
            values,
            note: None,
            story: Vec::new(),
            seen: Vec::new(),
        };
        PageFeed { feed: name.to_owned(), kind: kind.to_owned(), of: Vec::new(), outcome: Ok(reading), expect: Vec::new() }
    }

    fn page(feeds: Vec<PageFeed>, changes: Vec<ValueChange>) -> SharedPage {
        SharedPage { read_at: now(), since: now() - TimeDelta::days(1), is_first: false, feeds, changes, people: Vec::new() }
    }

    fn change(feed: &str, name: &str, before: f64, after: f64, usual: Option<(f64, f64)>) -> ValueChange {
        let usual = usual.map(|(median, spread)| Usual { median, spread });
        let (feed, name, before_at) = (feed.to_owned(), name.to_owned(), now() - TimeDelta::days(1));
        ValueChange { feed, name, unit: String::new(), before, before_at, now: after, now_at: now(), usual }
    }

    fn told(page: &SharedPage) -> Vec<(&str, Consequence)> {
        list_matters(page).iter().map(|matter| (matter.value.name.as_str(), matter.consequence)).collect()
    }

    #[test]
    fn what_is_wrong_comes_before_what_is_unusual_and_the_teams_own_work_last() {
        let feeds = vec![
            feed("backlog", "backlog", &[("open", 39.0), ("failed", 2.0)]),
            feed("shop", "http_json", &[("visits", 90.0), ("p95", 840.0)]),
            feed("ci", "http_json", &[("failed jobs", 4.0), ("Warteschlange", 3.0)]),
        ];
        let changes = vec![
            change("backlog", "open", 2.0, 39.0, None),
            change("shop", "visits", 100.0, 90.0, None),
            change("shop", "p95", 410.0, 840.0, None),
            change("ci", "failed jobs", 1.0, 4.0, None),
            change("ci", "Warteschlange", 0.0, 3.0, Some((0.0, 0.0))),
        ];
        let expected = [("Warteschlange", Wrong), ("failed jobs", Wrong), ("p95", Unusual), ("visits", Moved), ("open", Own)];
        assert_eq!(told(&page(feeds, changes)), expected);
    }

    #[test]
    fn an_expectation_decides_and_not_the_name() {
        let mut ci = feed("ci", "http_json", &[("errors", 3.0), ("p95", 310.0), ("free", 9.0)]);
        ci.expect = ["errors < 5", "p95 < 300", "free > 5"]
            .iter()
            .map(|line| line.split_once(' ').and_then(|(name, condition)| Expectation::parse(name, condition)).unwrap())
            .collect();
        assert_eq!(told(&page(vec![ci], Vec::new())), [("p95", Wrong)]);
    }

    #[test]
    fn a_change_is_held_against_the_values_own_history() {
        let feeds = vec![feed("shop", "http_json", &[("visits", 400.0), ("p95", 460.0)])];
        // Visits go up and down by hundreds each day. The latency hardly ever moves.
        let changes =
            vec![change("shop", "visits", 900.0, 400.0, Some((600.0, 250.0))), change("shop", "p95", 400.0, 460.0, Some((400.0, 5.0)))];
        assert_eq!(told(&page(feeds, changes)), [("p95", Unusual), ("visits", Moved)]);
    }

    #[test]
    fn what_is_usual_is_what_was_on_such_days() {
        let today = "2026-11-20".parse().unwrap();
        let day = |ago: i64, value: f64| (today - TimeDelta::days(ago), value);
        let few: Vec<_> = (1..=4).map(|ago| day(ago, 10.0)).collect();
        assert_eq!(Usual::of(&few, today), None);
        let week: Vec<_> = (1..=40).map(|ago| day(ago, if ago % 7 == 0 { 100.0 } else { 10.0 })).collect();
        let fridays = Usual::of(&week, today).unwrap();
        assert_eq!((fridays.median, fridays.spread), (100.0, 0.0));
        assert!(fridays.distance(101.0) < 1.0 && fridays.distance(130.0) > UNUSUAL);
    }

    #[test]
    fn the_news_is_what_has_to_do_with_the_team() {
        let mut news = feed("news", "rss", &[]);
        let texts = ["A cat won the election", "Attackers break payment gateways of shops", "Rain tomorrow"];
        let items = (0..).zip(texts).map(|(hours, text)| PageItem {
            at: Some(now() - TimeDelta::hours(hours)),
            what: "entry".to_owned(),
            by: None,
            text: text.to_owned(),
            reference: "https://news.example".to_owned(),
        });
        news.outcome.as_mut().unwrap().items = items.collect();
        let page = page(vec![news], Vec::new());
        let find = |watched: &str| find_news(&page, &[watched.to_owned()]).unwrap().1.text.as_str();
        assert_eq!(find("the payments of our shop"), texts[1]);
        assert_eq!(find("spacecraft"), texts[0], "the newest");
    }
}
