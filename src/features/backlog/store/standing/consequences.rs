//! What the end of an item does to others: those that need it, its parts, its parent, and theirs in turn, all in one transaction (WORK-15, WORK-20).

use std::collections::{HashSet, VecDeque};

use chrono::{DateTime, Utc};

use crate::features::backlog::model::{WorkItem, WorkStatus};
use crate::features::backlog::store::standing::{Standing, StandingColumns};
use kernel::db::{Result, Transaction, Word, plain, sql};
use kernel::ids::WorkItemId;

/// An item that took a step, and what its end did to others.
#[derive(Debug, Clone, PartialEq)]
pub struct Ended {
    /// As it is now.
    pub item: WorkItem,
    /// Those that may be worked on from now on.
    pub released: Vec<WorkItemId>,
    /// Those that ended with it and not well: what needs it failed, its own parts were cancelled.
    pub failed: Vec<WorkItemId>,
    /// Parents that ended, well or not, because this was the last of their parts.
    pub parents: Vec<WorkItemId>,
}

impl Ended {
    /// It did nothing to others.
    pub(crate) fn alone(item: WorkItem) -> Self {
        Self { item, released: Vec::new(), failed: Vec::new(), parents: Vec::new() }
    }
}

/// Ends whose effects on others are being worked out. A queue and no recursion: chains may be thousands of items long.
pub(crate) struct Consequences {
    at: DateTime<Utc>,
    over: VecDeque<Over>,
    released: Vec<WorkItemId>,
    failed: Vec<WorkItemId>,
    parents: Vec<WorkItemId>,
}

/// An item that is over.
struct Over {
    id: WorkItemId,
    parent: Option<WorkItemId>,
    what: String,
    status: WorkStatus,
}

/// Why an item may be worked on.
const RELEASED: &str = "nothing blocks it any more";

#[derive(sqlx::FromRow)]
struct FailedColumns {
    id: String,
    what: String,
    parent: Option<String>,
    /// Its end may touch others in turn.
    is_tied: bool,
}

/// How an item stands to one that is over.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
enum Tie {
    /// It needs it, and has parts.
    Dependent,
    /// It is a part of it.
    Part,
    Parent,
}

#[derive(sqlx::FromRow)]
struct TiedColumns {
    #[sqlx(try_from = "String")]
    tie: Word<Tie>,
    #[sqlx(flatten)]
    standing: StandingColumns,
}

impl Consequences {
    pub(crate) fn new(at: DateTime<Utc>) -> Self {
        Self { at, over: VecDeque::new(), released: Vec::new(), failed: Vec::new(), parents: Vec::new() }
    }

    /// Takes in an item that has just ended.
    pub(crate) fn add(&mut self, item: &WorkItem) {
        let over = Over { id: item.id.clone(), parent: item.parent.clone(), what: item.what.clone(), status: item.status };
        self.over.push_back(over);
    }

    /// Works out all that follows, until nothing more does.
    pub(crate) async fn follow(&mut self, transaction: &mut Transaction) -> Result<()> {
        while let Some(over) = self.over.pop_front() {
            let is_done = over.status == WorkStatus::Done;
            if is_done {
                self.release_dependents(transaction, &over).await?;
            } else {
                self.fail_dependents(transaction, &over).await?;
            }
            let mut seen = HashSet::new();
            for (tie, standing) in list_tied(transaction, &over).await? {
                // Whoever is tied in two ways is dealt with by the first.
                if !seen.insert(standing.item.id.clone()) {
                    continue;
                }
                match tie {
                    Tie::Part if !is_done => self.drop_part(transaction, standing, &over).await?,
                    Tie::Part => {}
                    Tie::Dependent | Tie::Parent => self.settle(transaction, standing).await?,
                }
            }
        }
        Ok(())
    }

    /// Takes on what needed only this any more, all at once: it may be thousands. What has parts is looked at one by one.
    async fn release_dependents(&mut self, transaction: &mut Transaction, over: &Over) -> Result<()> {
        sql!(
            transaction.on(),
            execute,
            "INSERT INTO work_events (item, from_status, to_status, note, at)
             SELECT id, status, 'ready', $2, $3 FROM work_items
             WHERE status = 'blocked' AND id IN (SELECT item FROM work_dependencies WHERE needs = $1)
                 AND NOT EXISTS (SELECT 1 FROM work_items parts WHERE parts.parent = work_items.id)
                 AND NOT EXISTS (SELECT 1 FROM work_dependencies others JOIN work_items needed ON needed.id = others.needs
                     WHERE others.item = work_items.id AND needed.status <> 'done')
             ORDER BY created_at, id",
            over.id.as_str(),
            RELEASED,
            self.at
        )?;
        let mut released: Vec<(String,)> = sql!(
            transaction.on(),
            fetch_all,
            "UPDATE work_items SET status = 'ready', updated_at = $2
             WHERE status = 'blocked' AND id IN (SELECT item FROM work_dependencies WHERE needs = $1)
                 AND NOT EXISTS (SELECT 1 FROM work_items parts WHERE parts.parent = work_items.id)
                 AND NOT EXISTS (SELECT 1 FROM work_dependencies others JOIN work_items needed ON needed.id = others.needs
                     WHERE others.item = work_items.id AND needed.status <> 'done')
             RETURNING id",
            over.id.as_str(),
            self.at
        )?;
        // RETURNING promises no order; ids come in the order of their making.
        released.sort_unstable();
        self.released.extend(released.into_iter().map(|(id,)| WorkItemId::new(id)));
        Ok(())
    }

    /// Fails all that needs what is lost, all at once: it may be thousands. Whatever is open may fail.
    async fn fail_dependents(&mut self, transaction: &mut Transaction, lost: &Over) -> Result<()> {
        let why = why_lost(&lost.what, lost.status);
        sql!(
            transaction.on(),
            execute,
            "INSERT INTO work_events (item, from_status, to_status, note, at)
             SELECT id, status, 'failed', $2, $3 FROM work_items
             WHERE status NOT IN ('done', 'failed', 'cancelled') AND id IN (SELECT item FROM work_dependencies WHERE needs = $1)
             ORDER BY created_at, id",
            lost.id.as_str(),
            plain(&why),
            self.at
        )?;
        let mut failed: Vec<FailedColumns> = sql!(
            transaction.on(),
            fetch_all,
            "UPDATE work_items SET status = 'failed', outcome = $2, wait = NULL, not_before = NULL, lease_worker = NULL, crashes = 0,
                 updated_at = $3
             WHERE status NOT IN ('done', 'failed', 'cancelled') AND id IN (SELECT item FROM work_dependencies WHERE needs = $1)
             RETURNING id, what, parent, parent IS NOT NULL OR EXISTS (SELECT 1 FROM work_dependencies WHERE needs = work_items.id)
                 OR EXISTS (SELECT 1 FROM work_items parts WHERE parts.parent = work_items.id) AS is_tied",
            lost.id.as_str(),
            plain(&why),
            self.at
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

    /// What followed, all of it from the end of `item`.
    pub(crate) fn of(self, item: WorkItem) -> Ended {
        Ended { item, released: self.released, failed: self.failed, parents: self.parents }
    }

    /// Fails what needs an item that was over before, without being done.
    pub(crate) async fn lose(&mut self, transaction: &mut Transaction, needed: &WorkItem) -> Result<()> {
        let lost = Over { id: needed.id.clone(), parent: None, what: needed.what.clone(), status: needed.status };
        self.fail_dependents(transaction, &lost).await
    }

    async fn drop_part(&mut self, transaction: &mut Transaction, mut standing: Standing, parent: &Over) -> Result<()> {
        let why = format!("it is a part of \"{}\", which {}", parent.what, render_lost(parent.status));
        standing.finish(transaction, WorkStatus::Cancelled, &why, self.at).await?;
        self.failed.push(standing.item.id.clone());
        self.add(&standing.item);
        Ok(())
    }

    /// Takes a blocked item on, if nothing blocks it any more.
    async fn settle(&mut self, transaction: &mut Transaction, mut standing: Standing) -> Result<()> {
        if standing.item.status != WorkStatus::Blocked {
            return Ok(());
        }
        match Readiness::find(transaction, &standing.item.id).await? {
            Readiness::Held => {}
            Readiness::Free => {
                standing.go(transaction, WorkStatus::Ready, Some(RELEASED), self.at).await?;
                self.released.push(standing.item.id);
            }
            Readiness::Lost(why) => {
                standing.finish(transaction, WorkStatus::Failed, &why, self.at).await?;
                self.failed.push(standing.item.id.clone());
                self.add(&standing.item);
            }
            Readiness::PartsOver { status, outcome } => {
                standing.finish(transaction, status, &outcome, self.at).await?;
                self.parents.push(standing.item.id.clone());
                self.add(&standing.item);
            }
        }
        Ok(())
    }
}

/// Whether an item may be worked on, as far as others go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Readiness {
    Free,
    /// Others have to be done first.
    Held,
    /// It needs something that is over without being done; in words.
    Lost(String),
    /// It had parts and all are over, which ends it like this.
    PartsOver {
        status: WorkStatus,
        outcome: String,
    },
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
                 EXISTS (SELECT 1 FROM work_items WHERE parent = $1 AND status NOT IN ('done', 'failed', 'cancelled')) AS parts_open,
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
            // A part that was cancelled does no harm as long as another is done.
            (None, Some((status, what))) if status == WorkStatus::Failed || !row.part_done => {
                let outcome = format!("its part \"{what}\" {}", render_lost(status));
                Self::PartsOver { status: WorkStatus::Failed, outcome }
            }
            (None, _) if row.part_done => Self::PartsOver { status: WorkStatus::Done, outcome: "its parts are done".into() },
            (None, _) => Self::Free,
        }
    }
}

/// A status and what the item is about, as the statement above puts them together.
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

/// The items that an end may touch and that are left after those that are taken on or fail all at once, in the order of [`Tie`], of equals the oldest first.
async fn list_tied(transaction: &mut Transaction, over: &Over) -> Result<Vec<(Tie, Standing)>> {
    let rows: Vec<TiedColumns> = sql!(
        transaction.on(),
        fetch_all,
        "SELECT 'dependent' AS tie, work_items.*,
             (SELECT string_agg(needs, ' ' ORDER BY position) FROM work_dependencies WHERE item = work_items.id) AS depends_on
         FROM work_dependencies JOIN work_items ON work_items.id = work_dependencies.item
         WHERE work_dependencies.needs = $1 AND status = 'blocked'
             AND EXISTS (SELECT 1 FROM work_items parts WHERE parts.parent = work_items.id)
         UNION ALL SELECT 'part', work_items.*,
             (SELECT string_agg(needs, ' ' ORDER BY position) FROM work_dependencies WHERE item = work_items.id)
         FROM work_items WHERE parent = $1 AND status NOT IN ('done', 'failed', 'cancelled')
         UNION ALL SELECT 'parent', work_items.*,
             (SELECT string_agg(needs, ' ' ORDER BY position) FROM work_dependencies WHERE item = work_items.id)
         FROM work_items WHERE id = $2 AND status = 'blocked'",
        over.id.as_str(),
        over.parent.as_ref().map(WorkItemId::as_str)
    )?;
    let mut tied = rows.into_iter().map(|row| Ok((row.tie.0, Standing::try_from(row.standing)?))).collect::<Result<Vec<_>>>()?;
    tied.sort_by(|(tie, a), (other, b)| (tie, a.item.created_at, &a.item.id).cmp(&(other, b.item.created_at, &b.item.id)));
    Ok(tied)
}
