//! What the end of an item does to others: those that need it, its parts, its parent, and theirs in turn, all in one transaction (WORK-15, WORK-20).

use std::collections::{HashSet, VecDeque};

use chrono::{DateTime, Utc};

use super::{Standing, StandingColumns};
use crate::domain::ids::WorkItemId;
use crate::domain::work::{WorkItem, WorkStatus};
use crate::store::engine::{Transaction, sql};
use crate::store::error::Result;

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
    pub(in crate::store::work) fn alone(item: WorkItem) -> Self {
        Self { item, released: Vec::new(), failed: Vec::new(), parents: Vec::new() }
    }
}

/// Ends whose effects on others are being worked out. A queue and no recursion: chains may be thousands of items long.
pub(in crate::store::work) struct Consequences {
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

/// How an item stands to one that is over.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
enum Tie {
    /// It needs it.
    Dependent,
    /// It is a part of it.
    Part,
    Parent,
}

#[derive(sqlx::FromRow)]
struct TiedColumns {
    #[sqlx(try_from = "String")]
    tie: crate::store::engine::Word<Tie>,
    #[sqlx(flatten)]
    standing: StandingColumns,
}

impl Consequences {
    pub(in crate::store::work) fn new(at: DateTime<Utc>) -> Self {
        Self { at, over: VecDeque::new(), released: Vec::new(), failed: Vec::new(), parents: Vec::new() }
    }

    /// Takes in an item that has just ended.
    pub(in crate::store::work) fn add(&mut self, item: &WorkItem) {
        let over = Over { id: item.id.clone(), parent: item.parent.clone(), what: item.what.clone(), status: item.status };
        self.over.push_back(over);
    }

    /// Works out all that follows, until nothing more does.
    pub(in crate::store::work) async fn follow(&mut self, transaction: &mut Transaction) -> Result<()> {
        while let Some(over) = self.over.pop_front() {
            let mut seen = HashSet::new();
            for (tie, standing) in list_tied(transaction, &over).await? {
                // Whoever is tied in two ways is dealt with by the first.
                if !seen.insert(standing.item.id.clone()) {
                    continue;
                }
                match tie {
                    Tie::Dependent | Tie::Part if over.status == WorkStatus::Done => self.settle(transaction, standing).await?,
                    Tie::Dependent => self.fail(transaction, standing, &over).await?,
                    Tie::Part => self.drop_part(transaction, standing, &over).await?,
                    Tie::Parent => self.settle(transaction, standing).await?,
                }
            }
        }
        Ok(())
    }

    /// What followed, all of it from the end of `item`.
    pub(in crate::store::work) fn of(self, item: WorkItem) -> Ended {
        Ended { item, released: self.released, failed: self.failed, parents: self.parents }
    }

    /// Fails an item because one that it needs is over without being done.
    pub(in crate::store::work) async fn lose(
        &mut self,
        transaction: &mut Transaction,
        standing: Standing,
        needed: &WorkItem,
    ) -> Result<()> {
        let over = Over { id: needed.id.clone(), parent: None, what: needed.what.clone(), status: needed.status };
        self.fail(transaction, standing, &over).await
    }

    async fn fail(&mut self, transaction: &mut Transaction, mut standing: Standing, needed: &Over) -> Result<()> {
        standing.finish(transaction, WorkStatus::Failed, &why_lost(&needed.what, needed.status), self.at).await?;
        self.failed.push(standing.item.id.clone());
        self.add(&standing.item);
        Ok(())
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
                standing.go(transaction, WorkStatus::Ready, Some("nothing blocks it any more"), self.at).await?;
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
pub(in crate::store::work) enum Readiness {
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
    pub(in crate::store::work) async fn find(transaction: &mut Transaction, item: &WorkItemId) -> Result<Self> {
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

/// The items that an end may touch and that are not over themselves, in the order of [`Tie`], of equals the oldest first.
async fn list_tied(transaction: &mut Transaction, over: &Over) -> Result<Vec<(Tie, Standing)>> {
    let rows: Vec<TiedColumns> = sql!(
        transaction.on(),
        fetch_all,
        "SELECT 'dependent' AS tie, work_items.*,
             (SELECT string_agg(needs, ' ' ORDER BY position) FROM work_dependencies WHERE item = work_items.id) AS depends_on
         FROM work_dependencies JOIN work_items ON work_items.id = work_dependencies.item
         WHERE work_dependencies.needs = $1 AND status NOT IN ('done', 'failed', 'cancelled')
         UNION ALL SELECT 'part', work_items.*,
             (SELECT string_agg(needs, ' ' ORDER BY position) FROM work_dependencies WHERE item = work_items.id)
         FROM work_items WHERE parent = $1 AND status NOT IN ('done', 'failed', 'cancelled')
         UNION ALL SELECT 'parent', work_items.*,
             (SELECT string_agg(needs, ' ' ORDER BY position) FROM work_dependencies WHERE item = work_items.id)
         FROM work_items WHERE id = $2 AND status NOT IN ('done', 'failed', 'cancelled')",
        over.id.as_str(),
        over.parent.as_ref().map(WorkItemId::as_str)
    )?;
    let mut tied = rows.into_iter().map(|row| Ok((row.tie.0, Standing::try_from(row.standing)?))).collect::<Result<Vec<_>>>()?;
    tied.sort_by(|(tie, a), (other, b)| (tie, a.item.created_at, &a.item.id).cmp(&(other, b.item.created_at, &b.item.id)));
    Ok(tied)
}
