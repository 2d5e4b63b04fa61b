//! In-memory feed sources for tests.

use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use chrono::{DateTime, TimeZone as _, Utc};
use chrono_tz::Tz;

use crate::feeds::{ActivityLine, ActivitySource, Backlog, BacklogSource, Feed, FeedSources, LedgerSource, Services, Web};
use crate::money::{CostGroup, CostLine};
use crate::persona::FeedSpec;
use crate::time::{ManualClock, Today};

/// Saturday, 22:50.
pub fn now() -> DateTime<Utc> {
    Utc.with_ymd_and_hms(2026, 11, 21, 22, 50, 0).unwrap()
}

/// The same time for a team in UTC.
pub fn today() -> Today {
    Today { now: now(), zone: Tz::UTC }
}

/// Returns its data for every range.
#[derive(Debug, Default, Clone)]
pub struct Told {
    pub activity: Vec<ActivityLine>,
    pub backlog: Backlog,
    /// Calls by start of day, persona and model.
    pub costs: Vec<(DateTime<Utc>, &'static str, &'static str, CostLine)>,
    pub broken: bool,
}

#[async_trait]
impl ActivitySource for Told {
    async fn list_activity(&self, _: DateTime<Utc>, _: DateTime<Utc>) -> anyhow::Result<Vec<ActivityLine>> {
        anyhow::ensure!(!self.broken, "the database is locked");
        Ok(self.activity.clone())
    }
}

#[async_trait]
impl BacklogSource for Told {
    async fn read_backlog(&self, _: DateTime<Utc>, _: DateTime<Utc>, _: DateTime<Utc>, _: usize) -> anyhow::Result<Backlog> {
        anyhow::ensure!(!self.broken, "the database is locked");
        Ok(self.backlog.clone())
    }
}

#[async_trait]
impl LedgerSource for Told {
    async fn list_costs(&self, since: DateTime<Utc>, until: DateTime<Utc>, group: CostGroup) -> anyhow::Result<Vec<CostLine>> {
        anyhow::ensure!(!self.broken, "the database is locked");
        let mut sums: Vec<CostLine> = Vec::new();
        for (at, persona, model, line) in self.costs.iter().filter(|(at, ..)| (since..=until).contains(at)) {
            let key = match group {
                CostGroup::Day => at.format("%Y-%m-%d").to_string(),
                CostGroup::Persona => (*persona).to_owned(),
                CostGroup::Purpose | CostGroup::Model | CostGroup::Item => (*model).to_owned(),
            };
            match sums.iter_mut().find(|sum| sum.key == key) {
                Some(sum) => {
                    sum.calls += line.calls;
                    sum.cost = sum.cost + line.cost;
                    sum.usage.input += line.usage.input;
                    sum.usage.output += line.usage.output;
                }
                None => sums.push(CostLine { key, ..line.clone() }),
            }
        }
        Ok(sums)
    }
}

pub fn sources(work: &Path, told: Told) -> FeedSources {
    let told = Arc::new(told);
    let clock = Arc::new(ManualClock::new(now()));
    let web = Web::new().expect("a client of the web");
    FeedSources {
        work: work.to_owned(),
        clock,
        zone: chrono_tz::Tz::UTC,
        web,
        activity: told.clone(),
        backlog: told.clone(),
        ledger: told,
        services: Services::default(),
    }
}

pub fn spec(kind: &str, settings: serde_json::Value) -> FeedSpec {
    let serde_json::Value::Object(settings) = settings else { panic!("settings are an object") };
    FeedSpec { kind: kind.to_owned(), name: kind.to_owned(), settings }
}

pub fn feed(kind: &str, sources: &FeedSources) -> Feed {
    crate::feeds::build(&spec(kind, serde_json::json!({})), sources).expect("a feed without settings is valid")
}
