//! The shared page: every feed of the team, read side by side and kept with the meeting (STAND-3).

use std::collections::BTreeMap;

use anyhow::Context;
use chrono::{DateTime, TimeDelta, Utc};
use tokio_util::sync::CancellationToken;

use crate::features::meeting::agenda::Preparation;
use crate::features::meeting::model::Meeting;
use crate::features::meeting::signal::cut_at_sentence;
use crate::features::standup::model::checkin::PersonSaid;
use crate::features::standup::model::matter::rank_changes;
use crate::features::standup::model::page::{PageFeed, PageItem, PageReading, PageValue, SharedPage};
use crate::features::standup::model::report::{DayReport, FeedRead, Usual, ValueChange};
use crate::features::standup::{Standup, render, say};
use kernel::agent::PageEntry;
use kernel::chat::outbound::OutboundKind;
use kernel::db::StoreError;
use kernel::feeds::{FeedItem, FeedQuery, Reading, Sample};
use kernel::memory::retrieval::cut;

/// How many items of each feed are listed. Further items are only counted.
const ITEMS: usize = 12;

/// The items of news, which are new when they are first seen, whatever their date.
const ENTRY: &str = "entry";
/// How much of its text identifies an entry.
const IDENTIFYING: usize = 80;

/// The age of the oldest listed items: without an earlier report, and at most with one.
const FIRST: TimeDelta = TimeDelta::days(1);
const LONGEST: TimeDelta = TimeDelta::days(7);

/// The most characters of what a person wrote before the standup, equal to the limit of a report.
const SAID: usize = 1200;

/// How many earlier reports are searched for one that read a feed.
const EARLIER: usize = 10;

/// How far back values are compared.
const HISTORY: TimeDelta = TimeDelta::weeks(8);

/// The name of the thread with the page in full.
const THREAD: &str = "What the feeds said";

/// What the channel's earlier reports knew of a feed.
struct Earlier {
    /// When the last report read its data.
    at: DateTime<Utc>,
    /// What identifies the items that are known.
    known: Vec<String>,
}

impl Standup {
    pub(super) async fn prepare_page(&self, meeting: &Meeting, cancel: &CancellationToken) -> anyhow::Result<Preparation> {
        let page = tokio::select! {
            page = self.read_page(meeting) => page?,
            () = cancel.cancelled() => anyhow::bail!("the process is ending"),
        };
        let text = render::render_page(&page, &self.deps.roster, &self.deps.platform.text_format(&meeting.channel.id));
        let summary = say(meeting, OutboundKind::Report, text.summary);
        let detail = self.in_thread(&meeting.facilitator, &meeting.channel.id, &summary, THREAD, &text.detail);
        let outbox = std::iter::once(summary).chain(detail).collect();
        Ok(Preparation { material: serde_json::to_value(&page).context("a shared page cannot be written")?, outbox })
    }

    async fn read_page(&self, meeting: &Meeting) -> anyhow::Result<SharedPage> {
        let now = self.deps.clock.now();
        let last = self.deps.store.find_last_report(&meeting.channel.id, meeting.day).await?.map(|last| last.report);
        let since = last.as_ref().map_or(now - FIRST, |last| last.as_of().max(now - LONGEST)).min(now);
        let read = self.deps.agents.readings.read_page(&FeedQuery { now, since, until: now, limit: ITEMS }).await;
        // Read after the feeds, because those take a while.
        let people = self.deps.store.list_said_before_standup(&meeting.channel.id, meeting.day).await?;
        let people = people.into_iter().map(|said| PersonSaid { text: shorten(said.text.trim()), ..said }).collect();
        let mut page = SharedPage { read_at: now, since, is_first: last.is_none(), feeds: Vec::new(), changes: Vec::new(), people };
        let mut samples = Vec::new();
        for entry in read {
            let mut earlier = None;
            if let Some(last) = &last {
                page.changes.extend(self.find_changes(&entry, last).await?);
                earlier = Some(Earlier { at: last.as_of(), known: self.find_known(&entry.feed, last).await? });
            }
            samples.extend(entry.samples.iter().cloned());
            page.feeds.push(self.page_feed(entry, earlier.as_ref()));
        }
        page.changes = rank_changes(&page);
        // Recorded after the comparison, which needs the earlier samples. A crash between the two loses only a sample.
        self.deps.store.record_samples(&samples, now).await?;
        Ok(page)
    }

    /// The feed's values at the last report of the channel, if they have changed since.
    async fn find_changes(&self, entry: &PageEntry, last: &DayReport) -> anyhow::Result<Vec<ValueChange>> {
        let mut changes = Vec::new();
        for now in &entry.samples {
            let told = last.find_feed(&entry.feed).and_then(|read| find_told(read, now));
            let before = match told {
                Some(told) => Some(told),
                // The feed had no data then, or an earlier version wrote the report.
                None => self.deps.store.find_sample_before(&now.feed, &now.name, last.as_of()).await?,
            };
            let Some(change) = before.and_then(|before| ValueChange::between(&entry.feed, &before, now)) else { continue };
            changes.push(ValueChange { usual: self.find_usual(now).await?, ..change });
        }
        Ok(changes)
    }

    /// The known items of a feed, by the last report that read it. Reports in which it failed are skipped.
    pub(super) async fn find_known(&self, feed: &str, last: &DayReport) -> Result<Vec<String>, StoreError> {
        if let Some(read) = last.find_feed(feed) {
            return Ok(read.known.clone());
        }
        let mut day = last.day;
        for _ in 0..EARLIER {
            let Some(before) = day.pred_opt() else { break };
            let Some(stored) = self.deps.store.find_last_report(&last.channel, before).await? else { break };
            if let Some(read) = stored.report.find_feed(feed) {
                return Ok(read.known.clone());
            }
            day = stored.report.day;
        }
        Ok(Vec::new())
    }

    fn page_feed(&self, entry: PageEntry, earlier: Option<&Earlier>) -> PageFeed {
        let outcome = entry.outcome.map(|reading| page_reading(reading, earlier));
        let outcome = outcome.map_err(|error| error.describe(self.deps.terms.zone));
        PageFeed { feed: entry.feed, kind: entry.kind, of: entry.personas, outcome, expect: entry.expect }
    }

    /// The usual value of a feed, from the last sample of each earlier day.
    async fn find_usual(&self, now: &Sample) -> anyhow::Result<Option<Usual>> {
        let zone = self.deps.terms.zone;
        let day_of = |at: DateTime<Utc>| at.with_timezone(&zone).date_naive();
        let samples = self.deps.store.list_samples(&now.feed, &now.name, now.at - HISTORY, now.at).await?;
        let comparable = samples.iter().filter(|sample| sample.unit == now.unit && day_of(sample.at) < day_of(now.at));
        let days: BTreeMap<_, _> = comparable.map(|sample| (day_of(sample.at), sample.number)).collect();
        Ok(Usual::of(&days.into_iter().collect::<Vec<_>>(), day_of(now.at)))
    }
}

/// A value as the last report showed it.
fn find_told(read: &FeedRead, now: &Sample) -> Option<Sample> {
    let told = read.numbers.iter().find(|value| value.name == now.name)?;
    Some(Sample { feed: now.feed.clone(), name: told.name.clone(), unit: told.unit.clone(), at: read.as_of, number: told.number })
}

/// What identifies an entry of news. A site may give several entries the same address, such as the updates of an incident.
fn identify(item: &FeedItem) -> String {
    format!("{} {}", item.reference, cut(&item.text, IDENTIFYING))
}

/// Whether the identity of an entry is among the known items. Reports of earlier versions have only addresses.
fn has_entries(known: &[String]) -> bool {
    known.iter().any(|known| known.contains(' '))
}

/// Removes items that an earlier report already had: news, and items without a time. If no entry of the feed is known, as after an upgrade
/// or for an added feed, only those that are dated since the last report are new.
fn drop_known(reading: &mut Reading, earlier: &Earlier) {
    let Earlier { at: last, known } = earlier;
    let (knows_entries, is_news) = (has_entries(known), reading.items.iter().any(|item| item.what == ENTRY));
    let listed = reading.items.len();
    reading.items.retain(|item| {
        if item.what == ENTRY && knows_entries {
            !known.contains(&identify(item))
        } else if item.what == ENTRY {
            item.at.is_some_and(|at| at >= *last)
        } else {
            item.at.is_some() || !known.contains(&item.reference)
        }
    });
    let left = reading.items.len();
    // Entries beyond the limit of reading are older than those that were read.
    reading.total = if is_news { left } else { reading.total.saturating_sub(listed - left) };
}

fn page_reading(mut reading: Reading, earlier: Option<&Earlier>) -> PageReading {
    let seen = reading.items.iter().filter(|item| item.what == ENTRY).map(identify).collect();
    if let Some(earlier) = earlier {
        drop_known(&mut reading, earlier);
    }
    reading.items.truncate(ITEMS);
    let item =
        |item: FeedItem| PageItem { at: item.at, what: item.what.into_owned(), by: item.by, text: item.text, reference: item.reference };
    let value =
        |value: kernel::feeds::Value| PageValue { name: value.name.to_string(), number: value.number, unit: value.unit.to_string() };
    // Removes items that only repeat the values.
    let (news, repeated): (Vec<_>, Vec<_>) = reading.items.into_iter().partition(|item| item.what != "value");
    PageReading {
        source: reading.source,
        as_of: reading.as_of,
        total: reading.total.saturating_sub(repeated.len()),
        items: news.into_iter().map(item).collect(),
        values: reading.values.into_iter().map(value).collect(),
        note: reading.note,
        story: reading.story,
        seen,
    }
}

/// What a person said, with the size of what is left out.
fn shorten(text: &str) -> String {
    let shown = cut_at_sentence(text, SAID);
    match text.chars().count().saturating_sub(shown.chars().count()) {
        0 | 1 => shown,
        more => format!("{shown}\n(… {more} characters more: see the messages)"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kernel::testing::feeds::now;

    fn entry(text: &str, days_ago: i64) -> FeedItem {
        let (at, reference) = (Some(now() - TimeDelta::days(days_ago)), "https://status.example".to_owned());
        FeedItem { at, what: ENTRY.into(), by: None, text: text.into(), reference, values: Vec::new() }
    }

    fn reading(items: Vec<FeedItem>) -> Reading {
        Reading { source: "status".into(), as_of: now(), values: Vec::new(), total: items.len(), items, note: None, story: Vec::new() }
    }

    fn texts(page: &PageReading) -> Vec<&str> {
        page.items.iter().map(|item| item.text.as_str()).collect()
    }

    #[test]
    fn news_are_new_when_they_are_first_seen_whatever_their_date() {
        let first = page_reading(reading(vec![entry("Maintenance on Sunday", 1), entry("All quiet", 9)]), None);
        assert_eq!(texts(&first), ["Maintenance on Sunday", "All quiet"], "a first report shows what is there");
        let earlier = Earlier { at: now(), known: first.seen.clone() };
        let second = reading(vec![entry("Maintenance on Sunday", 1), entry("Outage of the provider", 3), entry("All quiet", 9)]);
        let second = page_reading(second, Some(&earlier));
        assert_eq!((texts(&second), second.total, second.seen.len()), (vec!["Outage of the provider"], 1, 3));
    }

    #[test]
    fn of_many_entries_the_newest_are_listed_and_all_are_known() {
        let page = page_reading(reading((0..40).map(|number| entry(&format!("Entry {number}"), number)).collect()), None);
        assert_eq!((page.items.len(), page.total, page.seen.len()), (ITEMS, 40, 40));
    }

    #[test]
    fn where_no_entry_is_known_only_those_since_the_last_report_are_new_and_all_are_known_then() {
        let read = || reading((0..40).map(|number| entry(&format!("Entry {number}"), number)).collect());
        let at = now() - TimeDelta::days(1);
        let by_an_earlier_version = vec!["https://status.example".to_owned()];
        for known in [Vec::new(), by_an_earlier_version] {
            let page = page_reading(read(), Some(&Earlier { at, known }));
            assert_eq!((texts(&page), page.total, page.seen.len()), (vec!["Entry 0", "Entry 1"], 2, 40));
            let next = page_reading(read(), Some(&Earlier { at: now(), known: page.seen }));
            assert_eq!((next.items.len(), next.total, next.seen.len()), (0, 0, 40));
        }
        let undated = FeedItem { at: None, ..entry("Undated", 0) };
        let page = page_reading(reading(vec![undated]), Some(&Earlier { at, known: Vec::new() }));
        assert_eq!((page.items.len(), page.total, page.seen.len()), (0, 0, 1));
    }

    #[test]
    fn entries_beyond_the_limit_of_reading_are_not_new() {
        let read = Reading { total: 10_000, ..reading(vec![entry("One", 1), entry("Two", 2)]) };
        let known = read.items.iter().skip(1).map(identify).collect();
        let page = page_reading(read, Some(&Earlier { at: now(), known }));
        assert_eq!((texts(&page), page.total), (vec!["One"], 1));
    }

    #[test]
    fn a_long_report_of_a_person_says_how_much_of_it_is_left_out() {
        let said = shorten(&"It rose again. ".repeat(100));
        assert!(said.ends_with("It rose again.\n(… 301 characters more: see the messages)"), "{said}");
        assert_eq!(shorten("It rose."), "It rose.");
    }
}
