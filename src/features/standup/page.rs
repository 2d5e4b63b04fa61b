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
use kernel::feeds::{FeedQuery, Reading, Sample};

/// How many items of each feed are listed. Further items are only counted.
const ITEMS: usize = 12;

/// The age of the oldest listed items: without an earlier report, and at most with one.
const FIRST: TimeDelta = TimeDelta::days(1);
const LONGEST: TimeDelta = TimeDelta::days(7);

/// The most characters of what a person wrote before the standup, equal to the limit of a report.
const SAID: usize = 1200;

/// How far back values are compared.
const HISTORY: TimeDelta = TimeDelta::weeks(8);

/// The name of the thread with the page in full.
const THREAD: &str = "What the feeds said";

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
        let people = people.into_iter().map(|said| PersonSaid { text: cut_at_sentence(said.text.trim(), SAID), ..said }).collect();
        let mut page = SharedPage { read_at: now, since, is_first: last.is_none(), feeds: Vec::new(), changes: Vec::new(), people };
        let mut samples = Vec::new();
        for entry in read {
            if let Some(last) = &last {
                page.changes.extend(self.find_changes(&entry, last).await?);
            }
            samples.extend(entry.samples.iter().cloned());
            page.feeds.push(self.page_feed(entry, last.as_ref()));
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

    fn page_feed(&self, entry: PageEntry, last: Option<&DayReport>) -> PageFeed {
        let read = last.and_then(|last| last.find_feed(&entry.feed));
        let outcome = entry.outcome.map(|reading| page_reading(drop_known(reading, read)));
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

/// Removes items without a time that the last report already had.
fn drop_known(mut reading: Reading, last: Option<&FeedRead>) -> Reading {
    let Some(last) = last else { return reading };
    let listed = reading.items.len();
    reading.items.retain(|item| item.at.is_some() || !last.known.contains(&item.reference));
    reading.total = reading.total.saturating_sub(listed - reading.items.len());
    reading
}

fn page_reading(reading: Reading) -> PageReading {
    let item = |item: kernel::feeds::FeedItem| PageItem {
        at: item.at,
        what: item.what.into_owned(),
        by: item.by,
        text: item.text,
        reference: item.reference,
    };
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
    }
}
