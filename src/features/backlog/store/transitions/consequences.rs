//! The effects of an item's end on dependents, children and parents, all in one transaction (WORK-15, WORK-20).

use std::collections::{HashSet, VecDeque};

use chrono::{DateTime, Utc};

use crate::features::backlog::model::{WorkItem, WorkStatus};
use crate::features::backlog::store::jobs::{ANNOUNCE, EndedBetween, enqueue_run};
use crate::features::backlog::store::transitions::events::{insert_failures, insert_releases};
use crate::features::backlog::store::transitions::{ItemRecord, StandingColumns};
use kernel::db::{Result, Transaction, Word, plain, sql};
use kernel::ids::WorkItemId;
use kernel::jobs::{self, JobId, NewJob};

/// A changed item and its effects on others.
#[derive(Debug, Clone, PartialEq)]
pub struct Ended {
    /// Its new state.
    pub item: WorkItem,
    /// Items that are ready now.
    pub released: Vec<WorkItemId>,
    /// Items that failed or were cancelled because of it.
    pub failed: Vec<WorkItemId>,
    /// Parents of which this was the last open child: they failed, or are to be judged now.
    pub parents: Vec<WorkItemId>,
}

impl Ended {
    /// Without effects on others.
    pub(crate) fn alone(item: WorkItem) -> Self {
        Self { item, released: Vec::new(), failed: Vec::new(), parents: Vec::new() }
    }
}

/// Ended items whose effects are still to be processed. A queue instead of recursion, because chains can have thousands of items.
pub(crate) struct Consequences {
    at: DateTime<Utc>,
    /// The position of the last event before these consequences.
    mark: i64,
    /// One of the items that ended.
    one: Option<WorkItemId>,
    /// Whether items ended that nobody else announces.
    pub(super) is_to_announce: bool,
    over: VecDeque<Over>,
    released: Vec<WorkItemId>,
    failed: Vec<WorkItemId>,
    parents: Vec<WorkItemId>,
}

/// An ended item.
struct Over {
    id: WorkItemId,
    parent: Option<WorkItemId>,
    what: String,
    status: WorkStatus,
}

/// The note of a parent whose children are done.
pub(super) const PARTS_DONE: &str = "its parts are done";

/// The note of a released item.
const RELEASED: &str = "nothing blocks it any more";

#[derive(sqlx::FromRow)]
struct FailedColumns {
    id: String,
    what: String,
    parent: Option<String>,
    /// Whether its end may affect other items.
    is_tied: bool,
}

/// The relation of an item to one that is over.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
enum Tie {
    /// It needs the ended item, and has children.
    Dependent,
    /// It is a child of the ended item.
    Part,
    Parent,
}

#[derive(sqlx::FromRow)]
struct TiedColumns {
    #[sqlx(try_from = "String")]
    tie: Word<Tie>,
    #[sqlx(flatten)]
    record: StandingColumns,
}

impl Consequences {
    /// Must be called before the first item ends.
    pub(crate) async fn begin(transaction: &mut Transaction, at: DateTime<Utc>) -> Result<Self> {
        let (mark, none) = (last_event(transaction).await?, Vec::new);
        Ok(Self {
            at,
            mark,
            is_to_announce: false,
            one: None,
            over: VecDeque::new(),
            released: none(),
            failed: Vec::new(),
            parents: Vec::new(),
        })
    }

    /// Adds an item that has just ended.
    pub(crate) fn add(&mut self, item: &WorkItem) {
        let over = Over { id: item.id.clone(), parent: item.parent.clone(), what: item.what.clone(), status: item.status };
        self.over.push_back(over);
    }

    /// Processes all effects.
    pub(crate) async fn follow(&mut self, transaction: &mut Transaction) -> Result<()> {
        while let Some(over) = self.over.pop_front() {
            self.one.get_or_insert_with(|| over.id.clone());
            let is_done = over.status == WorkStatus::Done;
            if is_done {
                self.release_dependents(transaction, &over).await?;
            } else {
                self.fail_dependents(transaction, &over).await?;
            }
            let mut seen = HashSet::new();
            for (tie, record) in list_tied(transaction, &over).await? {
                // An item with two relations is processed by the first.
                if !seen.insert(record.item.id.clone()) {
                    continue;
                }
                match tie {
                    Tie::Part if !is_done => self.drop_part(transaction, record, &over).await?,
                    Tie::Part => {}
                    Tie::Dependent | Tie::Parent => self.settle(transaction, record).await?,
                }
            }
        }
        if self.is_to_announce || !(self.failed.is_empty() && self.parents.is_empty()) {
            let until = last_event(transaction).await?;
            let ended = EndedBetween { after: self.mark, until, connected_with: self.one.clone() };
            jobs::enqueue(transaction, &NewJob::new(ANNOUNCE, &ended), self.at).await?;
        }
        Ok(())
    }

    /// Releases items that needed only this one, in one statement, because there may be thousands. Items with children are processed one by
    /// one.
    async fn release_dependents(&mut self, transaction: &mut Transaction, over: &Over) -> Result<()> {
        insert_releases(transaction, &over.id, RELEASED, self.at).await?;
        let mut released: Vec<(String, Option<String>, String)> = sql!(
            transaction.on(),
            fetch_all,
            "UPDATE work_items SET status = 'ready', updated_at = $2
             WHERE status = 'blocked' AND id IN (SELECT item FROM work_dependencies WHERE needs = $1)
                 AND NOT EXISTS (SELECT 1 FROM work_items parts WHERE parts.parent = work_items.id)
                 AND NOT EXISTS (SELECT 1 FROM work_dependencies others JOIN work_items needed ON needed.id = others.needs
                     WHERE others.item = work_items.id AND needed.status <> 'done')
             RETURNING id, persona, rank",
            over.id.as_str(),
            self.at
        )?;
        // RETURNING has no order. Ids sort by creation time.
        released.sort_unstable();
        for (id, persona, rank) in released {
            if let Some(persona) = persona {
                let job = enqueue_run(transaction, &id, &persona, &rank, None, self.at).await?;
                sql!(transaction.on(), execute, "UPDATE work_items SET job = $2 WHERE id = $1", id.as_str(), job.0)?;
            }
            self.released.push(WorkItemId::new(id));
        }
        Ok(())
    }

    /// Fails all items that need a lost one, in one statement, because there may be thousands. Every open status may change to failed.
    async fn fail_dependents(&mut self, transaction: &mut Transaction, lost: &Over) -> Result<()> {
        let why = why_lost(&lost.what, lost.status);
        insert_failures(transaction, &lost.id, &why, self.at).await?;
        let jobs: Vec<(i64,)> = sql!(
            transaction.on(),
            fetch_all,
            "SELECT id FROM jobs WHERE finished_at IS NULL AND id IN (SELECT job FROM work_items
                 WHERE status NOT IN ('done', 'failed', 'cancelled') AND id IN (SELECT item FROM work_dependencies WHERE needs = $1))
             ORDER BY id",
            lost.id.as_str()
        )?;
        for (job,) in jobs {
            jobs::cancel(transaction, JobId(job), "its item has failed", self.at).await?;
        }
        let mut failed: Vec<FailedColumns> = sql!(
            transaction.on(),
            fetch_all,
            "UPDATE work_items SET status = 'failed', outcome = $2, wait = NULL, not_before = NULL, job = NULL,
                 updated_at = $3
             WHERE status NOT IN ('done', 'failed', 'cancelled') AND id IN (SELECT item FROM work_dependencies WHERE needs = $1)
             RETURNING id, what, parent, parent IS NOT NULL OR EXISTS (SELECT 1 FROM work_dependencies WHERE needs = work_items.id)
                 OR EXISTS (SELECT 1 FROM work_items parts WHERE parts.parent = work_items.id) AS is_tied",
            lost.id.as_str(),
            plain(&why),
            self.at
        )?;
        sql!(
            transaction.on(),
            execute,
            "DELETE FROM work_subjects WHERE item IN (SELECT id FROM work_dependencies JOIN work_items ON id = item
                 WHERE needs = $1 AND status IN ('done', 'failed', 'cancelled'))",
            lost.id.as_str()
        )?;
        failed.sort_unstable_by(|a, b| a.id.cmp(&b.id));
        for row in failed {
            let id = WorkItemId::new(row.id);
            self.failed.push(id.clone());
            if row.is_tied {
                self.over.push_back(Over { id, parent: row.parent.map(WorkItemId::new), what: row.what, status: WorkStatus::Failed });
            }
        }
        Ok(())
    }

    /// All effects of the end of `item`.
    pub(crate) fn of(self, item: WorkItem) -> Ended {
        Ended { item, released: self.released, failed: self.failed, parents: self.parents }
    }

    /// Fails items that need one that was already over without being done.
    pub(crate) async fn lose(&mut self, transaction: &mut Transaction, needed: &WorkItem) -> Result<()> {
        self.one.get_or_insert_with(|| needed.id.clone());
        let lost = Over { id: needed.id.clone(), parent: None, what: needed.what.clone(), status: needed.status };
        self.fail_dependents(transaction, &lost).await
    }

    async fn drop_part(&mut self, transaction: &mut Transaction, mut record: ItemRecord, parent: &Over) -> Result<()> {
        let why = format!("it is a part of \"{}\", which {}", parent.what, render_lost(parent.status));
        record.finish(transaction, WorkStatus::Cancelled, &why, self.at).await?;
        self.failed.push(record.item.id.clone());
        self.add(&record.item);
        Ok(())
    }

    /// Releases a blocked item if nothing blocks it any more.
    async fn settle(&mut self, transaction: &mut Transaction, mut record: ItemRecord) -> Result<()> {
        if record.item.status != WorkStatus::Blocked {
            return Ok(());
        }
        match Readiness::find(transaction, &record.item.id).await? {
            Readiness::Held => {}
            Readiness::Free => {
                record.go(transaction, WorkStatus::Ready, Some(RELEASED), self.at).await?;
                self.released.push(record.item.id);
            }
            Readiness::Lost(why) => {
                record.finish(transaction, WorkStatus::Failed, &why, self.at).await?;
                self.failed.push(record.item.id.clone());
                self.add(&record.item);
            }
            Readiness::PartsFailed(outcome) => {
                record.finish(transaction, WorkStatus::Failed, &outcome, self.at).await?;
                self.parents.push(record.item.id.clone());
                self.add(&record.item);
            }
            Readiness::PartsDone => {
                record.go(transaction, WorkStatus::InReview, Some(PARTS_DONE), self.at).await?;
                self.parents.push(record.item.id);
            }
        }
        Ok(())
    }
}

async fn last_event(transaction: &mut Transaction) -> Result<i64> {
    let (mark,): (i64,) = sql!(transaction.on(), fetch_one, "SELECT COALESCE(MAX(position), 0) FROM events")?;
    Ok(mark)
}

/// Whether other items allow an item to run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Readiness {
    Free,
    /// Others have to be done first.
    Held,
    /// It needs an item that ended without being done. The text names it.
    Lost(String),
    /// All its children are over, and one failed or none is done. So it fails too.
    PartsFailed(String),
    /// All its children are over, and none failed. Whether that meets its own criteria is judged.
    PartsDone,
}

#[derive(sqlx::FromRow)]
struct ReadinessColumns {
    needs_open: bool,
    lost_need: Option<String>,
    parts_open: bool,
    part_done: bool,
    lost_part: Option<String>,
}

impl Readiness {
    pub(crate) async fn find(transaction: &mut Transaction, item: &WorkItemId) -> Result<Self> {
        let row: ReadinessColumns = sql!(
            transaction.on(),
            fetch_one,
            "SELECT
                 EXISTS (SELECT 1 FROM work_dependencies JOIN work_items ON work_items.id = needs
                     WHERE item = $1 AND status NOT IN ('done', 'failed', 'cancelled')) AS needs_open,
                 (SELECT status || ' ' || what FROM work_dependencies JOIN work_items ON work_items.id = needs
                     WHERE item = $1 AND status IN ('failed', 'cancelled') ORDER BY position LIMIT 1) AS lost_need,
                 EXISTS (SELECT 1 FROM work_items
                     WHERE parent = $1 AND status IN ('new', 'ready', 'blocked', 'in_progress', 'in_review', 'waiting')) AS parts_open,
                 EXISTS (SELECT 1 FROM work_items WHERE parent = $1 AND status = 'done') AS part_done,
                 (SELECT status || ' ' || what FROM work_items WHERE parent = $1 AND status IN ('failed', 'cancelled')
                     ORDER BY status DESC, created_at, id LIMIT 1) AS lost_part",
            item.as_str()
        )?;
        Ok(row.into())
    }
}

impl From<ReadinessColumns> for Readiness {
    fn from(row: ReadinessColumns) -> Self {
        let lost_part = row.lost_part.as_deref().map(read_lost);
        match (row.lost_need.as_deref().map(read_lost), lost_part) {
            (Some((status, what)), _) => Self::Lost(why_lost(what, status)),
            (None, _) if row.needs_open || row.parts_open => Self::Held,
            // A cancelled child does no harm if another one is done.
            (None, Some((status, what))) if status == WorkStatus::Failed || !row.part_done => {
                Self::PartsFailed(format!("its part \"{what}\" {}", render_lost(status)))
            }
            (None, _) if row.part_done => Self::PartsDone,
            (None, _) => Self::Free,
        }
    }
}

/// Splits the combined column into status and title.
fn read_lost(text: &str) -> (WorkStatus, &str) {
    let (status, what) = text.split_once(' ').unwrap_or((text, ""));
    (if status == WorkStatus::Cancelled.as_str() { WorkStatus::Cancelled } else { WorkStatus::Failed }, what)
}

fn why_lost(what: &str, status: WorkStatus) -> String {
    format!("it needs \"{what}\", which {}", render_lost(status))
}

fn render_lost(status: WorkStatus) -> &'static str {
    if status == WorkStatus::Cancelled { "was cancelled" } else { "failed" }
}

/// Items affected by an end, except those released or failed in bulk. Sorted by [`Tie`], then oldest first.
async fn list_tied(transaction: &mut Transaction, over: &Over) -> Result<Vec<(Tie, ItemRecord)>> {
    let rows: Vec<TiedColumns> = sql!(
        transaction.on(),
        fetch_all,
        "SELECT 'dependent' AS tie, work_items.*,
             (SELECT string_agg(needs, ' ' ORDER BY position) FROM work_dependencies WHERE item = work_items.id) AS depends_on, TRUE AS has_parts
         FROM work_dependencies JOIN work_items ON work_items.id = work_dependencies.item
         WHERE work_dependencies.needs = $1 AND status = 'blocked'
             AND EXISTS (SELECT 1 FROM work_items parts WHERE parts.parent = work_items.id)
         UNION ALL SELECT 'part', work_items.*,
             (SELECT string_agg(needs, ' ' ORDER BY position) FROM work_dependencies WHERE item = work_items.id),
             EXISTS (SELECT 1 FROM work_items parts WHERE parts.parent = work_items.id)
         FROM work_items WHERE parent = $1 AND status NOT IN ('done', 'failed', 'cancelled')
         UNION ALL SELECT 'parent', work_items.*,
             (SELECT string_agg(needs, ' ' ORDER BY position) FROM work_dependencies WHERE item = work_items.id), TRUE
         FROM work_items WHERE id = $2 AND status = 'blocked'",
        over.id.as_str(),
        over.parent.as_ref().map(WorkItemId::as_str)
    )?;
    let mut tied = rows.into_iter().map(|row| Ok((row.tie.0, ItemRecord::try_from(row.record)?))).collect::<Result<Vec<_>>>()?;
    tied.sort_by(|(tie, a), (other, b)| (tie, a.item.created_at, &a.item.id).cmp(&(other, b.item.created_at, &b.item.id)));
    Ok(tied)
}
