//! The shared page: a summary for the channel, and details for its thread (STAND-3).

use std::fmt::Write as _;

use crate::features::standup::model::checkin::PersonSaid;
use crate::features::standup::model::matter::list_matters;
use crate::features::standup::model::page::{PageFeed, PageItem, PageReading, SharedPage};
use kernel::chat::format::TextFormat;
use kernel::figure;
use kernel::persona::roster::Roster;

use crate::features::standup::render::medium::Medium;
use crate::features::standup::render::{labels, messages};

/// The most failed feeds and the most changes in the summary.
const FAILED: usize = 5;
const CHANGES: usize = 3;
/// The most characters of a name, a reason and an item.
const NAME: usize = 48;
const REASON: usize = 100;
const ITEM: usize = 200;
/// The most characters of a line of a person.
const SAID: usize = 1200;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageText {
    /// A short message for the channel.
    pub summary: String,
    /// Messages for the thread, each within the platform's limit.
    pub detail: Vec<String>,
}

pub fn render_page(page: &SharedPage, roster: &Roster, format: &TextFormat) -> PageText {
    let parts = page.list_with_material().map(|feed| render_feed(feed, roster)).chain(page.people.iter().map(render_person));
    let detail = messages::pack(parts, format);
    PageText { summary: render_summary(page, roster), detail }
}

fn render_summary(page: &SharedPage, roster: &Roster) -> String {
    let names: Vec<String> = page.people.iter().map(|said| short(&said.name, NAME)).collect();
    let from_people = if names.is_empty() { String::new() } else { format!("\n- From people: {}", names.join(", ")) };
    if page.feeds.is_empty() {
        return format!("Shared page: no participant has a feed.{from_people}");
    }
    let failed: Vec<(&str, &str)> =
        page.feeds.iter().filter_map(|feed| Some((feed.feed.as_str(), feed.outcome.as_ref().err()?.as_str()))).collect();
    let feeds = page.list_with_material().count();
    let read = feeds - failed.len();
    let mut text = format!("**Shared page**: read {read} of {} at {}.", labels::count(feeds, "feed"), roster.show_time(page.read_at));
    for (feed, reason) in failed.iter().take(FAILED) {
        let _ = write!(text, "\n- {} failed: {}", short(feed, NAME), short(reason, REASON));
    }
    if failed.len() > FAILED {
        let _ = write!(text, "\n- and {} more failed", failed.len() - FAILED);
    }
    let matters = list_matters(page);
    for change in matters.iter().filter_map(|matter| matter.change).take(CHANGES) {
        let (feed, name) = (short(&change.feed, NAME), short(&change.name, NAME));
        let (before, now) = (figure::number(change.before), short(&figure::amount(change.now, &change.name, &change.unit), NAME));
        let (difference, since) = (labels::difference(change.now - change.before), roster.show_time(change.before_at));
        let _ = write!(text, "\n- {feed} {name}: {before} → {now} ({difference} since {since})");
    }
    text + &from_people
}

/// What a person wrote before the standup, line by line.
fn render_person(said: &PersonSaid) -> String {
    let lines: Vec<String> =
        said.text.lines().filter(|line| !line.trim().is_empty()).map(|line| format!("- {}", short(line, SAID))).collect();
    format!("**{}**, before the standup:\n{}", short(&said.name, NAME), lines.join("\n"))
}

fn render_feed(feed: &PageFeed, roster: &Roster) -> String {
    let of: Vec<String> = feed.of.iter().map(|slug| short(roster.name_of(slug), NAME)).collect();
    let head = format!("**{}** ({}) of {}", short(&feed.feed, NAME), short(&feed.kind, NAME), of.join(", "));
    match &feed.outcome {
        Ok(reading) => format!("{head}: {}", render_reading(reading, roster)),
        Err(reason) => format!("{head} failed: {}", short(reason, ITEM)),
    }
}

fn render_reading(reading: &PageReading, roster: &Roster) -> String {
    let mut text = format!("{}, as of {}", short(&reading.source, ITEM), roster.show_time(reading.as_of));
    if let Some(note) = &reading.note {
        let _ = write!(text, ", {}", short(note, ITEM));
    }
    for value in &reading.values {
        let amount = figure::amount(value.number, &value.name, &value.unit);
        let _ = write!(text, "\n- {}: {}", short(&value.name, NAME), short(&amount, NAME));
    }
    for line in &reading.story {
        let _ = write!(text, "\n- {}", short(line, ITEM));
    }
    for item in &reading.items {
        let _ = write!(text, "\n- {}", render_item(item, roster));
    }
    if reading.total > reading.items.len() {
        let _ = write!(text, "\n- and {} more", reading.total - reading.items.len());
    }
    text
}

fn render_item(item: &PageItem, roster: &Roster) -> String {
    let at = item.at.map(|at| format!("{}, ", roster.show_time(at))).unwrap_or_default();
    let by = item.by.as_deref().map(|by| format!(" by {}", short(by, NAME))).unwrap_or_default();
    format!("{at}{}{by}: {} ({})", short(&item.what, NAME), short(&item.text, ITEM), short(&item.reference, ITEM))
}

fn short(text: &str, limit: usize) -> String {
    Medium::Chat.line_within(text, limit)
}

#[cfg(test)]
mod tests {
    use chrono::{DateTime, TimeDelta, Utc};

    use super::*;
    use crate::features::standup::model::page::PageValue;
    use crate::features::standup::model::report::ValueChange;
    use kernel::testing::roster as sample;

    fn at(text: &str) -> DateTime<Utc> {
        text.parse().unwrap()
    }

    fn change(feed: &str, name: &str, before: f64, now: f64) -> ValueChange {
        let (before_at, now_at) = (at("2026-11-19T08:00:00Z"), at("2026-11-20T08:00:00Z"));
        ValueChange { feed: feed.to_owned(), name: name.to_owned(), unit: String::new(), before, before_at, now, now_at, usual: None }
    }

    fn reading() -> PageReading {
        let item = PageItem {
            at: Some(at("2026-11-20T07:12:00Z")),
            what: "commit".to_owned(),
            by: Some("Ann".to_owned()),
            text: "Fix the *gauge* of the river".to_owned(),
            reference: "a1b2c3d".to_owned(),
        };
        PageReading {
            source: "git repository river".to_owned(),
            as_of: at("2026-11-20T08:00:00Z"),
            items: vec![item],
            total: 13,
            values: vec![PageValue { name: "commits".to_owned(), number: 502.0, unit: String::new() }],
            note: Some("the newest commit is 2 h old".to_owned()),
            story: Vec::new(),
            seen: Vec::new(),
        }
    }

    fn page(feeds: Vec<PageFeed>, changes: Vec<ValueChange>) -> SharedPage {
        let read_at = at("2026-11-20T08:00:01Z");
        SharedPage { read_at, since: read_at - TimeDelta::days(1), is_first: false, feeds, changes, people: Vec::new() }
    }

    fn feed(name: &str, outcome: Result<PageReading, String>) -> PageFeed {
        PageFeed { feed: name.to_owned(), kind: "git".to_owned(), of: vec!["vince".into(), "gone".into()], outcome, expect: Vec::new() }
    }

    #[test]
    fn a_page_tells_failures_and_the_biggest_changes() {
        let failed = feed("prices", Err("no answer within 10 s from http://127.0.0.1:9/prices.json".to_owned()));
        let changes = [("a", 100.0, 101.0), ("b", 5.0, 5.0), ("c", 1.0, 4.0), ("d", 0.0, 2.0), ("e", 10.0, 5.0)];
        let changes: Vec<_> = changes.map(|(name, before, now)| change("repository", name, before, now)).into();
        let value = |change: &ValueChange| PageValue { name: change.name.clone(), number: change.now, unit: String::new() };
        let repository = PageReading { values: changes.iter().map(value).collect(), ..reading() };
        let text =
            render_page(&page(vec![feed("repository", Ok(repository)), failed], changes), &sample::roster(), &TextFormat::plain(2000));
        insta::assert_snapshot!(format!("{}\n=====\n{}", text.summary, text.detail.join("\n=====\n")));
    }

    #[test]
    fn a_page_without_feeds_says_so() {
        let text = render_page(&page(Vec::new(), Vec::new()), &sample::roster(), &TextFormat::plain(2000));
        assert_eq!(text, PageText { summary: "Shared page: no participant has a feed.".to_owned(), detail: Vec::new() });
    }

    #[test]
    fn many_feeds_full_of_marks_stay_within_messages() {
        let marks = "@everyone `*_|".repeat(40);
        let item = PageItem { text: marks.clone(), by: Some(marks.clone()), reference: marks.clone(), ..reading().items[0].clone() };
        let long = PageReading { items: vec![item; 20], source: marks.clone(), note: Some(marks.clone()), ..reading() };
        let feeds = (0..40).map(|n| feed(&marks, if n % 2 == 0 { Ok(long.clone()) } else { Err(marks.clone()) })).collect();
        let text = render_page(&page(feeds, vec![change(&marks, &marks, 1.0, 2.0); 9]), &sample::roster(), &TextFormat::plain(2000));
        for message in text.detail.iter().chain([&text.summary]) {
            assert!(message.chars().count() <= 2000, "{message}");
        }
        assert!(text.summary.contains("and 15 more failed"), "{}", text.summary);
    }
}
