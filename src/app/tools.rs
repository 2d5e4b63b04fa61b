//! The tools of the team, and what they reach into.

use std::sync::Arc;

use async_trait::async_trait;
use chrono::{DateTime, TimeDelta, Utc};

use crate::config::Config;
use crate::domain::ids::PersonaSlug;
use crate::domain::roster::Roster;
use crate::feeds::{Feed, FeedItem, FeedQuery, Reading, Value};
use crate::persona::turn::{Performer, Readings};
use crate::tools::web::{SystemLookup, web_tools};
use crate::tools::workspace::Workspaces;
use crate::tools::{FeedReader, LocalParts, Toolbox, local_tools};

/// How far back a feed is read for a run, and how many items of it.
const DAYS: TimeDelta = TimeDelta::days(7);
const ITEMS: usize = 50;

/// All tools that there are by these settings.
///
/// # Errors
/// A tool is set in a way that cannot work.
pub(super) fn toolbox(config: &Config, roster: &Arc<Roster>, performer: &Performer, workspaces: &Workspaces) -> anyhow::Result<Toolbox> {
    let mut tools = local_tools(LocalParts {
        workspaces: workspaces.clone(),
        work: config.work.clone(),
        feeds: Arc::new(TeamFeeds(performer.readings.clone())),
        store: performer.store.clone(),
        roster: roster.clone(),
        people: super::people(config),
    });
    tools.extend(web_tools(&config.tools, Arc::new(SystemLookup))?);
    Ok(Toolbox::new(tools, performer.clock.clone()))
}

struct TeamFeeds(Readings);

#[async_trait]
impl FeedReader for TeamFeeds {
    fn names(&self) -> Vec<String> {
        self.0.names().into_iter().map(str::to_owned).collect()
    }

    async fn read(&self, persona: &PersonaSlug, feed: &str, now: DateTime<Utc>) -> Result<String, String> {
        let own = self.0.feeds_of(persona).iter().find(|own| own.name() == feed);
        let found: &Feed = match own {
            Some(own) => own,
            None => self.0.get_feed(feed).map_err(|missing| missing.to_string())?,
        };
        let query = FeedQuery { now, since: now - DAYS, until: now, limit: ITEMS };
        found.read(&query).await.map(|reading| render(&reading)).map_err(|error| error.to_string())
    }
}

/// A reading as lines: where from and how old, its values, then what happened.
fn render(reading: &Reading) -> String {
    let head = format!("{}, as of {}", reading.source, reading.as_of.format("%Y-%m-%d %H:%M UTC"));
    let values = reading.values.iter().map(Value::to_string);
    let items = reading.items.iter().map(item_line);
    let left_out = reading.total.checked_sub(reading.items.len()).filter(|more| *more > 0).map(|more| format!("and {more} more"));
    std::iter::once(head).chain(reading.note.clone()).chain(values).chain(items).chain(left_out).collect::<Vec<_>>().join("\n")
}

fn item_line(item: &FeedItem) -> String {
    let at = item.at.map_or(String::new(), |at| format!("{}, ", at.format("%Y-%m-%d %H:%M")));
    let by = item.by.as_deref().map_or(String::new(), |by| format!(", {by}"));
    let values: String = item.values.iter().map(|value| format!(", {value}")).collect();
    format!("- {at}{} {}{by}: {}{values}", item.what, item.reference, item.text)
}
