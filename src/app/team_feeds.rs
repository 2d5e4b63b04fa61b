//! The feeds of the team, for a tool: by name, as text.

use async_trait::async_trait;
use chrono::{DateTime, TimeDelta, Utc};
use chrono_tz::Tz;

use kernel::agent::Readings;
use kernel::feeds::{FeedItem, FeedQuery, Reading};
use kernel::ids::PersonaSlug;
use kernel::tools::FeedReader;

/// How many days of a feed a run gets, and how many items.
const DAYS: TimeDelta = TimeDelta::days(7);
const ITEMS: usize = 40;

/// The feeds that personas declare.
pub struct TeamFeeds {
    pub readings: Readings,
    /// The time zone in which personas and people read times.
    pub zone: Tz,
}

#[async_trait]
impl FeedReader for TeamFeeds {
    fn names(&self) -> Vec<String> {
        self.readings.names().into_iter().map(str::to_owned).collect()
    }

    async fn read(&self, persona: &PersonaSlug, name: &str, now: DateTime<Utc>) -> Result<String, String> {
        // Different feeds may share a name. The persona of the run decides.
        let own = self.readings.feeds_of(persona).iter().find(|feed| feed.name() == name);
        let feed = own.map_or_else(|| self.readings.get_feed(name), Ok).map_err(|error| error.to_string())?;
        let asked = FeedQuery { now, since: now - DAYS, until: now, limit: ITEMS };
        match feed.read(&asked).await {
            Ok(reading) => Ok(render(name, &reading, self.zone)),
            Err(error) => Err(format!("the feed {name} has no data: {}", error.describe(self.zone))),
        }
    }
}

fn render(name: &str, reading: &Reading, zone: Tz) -> String {
    let head = format!("{name} ({}), as of {}", reading.source, reading.as_of.with_timezone(&zone).format("%Y-%m-%d %H:%M %Z"));
    let values = reading.values.iter().map(|value| format!("value: {value}"));
    let left_out = reading.total.saturating_sub(reading.items.len());
    let more = (left_out > 0).then(|| format!("({left_out} more in the last {} days are left out)", DAYS.num_days()));
    let note = reading.note.iter().cloned();
    [head]
        .into_iter()
        .chain(note)
        .chain(values)
        .chain(reading.items.iter().map(|item| render_item(item, zone)))
        .chain(more)
        .collect::<Vec<_>>()
        .join("\n")
}

fn render_item(item: &FeedItem, zone: Tz) -> String {
    let at = item.at.map(|at| at.with_timezone(&zone).format("%Y-%m-%d %H:%M ").to_string()).unwrap_or_default();
    let by = item.by.as_ref().map(|by| format!(", {by}")).unwrap_or_default();
    let fact = format!("- {at}{} {}{by}: {}", item.what, item.reference, item.text);
    std::iter::once(fact).chain(item.values.iter().map(ToString::to_string)).collect::<Vec<_>>().join(", ")
}
