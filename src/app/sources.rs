//! The sources of the feeds `activity`, `backlog` and `ledger`: the team's own activity.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use async_trait::async_trait;
use chrono::{DateTime, Utc};

use crate::features::backlog::model::{Owner, Wait, WorkItem, WorkStatus};
use crate::features::backlog::store::ItemFilter;
use crate::features::chat::store::ActivityKind;
use crate::store::Store;
use kernel::agent::turn::TurnState;
use kernel::feeds::{ActivityLine, ActivitySource, Backlog, BacklogSource, LedgerSource, WorkLine};
use kernel::ids::PersonaSlug;
use kernel::memory::Scope;
use kernel::money::{CostGroup, CostLine};
use kernel::persona::roster::Roster;

/// How many items of the backlog are read to tell what is next and what is stuck.
const NEXT: u32 = 3;
const STUCK: u32 = 50;

/// The store, with readable names.
pub(super) struct TeamSources {
    pub(super) store: Store,
    pub(super) roster: Arc<Roster>,
}

#[async_trait]
impl ActivitySource for TeamSources {
    async fn list_activity(&self, since: DateTime<Utc>, until: DateTime<Utc>) -> anyhow::Result<Vec<ActivityLine>> {
        let channels = self.store.list_channels().await?;
        // A feed is read everywhere, so it does not name private channels.
        let public = channels.iter().filter(|seen| !seen.channel.private);
        let public: HashMap<&str, &str> = public.map(|seen| (seen.channel.id.as_str(), seen.channel.name.as_str())).collect();
        let name = |subject: &str| self.roster.name_of(&PersonaSlug::new(subject)).to_owned();
        let mut sums: BTreeMap<(String, String), ActivityLine> = BTreeMap::new();
        for line in self.store.activity(since, until).await? {
            let (what, whose) = match line.kind {
                ActivityKind::Turns if line.detail == TurnState::Answered.as_str() => ("answers".to_owned(), name(&line.subject)),
                // It is about to end, and who reads this feed is often the one at work.
                ActivityKind::Turns if line.detail == TurnState::Queued.as_str() || line.detail == TurnState::Running.as_str() => continue,
                ActivityKind::Turns => (format!("turns {}", line.detail), name(&line.subject)),
                ActivityKind::Asks => (format!("asks {}", line.detail), name(&line.subject)),
                ActivityKind::Blocks => (format!("answers the guard kept back ({})", line.detail.replace('_', " ")), name(&line.subject)),
                ActivityKind::Messages => {
                    let channel = public.get(line.subject.as_str()).filter(|name| !name.is_empty());
                    ("messages".to_owned(), channel.map_or_else(|| "private conversations".to_owned(), |name| format!("#{name}")))
                }
            };
            let none = || ActivityLine { what: what.clone(), whose: whose.clone(), count: 0, last_at: None };
            // The threads of a channel may be called like it.
            let sum = sums.entry((what.clone(), whose.clone())).or_insert_with(none);
            sum.count += line.count;
            sum.last_at = sum.last_at.max(Some(line.last_at));
        }
        Ok(sums.into_values().collect())
    }
}

#[async_trait]
impl BacklogSource for TeamSources {
    async fn read_backlog(
        &self,
        since: DateTime<Utc>,
        until: DateTime<Utc>,
        today: DateTime<Utc>,
        limit: usize,
    ) -> anyhow::Result<Backlog> {
        // A feed is read everywhere, so it leaves out what was asked for in private.
        let counts = self.store.count_items(today).await?;
        let changed = self.store.list_items_changed(since, until).await?;
        let next = self
            .store
            .list_items(&ItemFilter { statuses: &[WorkStatus::Ready], owner: None, scope: Some(&Scope::TEAM), limit: NEXT })
            .await?;
        let standing = [WorkStatus::Waiting, WorkStatus::Blocked];
        let mut stuck =
            self.store.list_items(&ItemFilter { statuses: &standing, owner: None, scope: Some(&Scope::TEAM), limit: STUCK }).await?;
        // Items that wait come first, because they hold up the blocked ones.
        stuck.sort_by_key(|item| (item.status != WorkStatus::Waiting, item.updated_at));
        let line = |item: &WorkItem| WorkLine {
            reference: format!("#{}", item.short_id()),
            text: item.what.clone(),
            owner: Some(match &item.owner {
                Owner::Persona(slug) => self.roster.name_of(slug).to_owned(),
                Owner::Person { name, .. } => name.clone(),
            }),
            status: item.status.as_str().to_owned(),
            waits: item.wait.as_ref().map(Wait::describe),
            at: item.updated_at,
        };
        let is_public = |item: &WorkItem| item.private_to.is_none();
        let open = counts.by_status.iter().filter(|(status, _)| !status.is_over());
        Ok(Backlog {
            open: open.map(|(status, count)| (status.as_str().to_owned(), *count)).collect(),
            done_today: counts.done_since,
            changed: changed.iter().rev().map(|change| &change.item).filter(|item| is_public(item)).take(limit).map(line).collect(),
            next: next.iter().map(line).collect(),
            stuck: stuck.iter().map(line).collect(),
            total: changed.len() as u64,
        })
    }
}

#[async_trait]
impl LedgerSource for TeamSources {
    async fn list_costs(&self, since: DateTime<Utc>, until: DateTime<Utc>, group: CostGroup) -> anyhow::Result<Vec<CostLine>> {
        Ok(self.store.costs(since, until, group).await?)
    }
}
