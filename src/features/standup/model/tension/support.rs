use std::collections::HashSet;

use crate::features::meeting::signal::{Claim, Evidence};
use crate::features::standup::model::page::{PageFeed, SharedPage};
use kernel::figure;
use kernel::text::{essence, fold_name};

/// Evidence in words is on the page if at least this share of its words is in one line of the feed.
const IN_COMMON: f64 = 0.5;

/// Splits claims into those whose evidence is on the shared page, and those whose feed or value is not there (STAND-10). A claim without evidence
/// counts as supported.
pub fn split_supported(claims: Vec<Claim>, page: &SharedPage) -> (Vec<Claim>, Vec<Claim>) {
    claims.into_iter().partition(|claim| claim.signal.evidence.as_ref().is_none_or(|evidence| is_on_page(evidence, page)))
}

fn is_on_page(evidence: &Evidence, page: &SharedPage) -> bool {
    let name = fold_name(&evidence.feed);
    page.feeds.iter().filter(|feed| fold_name(&feed.feed) == name).any(|feed| says(feed, &evidence.value, page))
}

/// Whether the feed contains this evidence: each of its numbers, or most of its words.
fn says(feed: &PageFeed, value: &str, page: &SharedPage) -> bool {
    let Some(reading) = feed.reading() else { return value.trim().is_empty() };
    let claimed = numbers(value);
    let items = || reading.items.iter().flat_map(|item| [item.text.as_str(), item.reference.as_str()]);
    if claimed.is_empty() {
        let words: Vec<String> = words(value).collect();
        let lines = items().chain(reading.values.iter().map(|value| value.name.as_str())).chain(reading.note.as_deref());
        return words.is_empty() || lines.map(self::words).any(|line| share_in(&words, &line.collect()) >= IN_COMMON);
    }
    let names = reading.values.iter().flat_map(|value| [value.name.as_str(), value.unit.as_str()]);
    let lines = items().chain(names).chain(reading.note.as_deref()).chain(reading.story.iter().map(String::as_str));
    let mut said: HashSet<String> = lines.flat_map(numbers).collect();
    let changes = page.changes.iter().filter(|change| change.feed == feed.feed);
    let figures = changes.flat_map(|change| [change.before, change.now, (change.now - change.before).abs()]);
    let figures = figures.chain(reading.values.iter().map(|value| value.number));
    said.extend(figures.map(figure::number).flat_map(|number| numbers(&number)));
    said.extend([reading.total, reading.items.len()].map(|count| count.to_string()));
    claimed.iter().all(|number| said.contains(number))
}

fn share_in(words: &[String], line: &HashSet<String>) -> f64 {
    let shared = words.iter().filter(|word| line.contains(*word)).count();
    f64::from(u32::try_from(shared).unwrap_or(u32::MAX)) / f64::from(u32::try_from(words.len()).unwrap_or(u32::MAX))
}

fn words(text: &str) -> impl Iterator<Item = String> {
    essence(text).split(' ').filter(|word| !word.is_empty()).map(str::to_owned).collect::<Vec<_>>().into_iter()
}

/// The numbers of a text, without signs, group separators, times and dates.
fn numbers(text: &str) -> HashSet<String> {
    let text = text.replace([',', '\u{202f}', '\u{a0}'], "");
    let words = text.split_whitespace().filter(|word| !is_time(word));
    let pieces = words.flat_map(|word| word.split(|c: char| !c.is_ascii_digit() && c != '.')).map(|piece| piece.trim_matches('.'));
    pieces.filter_map(|piece| piece.parse::<f64>().ok()).map(figure::number).collect()
}

/// `09:14`, `2026-11-20`: says when, and not how much.
fn is_time(word: &str) -> bool {
    let word = word.trim_matches(|c: char| !c.is_ascii_digit());
    let consists_of = |sign: char| word.chars().all(|c| c.is_ascii_digit() || c == sign);
    (word.contains(':') && consists_of(':')) || (word.matches('-').count() == 2 && consists_of('-'))
}

#[cfg(test)]
mod tests {
    use chrono::{DateTime, Utc};

    use super::*;
    use crate::features::meeting::signal::{Direction, Signal};
    use crate::features::standup::model::page::{PageItem, PageReading, PageValue};
    use crate::features::standup::model::report::ValueChange;

    fn page() -> SharedPage {
        let now: DateTime<Utc> = "2026-11-20T09:00:00Z".parse().unwrap();
        let item = PageItem {
            at: Some(now),
            what: "entry".to_owned(),
            by: None,
            text: "Payment provider answered 502 for four minutes".to_owned(),
            reference: "incident 12".to_owned(),
        };
        let value = |name: &str, number, unit: &str| PageValue { name: name.to_owned(), number, unit: unit.to_owned() };
        let reading = PageReading {
            source: "shop".to_owned(),
            as_of: now,
            items: vec![item],
            total: 7,
            values: vec![value("latency", 840.0, "ms"), value("orders", 1_240.5, ""), value("latency p95", 840.0, "ms")],
            note: None,
            story: vec!["840 ms at the 95th percentile, 3 times as slow as usual".to_owned()],
            seen: Vec::new(),
        };
        let feed = |name: &str, outcome| PageFeed {
            feed: name.to_owned(),
            kind: "http_json".to_owned(),
            of: Vec::new(),
            outcome,
            expect: Vec::new(),
        };
        let change = ValueChange {
            feed: "Shop".to_owned(),
            name: "latency".to_owned(),
            unit: "ms".to_owned(),
            before: 410.0,
            before_at: now,
            now: 840.0,
            now_at: now,
            usual: None,
        };
        let feeds = vec![feed("Shop", Ok(reading)), feed("prices", Err("down".to_owned()))];
        SharedPage { read_at: now, since: now, is_first: false, feeds, changes: vec![change], people: Vec::new() }
    }

    fn is_supported(feed: &str, value: &str) -> bool {
        let evidence = Some(Evidence { feed: feed.to_owned(), value: value.to_owned() });
        let signal = Signal { subject: "latency".to_owned(), direction: Direction::Up, confidence: 0.9, evidence };
        split_supported(vec![Claim { by: "vince".into(), signal }], &page()).1.is_empty()
    }

    #[test]
    fn evidence_is_what_stands_on_the_page() {
        for value in ["840 ms", "410 → 840 ms (+430)", "1,240.5", "7 entries", "latency", "provider answered 502", ""] {
            assert!(is_supported("shop", value), "{value}");
        }
    }

    #[test]
    fn a_value_that_stands_there_twice_is_there_however_it_is_quoted() {
        for value in
            ["latency p95: 840 ms", "latency 840 ms, p95 840 ms", "840 ms, 3 times as slow", "840 ms at 09:14", "502 in incident 12"]
        {
            assert!(is_supported("shop", value), "{value}");
        }
        assert!(!is_supported("shop", "latency p99: 840 ms"));
    }

    #[test]
    fn a_feed_or_a_value_that_is_not_there_supports_nothing() {
        for (feed, value) in
            [("shop", "841 ms"), ("shop", "840 of 900 ms"), ("shop", "the mood of the crew"), ("weather", "840 ms"), ("prices", "9 EUR")]
        {
            assert!(!is_supported(feed, value), "{feed} {value}");
        }
    }

    #[test]
    fn a_claim_without_evidence_is_kept() {
        let signal = Signal { subject: "mood".to_owned(), direction: Direction::Good, confidence: 0.4, evidence: None };
        assert_eq!(split_supported(vec![Claim { by: "echo".into(), signal }], &page()).1, []);
    }
}
