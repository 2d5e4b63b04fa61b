//! The planner's reads and writes.

use std::collections::HashMap;

use chrono::{DateTime, Utc};

use crate::features::backlog::model::{Execution, Rank, Urgency, Wait, WorkItem, WorkStatus, graph};
use crate::features::backlog::store::bulk;
use crate::features::backlog::store::editing;
use crate::features::backlog::store::families;
use crate::features::backlog::store::items::ItemColumns;
use crate::features::backlog::store::jobs::priority_of;
use crate::features::backlog::store::transitions::ItemRecord;
use crate::store::Store;
use kernel::chat::outbound::OutboundMessage;
use kernel::chat::outbox::store::insert_outbound;
use kernel::db::{Backend, Readable, Result, Transaction, bounded, document, record_notice, sql};
use kernel::ids::{PersonaSlug, WorkItemId};
use kernel::jobs::{self, JobId};

/// From this number on, items are planned together with a few statements.
const MANY: usize = 10;

/// Ranks are stored in batches, so that a claim waits for one batch at most.
const RANKS_AT_ONCE: usize = 200;

/// The given items with the open ones that they wait for, directly or indirectly (`below`), and all that wait for one of these, which their ranks
/// depend on (`above`).
const AFFECTED_IN_SQLITE: &str = "WITH RECURSIVE
     below (id) AS (
         SELECT value FROM json_each($1)
         UNION SELECT needs FROM below JOIN work_dependencies ON item = below.id
             JOIN work_items ON work_items.id = needs AND status NOT IN ('done', 'failed', 'cancelled')
         UNION SELECT work_items.id FROM below JOIN work_items ON parent = below.id AND status NOT IN ('done', 'failed', 'cancelled')),
     above (id) AS (
         SELECT id FROM below
         UNION SELECT item FROM above JOIN work_dependencies ON needs = above.id
             JOIN work_items ON work_items.id = item AND status NOT IN ('done', 'failed', 'cancelled')
         UNION SELECT whole.id FROM above JOIN work_items part ON part.id = above.id
             JOIN work_items whole ON whole.id = part.parent AND whole.status NOT IN ('done', 'failed', 'cancelled'))
     SELECT work_items.*, (SELECT string_agg(needs, ' ' ORDER BY position) FROM work_dependencies WHERE item = work_items.id) AS depends_on,
         above.id IN (SELECT id FROM below) AS is_affected
     FROM above JOIN work_items ON work_items.id = above.id WHERE status NOT IN ('done', 'failed', 'cancelled')";

/// The same query for PostgreSQL, which allows only one recursive term.
const AFFECTED_IN_POSTGRES: &str = "WITH RECURSIVE
     below (id) AS (
         SELECT unnest($1::text[])
         UNION SELECT next.id FROM below CROSS JOIN LATERAL (
             SELECT needs AS id FROM work_dependencies WHERE item = below.id
             UNION ALL SELECT id FROM work_items WHERE parent = below.id) AS next
             JOIN work_items ON work_items.id = next.id AND status NOT IN ('done', 'failed', 'cancelled')),
     above (id) AS (
         SELECT id FROM below
         UNION SELECT next.id FROM above CROSS JOIN LATERAL (
             SELECT item AS id FROM work_dependencies WHERE needs = above.id
             UNION ALL SELECT parent FROM work_items WHERE id = above.id) AS next
             JOIN work_items ON work_items.id = next.id AND status NOT IN ('done', 'failed', 'cancelled'))
     SELECT work_items.*, (SELECT string_agg(needs, ' ' ORDER BY position) FROM work_dependencies WHERE item = work_items.id) AS depends_on,
         above.id IN (SELECT id FROM below) AS is_affected
     FROM above JOIN work_items ON work_items.id = above.id WHERE status NOT IN ('done', 'failed', 'cancelled')";

#[derive(sqlx::FromRow)]
struct RankedColumns {
    #[sqlx(flatten)]
    item: ItemColumns,
    rank: String,
    /// Its rank may have changed. False for items that are read only because other ranks depend on theirs.
    is_affected: bool,
}

/// The planner's decision on an item.
#[derive(Debug, Clone, PartialEq)]
pub struct Planned<'a> {
    /// Ready and blocked are equivalent here: dependencies decide which one applies.
    pub status: WorkStatus,
    /// None keeps the earlier plan, also below.
    pub execution: Option<Execution>,
    pub persona: Option<PersonaSlug>,
    /// Criteria for an item without any. Empty keeps what it has.
    pub criteria: Vec<String>,
    /// The reason for [`WorkStatus::Waiting`].
    pub wait: Option<Wait>,
    /// The time before which it is not carried out.
    pub not_before: Option<DateTime<Utc>>,
    /// A reason if it is not obvious. For a failing item, the outcome.
    pub note: Option<&'a str>,
}

impl Planned<'_> {
    /// Copies the plan into the item.
    pub(super) fn fill(&self, record: &mut ItemRecord) {
        if let Some(execution) = &self.execution {
            record.item.execution = Some(execution.clone());
        }
        if let Some(persona) = &self.persona {
            record.item.persona = Some(persona.clone());
        }
        if self.not_before.is_some() {
            record.item.not_before = self.not_before;
        }
        if record.item.criteria.is_empty() && !self.criteria.is_empty() {
            record.item.criteria.clone_from(&self.criteria);
            record.has_drafted_criteria = true;
        }
    }
}

/// A rank as a sortable text. Age beyond the day is part of the id.
pub(super) fn write_rank(rank: &Rank) -> String {
    format!(
        "{}/{}/{}/{:010}/{:010}",
        order_of(rank.urgency),
        rank.due.format("%Y-%m-%dT%H:%M"),
        rank.day,
        u32::MAX - rank.waited_for.0,
        rank.depth
    )
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
    /// Up to `limit` unplanned items, in the order of work as far as known.
    pub async fn list_unplanned(&self, limit: u32) -> Result<Vec<WorkItem>> {
        // Finds the few ids in the index first. Sorting thousands of whole rows would be slow.
        let rows: Vec<Readable<ItemColumns>> = sql!(
            self.db().read(),
            fetch_all,
            "SELECT work_items.*, (SELECT string_agg(needs, ' ' ORDER BY position) FROM work_dependencies WHERE item = work_items.id) AS depends_on
             FROM work_items WHERE id IN (SELECT id FROM work_items WHERE status = 'new' ORDER BY rank, id LIMIT $1) ORDER BY rank, id",
            i64::from(limit)
        )?;
        Ok(self.db().read_each("work_items", rows, WorkItem::try_from))
    }

    /// All waiting items, oldest first.
    pub async fn list_waiting(&self) -> Result<Vec<WorkItem>> {
        let rows: Vec<Readable<ItemColumns>> = sql!(
            self.db().read(),
            fetch_all,
            "SELECT work_items.*, (SELECT string_agg(needs, ' ' ORDER BY position) FROM work_dependencies WHERE item = work_items.id) AS depends_on
             FROM work_items WHERE status = 'waiting' ORDER BY created_at, id"
        )?;
        Ok(self.db().read_each("work_items", rows, WorkItem::try_from))
    }

    /// Asks in `message` whether to start what waited, together with the notice that this was asked.
    pub async fn offer_waiting(&self, message: &OutboundMessage, key: &str, at: DateTime<Utc>) -> Result<()> {
        let mut transaction = self.db().begin().await?;
        record_notice(&mut transaction, key, at).await?;
        insert_outbound(&mut transaction, std::slice::from_ref(message), None, at).await?;
        transaction.commit().await
    }

    /// All open items, oldest first.
    pub async fn list_open_items(&self) -> Result<Vec<WorkItem>> {
        let rows: Vec<Readable<ItemColumns>> = sql!(
            self.db().read(),
            fetch_all,
            "SELECT work_items.*, (SELECT string_agg(needs, ' ' ORDER BY position) FROM work_dependencies WHERE item = work_items.id) AS depends_on
             FROM work_items WHERE status NOT IN ('done', 'failed', 'cancelled') ORDER BY created_at, id"
        )?;
        Ok(self.db().read_each("work_items", rows, WorkItem::try_from))
    }

    /// Stores the planner's decision. An item whose children are all over ends here. False if the item is in progress or review, waits for
    /// anything but a model, is over, or may not change to this status.
    pub async fn plan_item(&self, item: &WorkItemId, planned: &Planned<'_>, at: DateTime<Utc>) -> Result<bool> {
        let mut transaction = self.db().begin().await?;
        let is_planned = plan(&mut transaction, item, planned, at).await?;
        transaction.commit().await?;
        Ok(is_planned)
    }

    /// As [`Store::plan_item`], in one transaction for all. Returns how many were planned.
    pub async fn plan_items(&self, plans: &[(WorkItemId, Planned<'_>)], at: DateTime<Utc>) -> Result<usize> {
        let mut transaction = self.db().begin().await?;
        families::hold_all(&mut transaction, &plans.iter().map(|(item, _)| item.as_str()).collect::<Vec<_>>()).await?;
        // A job that is enqueued alone is started by this process at once.
        let others = if plans.len() < MANY { (0..plans.len()).collect() } else { bulk::plan_new(&mut transaction, plans, at).await? };
        let mut count = plans.len() - others.len();
        for (item, planned) in others.into_iter().map(|number| &plans[number]) {
            count += usize::from(plan(&mut transaction, item, planned, at).await?);
        }
        transaction.commit().await?;
        Ok(count)
    }

    /// Stores which kind of work an item is, as a person said. It is planned again. False if it does not wait for that.
    pub async fn choose_kind(&self, item: &WorkItemId, execution: &Execution, by: &str, at: DateTime<Utc>) -> Result<bool> {
        let mut transaction = self.db().begin().await?;
        let Some(mut record) = ItemRecord::find(&mut transaction, item).await? else { return Ok(false) };
        if !matches!(record.item.wait, Some(Wait::Kind { .. })) {
            return Ok(false);
        }
        let note = format!("{by} says: {}", execution.kind().as_str());
        record.item.execution = Some(execution.clone());
        record.is_kind_chosen = true;
        record.go(&mut transaction, WorkStatus::New, Some(&note), at).await?;
        transaction.commit().await?;
        Ok(true)
    }

    /// Ranks all open items. Returns how many ranks changed.
    pub async fn rank_all(&self) -> Result<usize> {
        let rows: Vec<RankedColumns> = sql!(
            self.db().read(),
            fetch_all,
            "SELECT work_items.*, (SELECT string_agg(needs, ' ' ORDER BY position) FROM work_dependencies WHERE item = work_items.id) AS depends_on,
                 TRUE AS is_affected
             FROM work_items WHERE status NOT IN ('done', 'failed', 'cancelled')"
        )?;
        self.rank(rows).await
    }

    /// Ranks planned items and the items that they wait for. No other ranks change, except for the depth of items that wait for them, which cannot
    /// run earlier anyway. Returns how many ranks changed.
    pub async fn rank_items(&self, planned: &[WorkItemId]) -> Result<usize> {
        let ids: Vec<&str> = planned.iter().map(WorkItemId::as_str).collect();
        let rows: Vec<RankedColumns> = match self.db().read() {
            Backend::Sqlite(pool) => sqlx::query_as(AFFECTED_IN_SQLITE).bind(document(&ids)).fetch_all(pool).await?,
            Backend::Postgres(pool) => bounded(sqlx::query_as(AFFECTED_IN_POSTGRES).bind(ids).fetch_all(pool)).await?,
        };
        self.rank(rows).await
    }

    async fn rank(&self, rows: Vec<RankedColumns>) -> Result<usize> {
        let mut items = Vec::with_capacity(rows.len());
        let mut stored = HashMap::new();
        for row in rows {
            let item = WorkItem::try_from(row.item)?;
            if row.is_affected {
                stored.insert(item.id.clone(), row.rank);
            }
            items.push(item);
        }
        let ranks = graph::ranks(&items).into_iter();
        let changed: Vec<_> = ranks.filter(|(item, rank)| stored.get(item).is_some_and(|stored| *stored != write_rank(rank))).collect();
        self.set_ranks(&changed).await?;
        Ok(changed.len())
    }

    /// Stores ranks. Jobs of the items run in this order.
    pub async fn set_ranks(&self, ranks: &[(WorkItemId, Rank)]) -> Result<()> {
        for rows in ranks.chunks(RANKS_AT_ONCE) {
            let mut transaction = self.db().begin().await?;
            families::hold_all(&mut transaction, &rows.iter().map(|(item, _)| item.as_str()).collect::<Vec<_>>()).await?;
            for (item, rank) in rows {
                let rank = write_rank(rank);
                let job: Option<(Option<i64>,)> = sql!(
                    transaction.on(),
                    fetch_optional,
                    "UPDATE work_items SET rank = $2 WHERE id = $1 RETURNING job",
                    item.as_str(),
                    rank.as_str()
                )?;
                if let Some((Some(job),)) = job {
                    jobs::set_priority(&mut transaction, JobId(job), &priority_of(item.as_str(), &rank)).await?;
                }
            }
            transaction.commit().await?;
        }
        Ok(())
    }
}

async fn plan(transaction: &mut Transaction, item: &WorkItemId, planned: &Planned<'_>, at: DateTime<Utc>) -> Result<bool> {
    let Some(mut record) = ItemRecord::find(transaction, item).await?.filter(is_for_planner) else { return Ok(false) };
    let goes_on = record.was_planned_before();
    let had_criteria = !record.item.criteria.is_empty();
    planned.fill(&mut record);
    if goes_on && !had_criteria && !record.item.criteria.is_empty() {
        editing::tell_criteria(transaction, &record.item, at).await?;
    }
    match planned.status {
        WorkStatus::Ready | WorkStatus::Blocked => {
            record.place(transaction, planned.note, at).await?;
        }
        // Nobody has to carry out an item with parts.
        WorkStatus::Waiting if planned.wait.is_some() && record.has_parts => {
            record.place(transaction, planned.note, at).await?;
        }
        WorkStatus::Waiting if planned.wait.is_some() => {
            record.item.wait.clone_from(&planned.wait);
            record.go_or_stay(transaction, WorkStatus::Waiting, planned.note, at).await?;
        }
        WorkStatus::Failed | WorkStatus::Cancelled => {
            record.end(transaction, planned.status, planned.note.unwrap_or("it cannot be planned"), at).await?;
        }
        _ => return Ok(false),
    }
    Ok(true)
}

/// Whether only the planner may change it now.
fn is_for_planner(record: &ItemRecord) -> bool {
    match record.item.status {
        WorkStatus::New | WorkStatus::Ready | WorkStatus::Blocked => true,
        WorkStatus::Waiting => record.item.wait == Some(Wait::Model),
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
                for due in ["2026-12-01T08:00:00Z".parse().unwrap(), Rank::NEVER] {
                    for (waited_for, depth) in [(0, 0), (0, 10), (9, 0), (10, 2), (u32::MAX, 3)] {
                        ranks.push(Rank { urgency, due, day, waited_for: Reverse(waited_for), depth });
                    }
                }
            }
        }
        ranks.sort_unstable();
        assert!(ranks.is_sorted_by_key(write_rank));
    }
}
