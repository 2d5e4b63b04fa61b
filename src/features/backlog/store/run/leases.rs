//! Claims, signs of life, and items taken back from workers that give none.

use chrono::{DateTime, Utc};

use crate::features::backlog::model::{Lease, Product, Wait, WorkItem, WorkStatus, WorkerId};
use crate::features::backlog::store::TURNSTILE;
use crate::features::backlog::store::standing::Standing;
use crate::store::Store;
use kernel::db::{Result, Transaction, sql};
use kernel::ids::{PersonaSlug, WorkItemId};

/// Who claims, and how much may be in progress.
#[derive(Debug, Clone, Copy)]
pub struct ClaimTerms<'a> {
    pub worker: &'a WorkerId,
    /// The most items in progress at a time, over all workers.
    pub parallel: u32,
}

/// An item that is to be worked on.
#[derive(Debug, Clone, PartialEq)]
pub struct Claimed {
    /// As it is after the claim.
    pub item: WorkItem,
    pub lease: Lease,
    /// What its run made before it was interrupted: only to be verified yet.
    pub product: Option<Product>,
}

/// A lease as it was seen at a moment. Seen again like this after long enough, its worker is dead.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SeenLease {
    pub lease: Lease,
    /// Counts the worker's signs of life.
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
    /// Claims the first item by rank that may be worked on: its time has come, its persona has nothing else in progress and is not paused, the
    /// team is not halted. None when there is no such item, or enough are in progress.
    pub async fn claim_item(&self, terms: &ClaimTerms<'_>, now: DateTime<Utc>) -> Result<Option<Claimed>> {
        let mut transaction = self.db().begin().await?;
        transaction.serialize(TURNSTILE).await?;
        let Some(item) = find_first(&mut transaction, terms.parallel, now).await? else { return Ok(None) };
        let Some(mut standing) = Standing::find(&mut transaction, &item).await? else { return Ok(None) };
        standing.worker = Some(terms.worker.clone());
        standing.token += 1;
        let note = format!("run {}, token {}, worker {}", standing.item.run, standing.token, terms.worker.as_str());
        standing.go(&mut transaction, WorkStatus::InProgress, Some(&note), now).await?;
        transaction.commit().await?;
        let lease = Lease { item, worker: terms.worker.clone(), token: standing.token };
        Ok(Some(Claimed { item: standing.item, lease, product: standing.product }))
    }

    /// Gives a sign of life for all that a worker holds, and says what that is.
    pub async fn beat(&self, worker: &WorkerId) -> Result<Vec<Lease>> {
        let rows: Vec<LeaseColumns> = sql!(
            self.db().write()?,
            fetch_all,
            "UPDATE work_items SET lease_beat = lease_beat + 1 WHERE status = 'in_progress' AND lease_worker = $1
             RETURNING id, lease_worker, lease_token, lease_beat, persona",
            worker.as_str()
        )?;
        Ok(rows.into_iter().map(|row| SeenLease::from(row).lease).collect())
    }

    /// All leases in force, whoever holds them.
    pub async fn list_leases(&self) -> Result<Vec<SeenLease>> {
        let rows: Vec<LeaseColumns> = sql!(
            self.db().read(),
            fetch_all,
            "SELECT id, lease_worker, lease_token, lease_beat, persona FROM work_items
             WHERE status = 'in_progress' AND lease_worker IS NOT NULL ORDER BY id"
        )?;
        Ok(rows.into_iter().map(SeenLease::from).collect())
    }

    /// Takes an item back from a worker that is dead, with one more attempt. At `poisonous` crashes in a row it waits for a person to decide. None,
    /// and nothing is stored, when the worker has given a sign of life since or holds it no more.
    pub async fn take_back(&self, seen: &SeenLease, poisonous: u32, at: DateTime<Utc>) -> Result<Option<WorkItem>> {
        let mut transaction = self.db().begin().await?;
        let Some(mut standing) = Standing::hold(&mut transaction, &seen.lease).await?.filter(|standing| standing.beat == seen.beat) else {
            return Ok(None);
        };
        standing.item.attempts += 1;
        standing.crashes += 1;
        let crashes = standing.crashes;
        if crashes < poisonous {
            let note = format!("its worker died over it (crash {crashes})");
            standing.go(&mut transaction, WorkStatus::Ready, Some(&note), at).await?;
        } else {
            let why = format!("its worker died over it {crashes} times in a row");
            standing.item.wait = Some(Wait::Decision { why: why.clone() });
            standing.go(&mut transaction, WorkStatus::Waiting, Some(&why), at).await?;
        }
        transaction.commit().await?;
        Ok(Some(standing.item))
    }
}

/// The first item that may be claimed. The personas that have any are walked from one to the next by the index, and for each that is free its
/// first item is taken from there: neither what is blocked nor what waits for a busy persona is looked at, however much it is. Each statement
/// inside is a value and no table, or PostgreSQL would join the few with all items there are.
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
