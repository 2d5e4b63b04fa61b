use std::collections::{BTreeSet, HashMap, HashSet};

use chrono::{DateTime, Utc};

use crate::features::backlog::model::graph::GraphError;
use crate::features::backlog::model::{Origin, Rank, Wait, WorkItem, WorkStatus, graph};
use crate::features::backlog::store::families;
use crate::features::backlog::store::items::ItemColumns;
use crate::features::backlog::store::jobs::{PLAN, enqueue_job, wake_job};
use crate::features::backlog::store::planning::write_rank;
use crate::features::backlog::store::subjects;
use crate::features::backlog::store::transitions::{Consequences, ItemRecord, insert_event};
use crate::store::Store;
use kernel::commands::KANBAN_PAGE;
use kernel::db::{Result, StoreError, Transaction, Who, Word, document, plain, sql};
use kernel::ids::{ChannelId, PersonaSlug, WorkItemId};
use kernel::llm::store::share_budget;

/// Why items were not added.
#[derive(Debug, thiserror::Error)]
pub enum InsertItemsError {
    /// They could not all end.
    #[error(transparent)]
    Graph(#[from] GraphError),
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Store {
    /// Adds items, all or none. Existing ones stay unchanged. An item that needs a failed or cancelled one fails at once.
    ///
    /// # Errors
    /// [`InsertItemsError::Graph`] if there is a cycle or an unknown item.
    pub async fn insert_items(&self, items: &[WorkItem], at: DateTime<Utc>) -> Result<(), InsertItemsError> {
        let mut transaction = self.db().begin().await?;
        let stored = hold_named(&mut transaction, items).await?;
        graph::check(items, &|id| stored.contains_key(id))?;
        let parents: BTreeSet<_> =
            items.iter().filter_map(|item| item.parent.as_ref()).filter(|parent| stored.contains_key(parent)).collect();
        let needed: HashSet<_> = items.iter().flat_map(|item| &item.depends_on).filter(|id| stored.contains_key(*id)).collect();
        if wait_for_any(&mut transaction, &parents, &needed).await? {
            // Names the items of the cycle.
            let mut all = list_open(&mut transaction).await?;
            let open: HashSet<_> = all.iter().map(|item| item.id.clone()).collect();
            all.extend(items.iter().filter(|item| !open.contains(&item.id)).cloned());
            graph::check(&all, &|_| true)?;
        }
        let families = stored.values().map(|named| named.family.clone()).collect();
        let family = families::join(&mut transaction, &families).await?;
        insert_into(&mut transaction, items, family.as_deref(), at).await?;
        for parent in parents {
            block_parent(&mut transaction, parent, at).await?;
        }
        fail_hopeless(&mut transaction, &stored, at).await?;
        transaction.commit().await?;
        Ok(())
    }
}

/// A stored item that new ones refer to.
struct Named {
    status: WorkStatus,
    family: String,
}

/// The stored items that `items` refer to. They are held until the transaction ends.
async fn hold_named(transaction: &mut Transaction, items: &[WorkItem]) -> Result<HashMap<WorkItemId, Named>> {
    let families = |named: &HashMap<WorkItemId, Named>| named.values().map(|named| named.family.clone()).collect::<BTreeSet<_>>();
    let mut named = find_named(transaction, items).await?;
    loop {
        families::hold_all(transaction, &named.keys().map(WorkItemId::as_str).collect::<Vec<_>>()).await?;
        let before = families(&named);
        // While this waited for the locks, the families may have joined others.
        named = find_named(transaction, items).await?;
        if families(&named) == before {
            return Ok(named);
        }
    }
}

async fn find_named(transaction: &mut Transaction, items: &[WorkItem]) -> Result<HashMap<WorkItemId, Named>> {
    let new: HashSet<_> = items.iter().map(|item| &item.id).collect();
    let ids: BTreeSet<_> =
        items.iter().flat_map(|item| item.depends_on.iter().chain(&item.parent)).filter(|id| !new.contains(id)).collect();
    let mut named = HashMap::new();
    for id in ids {
        let row: Option<(String, String)> =
            sql!(transaction.on(), fetch_optional, "SELECT status, family FROM work_items WHERE id = $1", id.as_str())?;
        if let Some((status, family)) = row {
            named.insert(id.clone(), Named { status: Word::read(status)?, family });
        }
    }
    Ok(named)
}

/// Whether a needed item waits for one of the parents, which would close a cycle: from the parent to its new child, to the item that the child needs,
/// and back. Reads only items that wait for the parents, which are few, and not the parents' other children.
async fn wait_for_any(transaction: &mut Transaction, parents: &BTreeSet<&WorkItemId>, needed: &HashSet<&WorkItemId>) -> Result<bool> {
    if needed.is_empty() {
        return Ok(false);
    }
    let mut waiting: Vec<WorkItemId> = parents.iter().map(|parent| (*parent).clone()).collect();
    let mut seen: HashSet<WorkItemId> = waiting.iter().cloned().collect();
    while let Some(id) = waiting.pop() {
        if needed.contains(&id) {
            return Ok(true);
        }
        let above: Vec<(String,)> = sql!(
            transaction.on(),
            fetch_all,
            "SELECT parent FROM work_items WHERE id = $1 AND parent IS NOT NULL
             UNION SELECT item FROM work_dependencies WHERE needs = $1",
            id.as_str()
        )?;
        waiting.extend(above.into_iter().map(|(id,)| WorkItemId::from(id)).filter(|id| seen.insert(id.clone())));
    }
    Ok(false)
}

async fn list_open(transaction: &mut Transaction) -> Result<Vec<WorkItem>> {
    let rows: Vec<ItemColumns> = sql!(
        transaction.on(),
        fetch_all,
        "SELECT work_items.*, (SELECT string_agg(needs, ' ' ORDER BY position) FROM work_dependencies WHERE item = work_items.id) AS depends_on
         FROM work_items WHERE status NOT IN ('done', 'failed', 'cancelled') ORDER BY created_at, id"
    )?;
    rows.into_iter().map(WorkItem::try_from).collect()
}

/// A parent that was ready, or whose earlier children were judged, now waits for its new ones.
pub(super) async fn block_parent(transaction: &mut Transaction, parent: &WorkItemId, at: DateTime<Utc>) -> Result<()> {
    let Some(mut record) = ItemRecord::find(transaction, parent).await? else { return Ok(()) };
    let is_held = match &record.item.wait {
        Some(Wait::Decision { .. } | Wait::Kind { .. } | Wait::Model) => record.item.status == WorkStatus::Waiting,
        _ => matches!(record.item.status, WorkStatus::Ready | WorkStatus::InReview),
    };
    if record.item.status != WorkStatus::Ready && is_held {
        // A judgement without the new parts does not count.
        record.restart_run();
    }
    if is_held {
        record.go(transaction, WorkStatus::Blocked, Some("it waits for its parts"), at).await?;
    }
    Ok(())
}

/// Fails new items that need a failed or cancelled one.
async fn fail_hopeless(transaction: &mut Transaction, stored: &HashMap<WorkItemId, Named>, at: DateTime<Utc>) -> Result<()> {
    let mut consequences = Consequences::begin(transaction, at).await?;
    for (item, named) in stored {
        if matches!(named.status, WorkStatus::Failed | WorkStatus::Cancelled)
            && let Some(lost) = ItemRecord::find(transaction, item).await?
        {
            consequences.lose(transaction, &lost.item).await?;
        }
    }
    consequences.follow(transaction).await
}

/// Adds items with their first event, without checking dependencies. Items that refer to stored ones go through [`Store::insert_items`].
pub async fn insert_items(transaction: &mut Transaction, items: &[WorkItem], at: DateTime<Utc>) -> Result<()> {
    insert_into(transaction, items, None, at).await
}

/// As [`insert_items`]. Items that refer to stored ones become members of their `family`.
pub(super) async fn insert_into(transaction: &mut Transaction, items: &[WorkItem], family: Option<&str>, at: DateTime<Utc>) -> Result<()> {
    let families = graph::families(items, family);
    // Ranks among these items. The planner computes the final ones.
    let ranks = graph::ranks(items);
    let mut inserted = Vec::with_capacity(items.len());
    for item in items {
        if insert_item(transaction, item, &families[&item.id], &ranks[&item.id]).await? {
            insert_dependencies(transaction, item).await?;
            if let Some(parent) = &item.parent {
                share_budget(transaction, &item.id, parent).await?;
            }
            let note = (item.origin == Origin::KanbanPage).then(|| format!("added by {KANBAN_PAGE}"));
            insert_event(transaction, item, None, note.as_deref(), at).await?;
            if let Some(job) = enqueue_job(transaction, item, &write_rank(&ranks[&item.id]), at).await? {
                sql!(transaction.on(), execute, "UPDATE work_items SET job = $2 WHERE id = $1", item.id.as_str(), job.0)?;
            }
            inserted.push(item);
        }
    }
    subjects::insert(transaction, inserted).await?;
    if items.iter().any(|item| item.status == WorkStatus::New) {
        wake_job(transaction, PLAN, at).await?;
    }
    Ok(())
}

/// False if it exists already.
async fn insert_item(transaction: &mut Transaction, item: &WorkItem, family: &str, rank: &Rank) -> Result<bool> {
    let owner = Who::from(&item.owner);
    let inserted = sql!(
        transaction.on(),
        execute,
        "INSERT INTO work_items (id, kind, what, how, why, owner, owner_name, urgency, priority, criteria, status, attempts, parent, origin,
             outcome, cost, created_at, updated_at, execution, persona, channel, wait, not_before, run, evidence, rank, repository, due,
             private_to, family, kind_chosen, said, background, reviewer)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24, $25, $26, $27, $28, $29, $30, $31,
             $32, $33, $34)
         ON CONFLICT (id) DO NOTHING",
        item.id.as_str(),
        item.kind.as_str(),
        plain(&item.what),
        plain(&item.how),
        plain(&item.why),
        owner.key,
        owner.name,
        item.urgency.as_str(),
        i64::from(item.priority),
        document(&item.criteria),
        item.status.as_str(),
        i64::from(item.attempts),
        item.parent.as_ref().map(WorkItemId::as_str),
        document(&item.origin),
        item.outcome.as_deref().map(plain),
        item.cost.0,
        item.created_at,
        item.updated_at,
        item.execution.as_ref().map(document),
        item.persona.as_ref().map(PersonaSlug::as_str),
        item.channel.as_ref().map(ChannelId::as_str),
        item.wait.as_ref().map(document),
        item.not_before,
        i64::from(item.run),
        document(&item.evidence),
        write_rank(rank),
        item.repository.as_deref(),
        item.due,
        item.private_to.as_ref().map(ChannelId::as_str),
        family,
        item.execution.is_some(),
        plain(&item.said),
        plain(&item.background),
        item.reviewer.as_ref().map(document)
    )?;
    Ok(inserted > 0)
}

pub(super) async fn insert_dependencies(transaction: &mut Transaction, item: &WorkItem) -> Result<()> {
    for (position, needed) in (0_i64..).zip(&item.depends_on) {
        sql!(
            transaction.on(),
            execute,
            "INSERT INTO work_dependencies (item, needs, position) VALUES ($1, $2, $3) ON CONFLICT (item, needs) DO NOTHING",
            item.id.as_str(),
            needed.as_str(),
            position
        )?;
    }
    Ok(())
}
