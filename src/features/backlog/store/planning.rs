//! What the planner reads and sets: how an item is carried out, by whom, and what comes first.

use std::collections::HashMap;

use chrono::{DateTime, Utc};

use crate::features::backlog::model::{Execution, Rank, Urgency, Wait, WorkItem, WorkStatus};
use crate::features::backlog::store::TURNSTILE;
use crate::features::backlog::store::items::ItemColumns;
use crate::features::backlog::store::standing::Standing;
use crate::store::Store;
use kernel::db::{Result, sql};
use kernel::ids::{PersonaSlug, WorkItemId};

/// Places are set so many at a time: whoever claims waits for no more than these.
const RANKS_AT_ONCE: usize = 200;

/// What the planner decided on an item.
#[derive(Debug, Clone, PartialEq)]
pub struct Planned<'a> {
    /// Ready and blocked are one: which of them it is, others decide.
    pub status: WorkStatus,
    /// None leaves what was planned before, here and below.
    pub execution: Option<Execution>,
    pub persona: Option<PersonaSlug>,
    /// With [`WorkStatus::Waiting`]: for what.
    pub wait: Option<Wait>,
    /// Why, where that is not plain; of an item that fails, what came of it.
    pub note: Option<&'a str>,
}

/// A place in the order of work as it stands in its column: a text that sorts as the places do. Age beyond the day is in the id.
pub(super) fn write_rank(rank: &Rank) -> String {
    format!("{}/{}/{:010}/{:010}", order_of(rank.urgency), rank.day, u32::MAX - rank.waited_for.0, rank.depth)
}

/// The smallest is claimed first.
pub(super) fn order_of(urgency: Urgency) -> i64 {
    match urgency {
        Urgency::Now => 0,
        Urgency::Today => 1,
        Urgency::ThisWeek => 2,
        Urgency::Backlog => 3,
    }
}

impl Store {
    /// Up to `limit` items that the planner has not looked at, in the order of work as far as it is known.
    pub async fn list_unplanned(&self, limit: u32) -> Result<Vec<WorkItem>> {
        // The few are found in the index; of thousands, whole rows would have to be sorted each time.
        let rows: Vec<ItemColumns> = sql!(
            self.db().read(),
            fetch_all,
            "SELECT work_items.*, (SELECT string_agg(needs, ' ' ORDER BY position) FROM work_dependencies WHERE item = work_items.id) AS depends_on
             FROM work_items WHERE id IN (SELECT id FROM work_items WHERE status = 'new' ORDER BY rank, id LIMIT $1) ORDER BY rank, id",
            i64::from(limit)
        )?;
        rows.into_iter().map(WorkItem::try_from).collect()
    }

    /// All items that wait for a person or for the planner, the oldest first.
    pub async fn list_waiting(&self) -> Result<Vec<WorkItem>> {
        let rows: Vec<ItemColumns> = sql!(
            self.db().read(),
            fetch_all,
            "SELECT work_items.*, (SELECT string_agg(needs, ' ' ORDER BY position) FROM work_dependencies WHERE item = work_items.id) AS depends_on
             FROM work_items WHERE status = 'waiting' ORDER BY created_at, id"
        )?;
        rows.into_iter().map(WorkItem::try_from).collect()
    }

    /// Up to `limit` items that somebody has to judge, or to decide about, and that people were not asked about as they stand, the oldest first.
    pub async fn list_unasked(&self, limit: u32) -> Result<Vec<WorkItem>> {
        // The id of what they were asked is that of `WorkItem::notice_id`; `_` stands for the quotes of the JSON.
        let rows: Vec<ItemColumns> = sql!(
            self.db().read(),
            fetch_all,
            "SELECT work_items.*, (SELECT string_agg(needs, ' ' ORDER BY position) FROM work_dependencies WHERE item = work_items.id) AS depends_on
             FROM work_items WHERE (status = 'in_review' OR (status = 'waiting' AND wait LIKE '{_decision_:%'))
                 AND NOT EXISTS (SELECT 1 FROM outbox WHERE outbox.id = 'work-' || work_items.id || '-' || work_items.run || '-' || work_items.status)
             ORDER BY created_at, id LIMIT $1",
            i64::from(limit)
        )?;
        rows.into_iter().map(WorkItem::try_from).collect()
    }

    /// All items that are not over, the oldest first.
    pub async fn list_open_items(&self) -> Result<Vec<WorkItem>> {
        let rows: Vec<ItemColumns> = sql!(
            self.db().read(),
            fetch_all,
            "SELECT work_items.*, (SELECT string_agg(needs, ' ' ORDER BY position) FROM work_dependencies WHERE item = work_items.id) AS depends_on
             FROM work_items WHERE status NOT IN ('done', 'failed', 'cancelled') ORDER BY created_at, id"
        )?;
        rows.into_iter().map(WorkItem::try_from).collect()
    }

    /// Stores what the planner decided. An item whose parts are all over ends here. False, and nothing is stored, when somebody works on it or
    /// judges it, it waits for anything but a language model, it is over, or may not go there.
    pub async fn plan_item(&self, item: &WorkItemId, planned: &Planned<'_>, at: DateTime<Utc>) -> Result<bool> {
        let mut transaction = self.db().begin().await?;
        let Some(mut standing) = Standing::find(&mut transaction, item).await?.filter(is_for_planner) else { return Ok(false) };
        if let Some(execution) = &planned.execution {
            standing.item.execution = Some(execution.clone());
        }
        if let Some(persona) = &planned.persona {
            standing.item.persona = Some(persona.clone());
        }
        match planned.status {
            WorkStatus::Ready | WorkStatus::Blocked => {
                standing.place(&mut transaction, planned.note, at).await?;
            }
            WorkStatus::Waiting if planned.wait.is_some() => {
                standing.item.wait.clone_from(&planned.wait);
                standing.go_or_stay(&mut transaction, WorkStatus::Waiting, planned.note, at).await?;
            }
            WorkStatus::Failed | WorkStatus::Cancelled => {
                standing.end(&mut transaction, planned.status, planned.note.unwrap_or("it cannot be planned"), at).await?;
            }
            _ => return Ok(false),
        }
        transaction.commit().await?;
        Ok(true)
    }

    /// Sets places in the order of work; only what changed is written.
    pub async fn set_ranks(&self, ranks: &[(WorkItemId, Rank)]) -> Result<()> {
        let stored: Vec<(String, String)> =
            sql!(self.db().read(), fetch_all, "SELECT id, rank FROM work_items WHERE status NOT IN ('done', 'failed', 'cancelled')")?;
        let stored: HashMap<String, String> = stored.into_iter().collect();
        let changed: Vec<_> = ranks
            .iter()
            .map(|(item, rank)| (item, write_rank(rank)))
            .filter(|(item, rank)| stored.get(item.as_str()).is_some_and(|stored| stored != rank))
            .collect();
        for rows in changed.chunks(RANKS_AT_ONCE) {
            let mut transaction = self.db().begin().await?;
            transaction.serialize(TURNSTILE).await?;
            for (item, rank) in rows {
                sql!(transaction.on(), execute, "UPDATE work_items SET rank = $2 WHERE id = $1", item.as_str(), rank.as_str())?;
            }
            transaction.commit().await?;
        }
        Ok(())
    }
}

/// Whether nobody but the planner has to do with it.
fn is_for_planner(standing: &Standing) -> bool {
    match standing.item.status {
        WorkStatus::New | WorkStatus::Ready | WorkStatus::Blocked => true,
        WorkStatus::Waiting => standing.item.wait == Some(Wait::Model),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use std::cmp::Reverse;

    use super::*;

    #[test]
    fn a_written_rank_sorts_as_the_rank_does() {
        let days = ["2026-02-09", "2026-11-20"].map(|day| day.parse().unwrap());
        let mut ranks = Vec::new();
        for urgency in [Urgency::Backlog, Urgency::Now, Urgency::ThisWeek, Urgency::Today] {
            for day in days {
                for (waited_for, depth) in [(0, 0), (0, 10), (9, 0), (10, 2), (u32::MAX, 3)] {
                    ranks.push(Rank { urgency, day, waited_for: Reverse(waited_for), depth });
                }
            }
        }
        ranks.sort_unstable();
        assert!(ranks.is_sorted_by_key(write_rank));
    }
}
