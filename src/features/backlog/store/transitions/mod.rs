//! Changes an item's status: reads it with its family held, changes the value, and writes it with an event. `consequences` handles the
//! effects on others.

mod consequences;
mod events;

use chrono::{DateTime, Utc};

use crate::features::backlog::model::{Evidence, Origin, Product, WorkItem, WorkStatus};
use crate::features::backlog::store::families;
use crate::features::backlog::store::items::ItemColumns;
use crate::features::backlog::store::jobs::{ItemOf, LEARNINGS, PLAN, enqueue_job, tell_mission, wake_job};
use crate::features::backlog::store::requests::follow_wait;
use crate::features::backlog::store::subjects;
use kernel::db::{Backend, Document, Result, StoreError, Transaction, Who, bounded, document, plain, sql};
use kernel::ids::{MessageId, PersonaSlug, WorkItemId};
use kernel::jobs::{self, Job, JobContext, JobId};
use kernel::money::Money;

pub use consequences::Ended;
pub use events::{ITEMS, ItemChange, ItemEvent};

use consequences::PARTS_DONE;
pub(super) use consequences::{Consequences, Readiness};
pub(super) use events::{event_of, insert_approval_event, insert_event};

/// An item with fields that only the store uses.
#[expect(clippy::struct_excessive_bools, reason = "they are independent columns")]
#[derive(Debug, Clone)]
pub(super) struct ItemRecord {
    pub(super) item: WorkItem,
    pub(super) product: Option<Product>,
    /// Its place in the order of work.
    pub(super) rank: String,
    /// The job that its status needs.
    pub(super) job: Option<JobId>,
    pub(super) rejections: u32,
    /// The planner drafted its criteria, because nobody gave any.
    pub(super) has_drafted_criteria: bool,
    /// A person or the proposer chose its kind. Otherwise the planner did.
    pub(super) is_kind_chosen: bool,
    /// It has parts, so it is not carried out itself.
    pub(super) has_parts: bool,
    /// Its own job makes the changes, and ends with them.
    is_held: bool,
}

#[derive(sqlx::FromRow)]
pub(super) struct StandingColumns {
    #[sqlx(flatten)]
    item: ItemColumns,
    product: Option<String>,
    rank: String,
    job: Option<i64>,
    #[sqlx(try_from = "i64")]
    rejections: u32,
    criteria_drafted: bool,
    kind_chosen: bool,
    has_parts: bool,
    family: String,
}

const LISTED_IN_SQLITE: &str = "SELECT work_items.*,
         (SELECT string_agg(needs, ' ' ORDER BY position) FROM work_dependencies WHERE item = work_items.id) AS depends_on,
         EXISTS (SELECT 1 FROM work_items parts WHERE parts.parent = work_items.id) AS has_parts
     FROM work_items WHERE id IN (SELECT value FROM json_each($1))";
const LISTED_IN_POSTGRES: &str = "SELECT work_items.*,
         (SELECT string_agg(needs, ' ' ORDER BY position) FROM work_dependencies WHERE item = work_items.id) AS depends_on,
         EXISTS (SELECT 1 FROM work_items parts WHERE parts.parent = work_items.id) AS has_parts
     FROM work_items WHERE id = ANY($1)";

impl TryFrom<StandingColumns> for ItemRecord {
    type Error = StoreError;

    fn try_from(row: StandingColumns) -> Result<Self> {
        Ok(Self {
            item: row.item.try_into()?,
            product: row.product.map(Document::read).transpose()?,
            rank: row.rank,
            job: row.job.map(JobId),
            rejections: row.rejections,
            has_drafted_criteria: row.criteria_drafted,
            is_kind_chosen: row.kind_chosen,
            has_parts: row.has_parts,
            is_held: false,
        })
    }
}

impl ItemRecord {
    /// Reads an item. Others cannot change it, or what it is connected with, until the transaction ends.
    pub(super) async fn find(transaction: &mut Transaction, item: &WorkItemId) -> Result<Option<Self>> {
        loop {
            let held = families::hold(transaction, item).await?;
            let row: Option<StandingColumns> = sql!(
                transaction.on(),
                fetch_optional,
                "SELECT work_items.*, (SELECT string_agg(needs, ' ' ORDER BY position) FROM work_dependencies WHERE item = work_items.id) AS depends_on,
                     EXISTS (SELECT 1 FROM work_items parts WHERE parts.parent = work_items.id) AS has_parts
                 FROM work_items WHERE id = $1",
                item.as_str()
            )?;
            let Some(row) = row else { return Ok(None) };
            // While this waited for the lock, its family may have joined another one.
            if held.is_none_or(|held| held == row.family) {
                return row.try_into().map(Some);
            }
        }
    }

    /// Reads many items, in any order. Others cannot change them, or what they are connected with, until the transaction ends.
    pub(super) async fn list(transaction: &mut Transaction, items: &[&str]) -> Result<Vec<Self>> {
        loop {
            let held = families::list(transaction, items).await?;
            families::hold_all(transaction, items).await?;
            let rows: Vec<StandingColumns> = match transaction.on() {
                Backend::Sqlite(connection) => sqlx::query_as(LISTED_IN_SQLITE).bind(document(&items)).fetch_all(connection).await?,
                Backend::Postgres(connection) => bounded(sqlx::query_as(LISTED_IN_POSTGRES).bind(items).fetch_all(connection)).await?,
            };
            // While this waited for the locks, the families may have joined others.
            if rows.iter().all(|row| held.contains(&row.family)) {
                return rows.into_iter().map(Self::try_from).collect();
            }
        }
    }

    /// The item of a job, if it still needs the job and this run holds it. The job ends with the next change of status.
    pub(super) async fn hold(transaction: &mut Transaction, job: &JobContext) -> Result<Option<Self>> {
        let record = Self::of_job(transaction, job.job()).await?;
        Ok(if job.hold(transaction).await? { record } else { None })
    }

    /// The item of a job, if it still needs the job.
    pub(super) async fn of_job(transaction: &mut Transaction, job: &Job) -> Result<Option<Self>> {
        let Ok(ItemOf { item, .. }) = job.read_payload() else { return Ok(None) };
        let record = Self::find(transaction, &item).await?.filter(|record| record.job == Some(job.id));
        Ok(record.map(|record| Self { is_held: true, ..record }))
    }

    /// Whether it needs no other item and has no parts.
    pub(super) fn is_alone(&self) -> bool {
        self.item.depends_on.is_empty() && !self.has_parts
    }

    /// Its run may have begun, and goes on after it is planned again.
    pub(super) fn was_planned_before(&self) -> bool {
        self.item.persona.is_some()
    }

    pub(super) fn may_go(&self, next: WorkStatus) -> bool {
        self.item.status.advance(next).is_ok()
    }

    /// Starts the next run from the beginning.
    pub(super) fn restart_run(&mut self) {
        self.item.run += 1;
        self.product = None;
        self.item.evidence.clear();
    }

    /// Adds new evidence, without duplicates.
    pub(super) fn add_evidence(&mut self, evidence: &[Evidence]) {
        for found in evidence {
            if !self.item.evidence.contains(found) {
                self.item.evidence.push(found.clone());
            }
        }
    }

    /// Resets the attempts.
    pub(super) fn forgive(&mut self) {
        self.item.attempts = 0;
        self.rejections = 0;
    }

    /// Changes the status and stores the item with the job that it needs then. Clears the wait unless `next` is waiting.
    ///
    /// # Errors
    /// As [`WorkStatus::advance`], which would be a bug.
    pub(super) async fn go(
        &mut self,
        transaction: &mut Transaction,
        next: WorkStatus,
        note: Option<&str>,
        at: DateTime<Utc>,
    ) -> Result<()> {
        let from = self.item.status;
        self.item.status = from.advance(next).map_err(|error| StoreError::Other(error.to_string()))?;
        if next != WorkStatus::Waiting {
            self.item.wait = None;
        }
        if next != WorkStatus::Ready {
            self.item.not_before = None;
        }
        self.replace_job(transaction, at).await?;
        self.save(transaction, at).await?;
        if from == WorkStatus::Waiting || next == WorkStatus::Waiting {
            follow_wait(transaction, &self.item, from, at).await?;
        }
        match (from.is_over(), next.is_over()) {
            (false, true) => subjects::delete(transaction, &self.item.id).await?,
            (true, false) => subjects::insert(transaction, [&self.item]).await?,
            _ => {}
        }
        tell_mission(transaction, &self.item, at).await?;
        insert_event(transaction, &self.item, Some(from), note, at).await
    }

    /// Adds an action of a person that leaves the status as it is to the history.
    pub(super) async fn remark(&self, transaction: &mut Transaction, note: &str, at: DateTime<Utc>) -> Result<()> {
        insert_event(transaction, &self.item, Some(self.item.status), Some(note), at).await
    }

    /// Changes ready to in progress. Its job goes on.
    pub(super) async fn begin(&mut self, transaction: &mut Transaction, note: Option<&str>, at: DateTime<Utc>) -> Result<()> {
        self.item.status = WorkStatus::InProgress;
        self.item.not_before = None;
        self.save(transaction, at).await?;
        tell_mission(transaction, &self.item, at).await?;
        insert_event(transaction, &self.item, Some(WorkStatus::Ready), note, at).await
    }

    /// Cancels its job, which also ends a run in another process, and enqueues the one that its status needs.
    async fn replace_job(&mut self, transaction: &mut Transaction, at: DateTime<Utc>) -> Result<()> {
        if let Some(job) = self.job.take()
            && !self.is_held
        {
            jobs::cancel(transaction, job, "its item was changed", at).await?;
        }
        self.is_held = false;
        self.job = enqueue_job(transaction, &self.item, &self.rank, at).await?;
        if self.item.status == WorkStatus::New {
            wake_job(transaction, PLAN, at).await?;
        }
        Ok(())
    }

    /// Stores the item without changing the status.
    pub(super) async fn save(&mut self, transaction: &mut Transaction, at: DateTime<Utc>) -> Result<()> {
        self.item.updated_at = at;
        let item = &self.item;
        let owner = Who::from(&item.owner);
        sql!(
            transaction.on(),
            execute,
            "UPDATE work_items SET what = $2, how = $3, why = $4, owner = $5, owner_name = $6, urgency = $7, criteria = $8, status = $9,
                 attempts = $10, execution = $11, persona = $12, wait = $13, not_before = $14, run = $15, product = $16, evidence = $17,
                 outcome = $18, cost = $19, job = $20, rejections = $21, updated_at = $22, repository = $23, due = $24, criteria_drafted = $25, kind_chosen = $26,
                 reviewer = $27
             WHERE id = $1",
            item.id.as_str(),
            plain(&item.what),
            plain(&item.how),
            plain(&item.why),
            owner.key,
            owner.name,
            item.urgency.as_str(),
            document(&item.criteria),
            item.status.as_str(),
            i64::from(item.attempts),
            item.execution.as_ref().map(document),
            item.persona.as_ref().map(PersonaSlug::as_str),
            item.wait.as_ref().map(document),
            item.not_before,
            i64::from(item.run),
            self.product.as_ref().map(document),
            document(&item.evidence),
            item.outcome.as_deref().map(plain),
            item.cost.0,
            self.job.map(|job| job.0),
            i64::from(self.rejections),
            at,
            item.repository.as_deref(),
            item.due,
            self.has_drafted_criteria,
            self.is_kind_chosen,
            item.reviewer.as_ref().map(document)
        )?;
        Ok(())
    }

    /// Reads the cost of its model calls from the ledger.
    pub(super) async fn add_up(&mut self, transaction: &mut Transaction) -> Result<()> {
        let (cost,): (i64,) = sql!(
            transaction.on(),
            fetch_one,
            "SELECT CAST(COALESCE(SUM(cost), 0) AS BIGINT) FROM ledger WHERE subject = $1",
            self.item.id.as_str()
        )?;
        self.item.cost = Money(cost);
        Ok(())
    }

    /// Ends the item without processing effects on others.
    async fn finish(&mut self, transaction: &mut Transaction, status: WorkStatus, outcome: &str, at: DateTime<Utc>) -> Result<()> {
        self.item.outcome = Some(plain(outcome).into_owned());
        self.go(transaction, status, Some(outcome), at).await
    }

    /// Ends the item and processes the effects on others.
    pub(super) async fn end(
        mut self,
        transaction: &mut Transaction,
        status: WorkStatus,
        outcome: &str,
        at: DateTime<Utc>,
    ) -> Result<Ended> {
        self.add_up(transaction).await?;
        let mut consequences = Consequences::begin(transaction, at).await?;
        // Nobody worked on it, so nobody else announces its end.
        let is_quiet = matches!(self.item.status, WorkStatus::New | WorkStatus::Ready | WorkStatus::Blocked);
        self.finish(transaction, status, outcome, at).await?;
        consequences.add(&self.item);
        consequences.is_to_announce |= is_quiet && status != WorkStatus::Cancelled;
        consequences.follow(transaction).await?;
        wake_job(transaction, LEARNINGS, at).await?;
        Ok(consequences.of(self.item))
    }

    /// Sets the status that other items allow: ready, blocked, or over.
    pub(super) async fn place(mut self, transaction: &mut Transaction, note: Option<&str>, at: DateTime<Utc>) -> Result<Ended> {
        let readiness = if self.is_alone() { Readiness::Free } else { Readiness::find(transaction, &self.item.id).await? };
        let next = match readiness {
            Readiness::Free => WorkStatus::Ready,
            Readiness::Held => WorkStatus::Blocked,
            Readiness::Lost(why) => return self.end(transaction, WorkStatus::Failed, &why, at).await,
            // If it had been planned earlier, its children would already have brought it there.
            Readiness::PartsFailed(outcome) => {
                self.go_or_stay(transaction, WorkStatus::Blocked, note, at).await?;
                return self.end(transaction, WorkStatus::Failed, &outcome, at).await;
            }
            Readiness::PartsDone => {
                self.go_or_stay(transaction, WorkStatus::Blocked, note, at).await?;
                self.go(transaction, WorkStatus::InReview, Some(PARTS_DONE), at).await?;
                return Ok(Ended::alone(self.item));
            }
        };
        self.go_or_stay(transaction, next, note, at).await?;
        Ok(Ended::alone(self.item))
    }

    /// Reopens the item: for the planner if it was never planned, or else as other items allow.
    pub(super) async fn resume(mut self, transaction: &mut Transaction, note: &str, at: DateTime<Utc>) -> Result<()> {
        self.item.not_before = None;
        if self.item.execution.is_none() || self.item.persona.is_none() {
            return self.go(transaction, WorkStatus::New, Some(note), at).await;
        }
        self.place(transaction, Some(note), at).await.map(drop)
    }

    /// Changes to `next`, or only stores the item if it has that status.
    pub(super) async fn go_or_stay(
        &mut self,
        transaction: &mut Transaction,
        next: WorkStatus,
        note: Option<&str>,
        at: DateTime<Utc>,
    ) -> Result<()> {
        if self.item.status != next {
            return self.go(transaction, next, note, at).await;
        }
        // The job may be that of another persona.
        self.replace_job(transaction, at).await?;
        if next == WorkStatus::Waiting {
            follow_wait(transaction, &self.item, next, at).await?;
        }
        self.save(transaction, at).await
    }

    /// Adds the delivery of the message that the person reacted to, as evidence.
    pub(super) async fn add_delivery(&mut self, transaction: &mut Transaction) -> Result<()> {
        let outbox = WorkItem::reminder_id_of(&self.item.id, self.item.run);
        let sent: Option<(Option<String>, Option<DateTime<Utc>>)> =
            sql!(transaction.on(), fetch_optional, "SELECT platform_id, sent_at FROM outbox WHERE id = $1", outbox.as_str())?;
        if let Some((Some(message), Some(at))) = sent {
            self.add_evidence(&[Evidence::Delivered { outbox, message: message.into(), at }]);
        }
        Ok(())
    }

    /// The message that created it, for the trace.
    pub(super) fn cause(&self) -> Option<&MessageId> {
        match &self.item.origin {
            Origin::Person { message, .. } => message.as_ref(),
            Origin::Meeting(_) | Origin::WorkItem(_) | Origin::CommandLine | Origin::KanbanPage => None,
        }
    }
}
