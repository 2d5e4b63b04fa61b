//! Claims, heartbeats, and reclaiming items of dead workers.

use chrono::{DateTime, Utc};

use crate::features::backlog::model::{Lease, Product, Wait, WorkItem, WorkStatus, WorkerId};
use crate::features::backlog::store::BACKLOG_LOCK;
use crate::features::backlog::store::transitions::ItemRecord;
use crate::store::Store;
use kernel::db::{Result, Transaction, sql};
use kernel::ids::{PersonaSlug, WorkItemId};

/// The worker and the limit of items in progress.
#[derive(Debug, Clone, Copy)]
pub struct ClaimTerms<'a> {
    pub worker: &'a WorkerId,
    /// The most items in progress, over all workers.
    pub parallel: u32,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Claimed {
    /// After the claim.
    pub item: WorkItem,
    pub lease: Lease,
    /// The product of an interrupted run, which only needs to be verified.
    pub product: Option<Product>,
}

/// A lease as observed. If it is still the same after long enough, its worker is dead.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SeenLease {
    pub lease: Lease,
    /// The number of heartbeats.
    pub beat: i64,
    pub persona: Option<PersonaSlug>,
}

#[derive(sqlx::FromRow)]
struct LeaseColumns {
    id: String,
    lease_worker: String,
    lease_token: i64,
    lease_beat: i64,
    persona: Option<String>,
}

impl From<LeaseColumns> for SeenLease {
    fn from(row: LeaseColumns) -> Self {
        let lease = Lease { item: row.id.into(), worker: row.lease_worker.into(), token: row.lease_token };
        Self { lease, beat: row.lease_beat, persona: row.persona.map(PersonaSlug::new) }
    }
}

impl Store {
    /// Claims the first item by rank that may run: its time has come, its persona is free and not paused, and the team is not halted. None
    /// if there is none, or the limit is reached.
    pub async fn claim_item(&self, terms: &ClaimTerms<'_>, now: DateTime<Utc>) -> Result<Option<Claimed>> {
        let mut transaction = self.db().begin().await?;
        transaction.serialize(BACKLOG_LOCK).await?;
        let Some(item) = find_first(&mut transaction, terms.parallel, now).await? else { return Ok(None) };
        let Some(mut record) = ItemRecord::find(&mut transaction, &item).await? else { return Ok(None) };
        record.worker = Some(terms.worker.clone());
        record.token += 1;
        let note = format!("run {}, token {}, worker {}", record.item.run, record.token, terms.worker.as_str());
        record.go(&mut transaction, WorkStatus::InProgress, Some(&note), now).await?;
        transaction.commit().await?;
        let lease = Lease { item, worker: terms.worker.clone(), token: record.token };
        Ok(Some(Claimed { item: record.item, lease, product: record.product }))
    }

    /// Records a heartbeat for all leases of a worker, and returns them.
    pub async fn heartbeat(&self, worker: &WorkerId) -> Result<Vec<Lease>> {
        let rows: Vec<LeaseColumns> = sql!(
            self.db().write()?,
            fetch_all,
            "UPDATE work_items SET lease_beat = lease_beat + 1 WHERE status = 'in_progress' AND lease_worker = $1
             RETURNING id, lease_worker, lease_token, lease_beat, persona",
            worker.as_str()
        )?;
        Ok(rows.into_iter().map(|row| SeenLease::from(row).lease).collect())
    }

    /// All active leases.
    pub async fn list_leases(&self) -> Result<Vec<SeenLease>> {
        let rows: Vec<LeaseColumns> = sql!(
            self.db().read(),
            fetch_all,
            "SELECT id, lease_worker, lease_token, lease_beat, persona FROM work_items
             WHERE status = 'in_progress' AND lease_worker IS NOT NULL ORDER BY id"
        )?;
        Ok(rows.into_iter().map(SeenLease::from).collect())
    }

    /// Reclaims an item from a dead worker and counts an attempt. After `max_crashes` crashes in a row the item waits for a person. None if
    /// the worker has sent a heartbeat since, or has lost the item.
    pub async fn reclaim_item(&self, seen: &SeenLease, max_crashes: u32, at: DateTime<Utc>) -> Result<Option<WorkItem>> {
        let mut transaction = self.db().begin().await?;
        let Some(mut record) = ItemRecord::hold(&mut transaction, &seen.lease).await?.filter(|record| record.beat == seen.beat) else {
            return Ok(None);
        };
        record.item.attempts += 1;
        record.crashes += 1;
        let crashes = record.crashes;
        if crashes < max_crashes {
            let note = format!("its worker died over it (crash {crashes})");
            record.go(&mut transaction, WorkStatus::Ready, Some(&note), at).await?;
        } else {
            let why = format!("its worker died over it {crashes} times in a row");
            record.item.wait = Some(Wait::Decision { why: why.clone() });
            record.go(&mut transaction, WorkStatus::Waiting, Some(&why), at).await?;
        }
        transaction.commit().await?;
        Ok(Some(record.item))
    }
}

/// The first claimable item. Uses the index to step through the personas and take the first item of each free one, so blocked items and
/// those of busy personas cost nothing. Each subquery is scalar; otherwise PostgreSQL would join them with all items.
async fn find_first(transaction: &mut Transaction, parallel: u32, now: DateTime<Utc>) -> Result<Option<WorkItemId>> {
    let (first,): (Option<String>,) = sql!(
        transaction.on(),
        fetch_one,
        "WITH RECURSIVE hands (persona) AS (
             SELECT (SELECT persona FROM work_items WHERE status = 'ready' AND persona IS NOT NULL ORDER BY persona LIMIT 1)
             UNION ALL
             SELECT (SELECT persona FROM work_items WHERE status = 'ready' AND work_items.persona > hands.persona ORDER BY persona LIMIT 1)
             FROM hands WHERE hands.persona IS NOT NULL)
         SELECT MIN((SELECT rank || ' ' || id FROM work_items
             WHERE status = 'ready' AND work_items.persona = hands.persona AND (not_before IS NULL OR not_before <= $2)
             ORDER BY rank, id LIMIT 1))
         FROM hands WHERE hands.persona IS NOT NULL
             AND (SELECT COUNT(*) FROM work_items WHERE status = 'in_progress') < $1
             AND NOT EXISTS (SELECT 1 FROM work_items WHERE status = 'in_progress' AND work_items.persona = hands.persona)
             AND NOT EXISTS (SELECT 1 FROM halts WHERE scope IN ('all', 'persona:' || hands.persona))",
        i64::from(parallel),
        now
    )?;
    Ok(first.and_then(|first| first.split_once(' ').map(|(_, id)| id.into())))
}
