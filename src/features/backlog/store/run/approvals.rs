//! Calls that a person has to allow, each bound to its exact arguments (TRUST-3).

use chrono::{DateTime, Utc};
use serde_json::Value;

use crate::features::backlog::model::{Lease, Wait, WorkStatus};
use crate::features::backlog::store::TURNSTILE;
use crate::features::backlog::store::standing::Standing;
use crate::store::Store;
use kernel::chat::outbound::OutboundMessage;
use kernel::chat::outbox::store::insert_outbound;
use kernel::db::{Document, Result, Transaction, Word, document, plain, sql};
use kernel::ids::{ApprovalId, WorkItemId};
use kernel::tools::approval::{Approval, ApprovalState, Risk, fingerprint};

#[derive(sqlx::FromRow)]
struct ApprovalColumns {
    id: String,
    item: String,
    #[sqlx(try_from = "i64")]
    run: u32,
    tool: String,
    #[sqlx(try_from = "String")]
    arguments: Document<Value>,
    #[sqlx(try_from = "String")]
    risk: Word<Risk>,
    #[sqlx(try_from = "String")]
    state: Word<ApprovalState>,
    decided_by: Option<String>,
    asked_at: DateTime<Utc>,
    decided_at: Option<DateTime<Utc>>,
}

impl From<ApprovalColumns> for Approval {
    fn from(row: ApprovalColumns) -> Self {
        Self {
            id: row.id.into(),
            item: row.item.into(),
            run: row.run,
            tool: row.tool,
            arguments: row.arguments.0,
            risk: row.risk.0,
            state: row.state.0,
            by: row.decided_by,
            asked_at: row.asked_at,
            decided_at: row.decided_at,
        }
    }
}

impl Store {
    /// Puts a call before a person, and ends the run's work until that person has decided. False, and nothing is stored, when the lease is no
    /// longer good, the approval is for another item or run, or this call was put before a person in this run already.
    pub async fn ask_approval(&self, lease: &Lease, approval: &Approval, outbox: &[OutboundMessage], at: DateTime<Utc>) -> Result<bool> {
        let mut transaction = self.db().begin().await?;
        let Some(mut standing) = Standing::hold(&mut transaction, lease).await? else { return Ok(false) };
        let is_its_own = approval.item == standing.item.id && approval.run == standing.item.run;
        if !is_its_own || !insert_approval(&mut transaction, approval).await? {
            return Ok(false);
        }
        insert_outbound(&mut transaction, outbox, standing.cause(), at).await?;
        standing.crashes = 0;
        standing.add_up(&mut transaction).await?;
        standing.item.wait = Some(Wait::Approval { approval: approval.id.clone() });
        let note = format!("a person has to allow {}", approval.tool);
        standing.go(&mut transaction, WorkStatus::Waiting, Some(&note), at).await?;
        transaction.commit().await?;
        Ok(true)
    }

    /// A call that was put before a person.
    pub async fn find_approval(&self, approval: &ApprovalId) -> Result<Option<Approval>> {
        let row: Option<ApprovalColumns> =
            sql!(self.db().read(), fetch_optional, "SELECT * FROM approvals WHERE id = $1", approval.as_str())?;
        Ok(row.map(Approval::from))
    }

    /// The same by what it is: the call of this fingerprint in this run.
    pub async fn find_approval_for(&self, item: &WorkItemId, run: u32, fingerprint: &str) -> Result<Option<Approval>> {
        let row: Option<ApprovalColumns> = sql!(
            self.db().read(),
            fetch_optional,
            "SELECT * FROM approvals WHERE item = $1 AND run = $2 AND fingerprint = $3",
            item.as_str(),
            i64::from(run),
            fingerprint
        )?;
        Ok(row.map(Approval::from))
    }

    /// All calls of an item that were put before a person, the first coming first.
    pub async fn list_approvals(&self, item: &WorkItemId) -> Result<Vec<Approval>> {
        let rows: Vec<ApprovalColumns> =
            sql!(self.db().read(), fetch_all, "SELECT * FROM approvals WHERE item = $1 ORDER BY asked_at, id", item.as_str())?;
        Ok(rows.into_iter().map(Approval::from).collect())
    }

    /// Stores what a person decided, and lets the run go on that waits for it, to make the call or to be told that it may not. None, and nothing
    /// is stored, when somebody has decided already, or there is no such call.
    pub async fn decide_approval(&self, approval: &ApprovalId, allowed: bool, by: &str, at: DateTime<Utc>) -> Result<Option<Approval>> {
        let mut transaction = self.db().begin().await?;
        transaction.serialize(TURNSTILE).await?;
        let state = if allowed { ApprovalState::Allowed } else { ApprovalState::Refused };
        let row: Option<ApprovalColumns> = sql!(
            transaction.on(),
            fetch_optional,
            "UPDATE approvals SET state = $2, decided_by = $3, decided_at = $4 WHERE id = $1 AND state = 'asked' RETURNING *",
            approval.as_str(),
            state.as_str(),
            plain(by),
            at
        )?;
        let Some(decided) = row.map(Approval::from) else { return Ok(None) };
        let waits = Wait::Approval { approval: approval.clone() };
        let standing = Standing::find(&mut transaction, &decided.item).await?;
        if let Some(standing) = standing.filter(|standing| standing.item.wait.as_ref() == Some(&waits)) {
            let note = format!("{} {} by {by}", decided.tool, state.as_str());
            standing.place(&mut transaction, Some(&note), at).await?;
        }
        transaction.commit().await?;
        Ok(Some(decided))
    }
}

/// False when this call was put before a person in this run already.
async fn insert_approval(transaction: &mut Transaction, approval: &Approval) -> Result<bool> {
    let inserted = sql!(
        transaction.on(),
        execute,
        "INSERT INTO approvals (id, item, run, tool, arguments, fingerprint, risk, state, decided_by, asked_at, decided_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) ON CONFLICT DO NOTHING",
        approval.id.as_str(),
        approval.item.as_str(),
        i64::from(approval.run),
        plain(&approval.tool),
        document(&approval.arguments),
        fingerprint(&approval.tool, &approval.arguments),
        approval.risk.as_str(),
        approval.state.as_str(),
        approval.by.as_deref().map(plain),
        approval.asked_at,
        approval.decided_at
    )?;
    Ok(inserted > 0)
}
