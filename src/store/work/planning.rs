//! What the planner reads and sets: how an item is carried out, by whom, and what comes first.

use std::collections::HashMap;

use chrono::{DateTime, Utc};

use super::TURNSTILE;
use super::items::ItemColumns;
use super::standing::Standing;
use crate::domain::ids::{PersonaSlug, WorkItemId};
use crate::domain::work::{Execution, Rank, Urgency, Wait, WorkItem, WorkStatus};
use crate::store::Store;
use crate::store::engine::{Transaction, sql};
use crate::store::error::Result;

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

/// A place in the order of work, as it stands in columns.
#[derive(PartialEq, Eq, sqlx::FromRow)]
struct RankColumns {
    id: String,
    rank_urgency: i64,
    rank_day: String,
    rank_waited_for: i64,
    rank_depth: i64,
}

impl RankColumns {
    fn new(item: &WorkItemId, rank: &Rank) -> Self {
        Self {
            id: item.as_str().to_owned(),
            rank_urgency: order_of(rank.urgency),
            rank_day: rank.day.to_string(),
            rank_waited_for: i64::from(rank.waited_for.0),
            rank_depth: i64::from(rank.depth),
        }
    }
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
    /// Up to `limit` items that the planner has not looked at, the oldest first.
    pub async fn list_unplanned(&self, limit: u32) -> Result<Vec<WorkItem>> {
        let rows: Vec<ItemColumns> = sql!(
            self.db().read(),
            fetch_all,
            "SELECT work_items.*, (SELECT string_agg(needs, ' ' ORDER BY position) FROM work_dependencies WHERE item = work_items.id) AS depends_on
             FROM work_items WHERE status = 'new' ORDER BY created_at, id LIMIT $1",
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
        let stored: Vec<RankColumns> = sql!(
            self.db().read(),
            fetch_all,
            "SELECT id, rank_urgency, rank_day, rank_waited_for, rank_depth FROM work_items
             WHERE status NOT IN ('done', 'failed', 'cancelled')"
        )?;
        let stored: HashMap<_, _> = stored.iter().map(|row| (row.id.as_str(), row)).collect();
        let changed: Vec<_> = ranks
            .iter()
            .map(|(item, rank)| RankColumns::new(item, rank))
            .filter(|row| stored.get(row.id.as_str()).is_some_and(|stored| *stored != row))
            .collect();
        for rows in changed.chunks(RANKS_AT_ONCE) {
            let mut transaction = self.db().begin().await?;
            transaction.serialize(TURNSTILE).await?;
            for row in rows {
                set_rank(&mut transaction, row).await?;
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

async fn set_rank(transaction: &mut Transaction, row: &RankColumns) -> Result<()> {
    sql!(
        transaction.on(),
        execute,
        "UPDATE work_items SET rank_urgency = $2, rank_day = $3, rank_waited_for = $4, rank_depth = $5 WHERE id = $1",
        row.id.as_str(),
        row.rank_urgency,
        row.rank_day.as_str(),
        row.rank_waited_for,
        row.rank_depth
    )?;
    Ok(())
}
