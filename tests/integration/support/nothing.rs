//! Empty sources for a team without activity.

use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use kernel::feeds::{ActivityLine, ActivitySource, Backlog, BacklogSource, FeedSources, LedgerSource, Web};
use kernel::money::{CostGroup, CostLine};
use kernel::time::SharedClock;

struct Nothing;

#[async_trait]
impl ActivitySource for Nothing {
    async fn list_activity(&self, _: DateTime<Utc>, _: DateTime<Utc>) -> anyhow::Result<Vec<ActivityLine>> {
        Ok(Vec::new())
    }
}

#[async_trait]
impl BacklogSource for Nothing {
    async fn read_backlog(&self, _: DateTime<Utc>, _: DateTime<Utc>, _: DateTime<Utc>, _: usize) -> anyhow::Result<Backlog> {
        Ok(Backlog::default())
    }
}

#[async_trait]
impl LedgerSource for Nothing {
    async fn list_costs(&self, _: DateTime<Utc>, _: DateTime<Utc>, _: CostGroup) -> anyhow::Result<Vec<CostLine>> {
        Ok(Vec::new())
    }
}

/// Sources for building such a team's feeds.
pub(crate) fn feed_sources(work: &Path, clock: SharedClock) -> FeedSources {
    let nothing = Arc::new(Nothing);
    let web = Web::new().expect("an HTTP client");
    FeedSources {
        work: work.to_owned(),
        clock,
        zone: chrono_tz::Tz::UTC,
        web,
        activity: nothing.clone(),
        backlog: nothing.clone(),
        ledger: nothing,
        services: kernel::feeds::Services::default(),
    }
}
