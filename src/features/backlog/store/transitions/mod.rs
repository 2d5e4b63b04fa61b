//! Changes an item's status: reads it under the backlog lock, changes the value, and writes it with an event. `consequences` handles the
//! effects on others.

mod consequences;
mod events;

use chrono::{DateTime, Utc};

use crate::features::backlog::model::{Evidence, Lease, Origin, Product, WorkItem, WorkStatus, WorkerId};
use crate::features::backlog::store::BACKLOG_LOCK;
use crate::features::backlog::store::items::ItemColumns;
use kernel::db::{Document, Result, StoreError, Transaction, Who, document, plain, sql};
use kernel::ids::{MessageId, PersonaSlug, WorkItemId};
use kernel::money::Money;

pub use consequences::Ended;
pub use events::{ITEMS, ItemChange, ItemEvent};

pub(super) use consequences::{Consequences, Readiness};
pub(super) use events::{insert_approval_event, insert_event};

/// An item with fields that only the store uses.
#[derive(Debug, Clone)]
pub(super) struct ItemRecord {
    pub(super) item: WorkItem,
    pub(super) product: Option<Product>,
    pub(super) worker: Option<WorkerId>,
    pub(super) token: i64,
    pub(super) beat: i64,
    /// The number of consecutive worker crashes.
    pub(super) crashes: u32,
    pub(super) rejections: u32,
}

#[derive(sqlx::FromRow)]
pub(super) struct StandingColumns {
    #[sqlx(flatten)]
    item: ItemColumns,
    product: Option<String>,
    lease_worker: Option<String>,
    lease_token: i64,
    lease_beat: i64,
    #[sqlx(try_from = "i64")]
    crashes: u32,
    #[sqlx(try_from = "i64")]
    rejections: u32,
}

impl TryFrom<StandingColumns> for ItemRecord {
    type Error = StoreError;

    fn try_from(row: StandingColumns) -> Result<Self> {
        Ok(Self {
            item: row.item.try_into()?,
            product: row.product.map(Document::read).transpose()?,
            worker: row.lease_worker.map(WorkerId::from),
            token: row.lease_token,
            beat: row.lease_beat,
            crashes: row.crashes,
            rejections: row.rejections,
        })
    }
}

impl ItemRecord {
    /// Reads an item. The lock keeps others from changing it until the transaction ends.
    pub(super) async fn find(transaction: &mut Transaction, item: &WorkItemId) -> Result<Option<Self>> {
        transaction.serialize(BACKLOG_LOCK).await?;
        let row: Option<StandingColumns> = sql!(
            transaction.on(),
            fetch_optional,
            "SELECT work_items.*, (SELECT string_agg(needs, ' ' ORDER BY position) FROM work_dependencies WHERE item = work_items.id) AS depends_on
             FROM work_items WHERE id = $1",
            item.as_str()
        )?;
        row.map(Self::try_from).transpose()
    }

    /// The item of a valid lease.
    pub(super) async fn hold(transaction: &mut Transaction, lease: &Lease) -> Result<Option<Self>> {
        let record = Self::find(transaction, &lease.item).await?;
        Ok(record.filter(|record| {
            record.item.status == WorkStatus::InProgress && record.token == lease.token && record.worker.as_ref() == Some(&lease.worker)
        }))
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
        self.crashes = 0;
        self.rejections = 0;
    }

    /// Changes the status and stores the item. Clears the lease unless `next` is in progress, and the wait unless `next` is waiting.
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
        if next != WorkStatus::InProgress {
            self.worker = None;
        }
        if next != WorkStatus::Waiting {
            self.item.wait = None;
        }
        if next != WorkStatus::Ready {
            self.item.not_before = None;
        }
        self.save(transaction, at).await?;
        insert_event(transaction, &self.item, Some(from), note, at).await
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
                 outcome = $18, cost = $19, lease_worker = $20, lease_token = $21, crashes = $22, rejections = $23, updated_at = $24
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
            self.worker.as_ref().map(WorkerId::as_str),
            self.token,
            i64::from(self.crashes),
            i64::from(self.rejections),
            at
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
        self.crashes = 0;
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
        self.finish(transaction, status, outcome, at).await?;
        let mut consequences = Consequences::new(at);
        consequences.add(&self.item);
        consequences.follow(transaction).await?;
        Ok(consequences.of(self.item))
    }

    /// Sets the status that other items allow: ready, blocked, or over.
    pub(super) async fn place(mut self, transaction: &mut Transaction, note: Option<&str>, at: DateTime<Utc>) -> Result<Ended> {
        let next = match Readiness::find(transaction, &self.item.id).await? {
            Readiness::Free => WorkStatus::Ready,
            Readiness::Held => WorkStatus::Blocked,
            Readiness::Lost(why) => return self.end(transaction, WorkStatus::Failed, &why, at).await,
            Readiness::PartsOver { status, outcome } => {
                // If it had been planned earlier, its children would already have ended it.
                self.go_or_stay(transaction, WorkStatus::Blocked, note, at).await?;
                return self.end(transaction, status, &outcome, at).await;
            }
        };
        self.go_or_stay(transaction, next, note, at).await?;
        Ok(Ended::alone(self.item))
    }

    /// Reopens the item: for the planner if it was never planned, or else as other items allow.
    pub(super) async fn resume(mut self, transaction: &mut Transaction, note: &str, at: DateTime<Utc>) -> Result<()> {
        self.item.not_before = None;
        if self.item.execution.is_none() {
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
        if self.item.status == next { self.save(transaction, at).await } else { self.go(transaction, next, note, at).await }
    }

    /// The message that created it, for the trace.
    pub(super) fn cause(&self) -> Option<&MessageId> {
        match &self.item.origin {
            Origin::Person { message, .. } => message.as_ref(),
            Origin::Meeting(_) | Origin::WorkItem(_) | Origin::CommandLine => None,
        }
    }
}
