//! Approvals of calls, each for exact arguments (TRUST-3).

use chrono::{DateTime, Utc};
use serde_json::Value;

use crate::features::backlog::model::{Wait, WorkStatus};
use crate::features::backlog::store::families;
use crate::features::backlog::store::transitions::{ItemRecord, insert_approval_event};
use crate::store::Store;
use kernel::chat::outbound::OutboundMessage;
use kernel::chat::outbox::store::insert_outbound;
use kernel::db::{Document, Result, Transaction, Word, document, plain, sql};
use kernel::ids::{ApprovalId, WorkItemId};
use kernel::jobs::JobContext;
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
    /// Stores a request for approval and ends the job of the run until it is decided. False if the job is lost, the request belongs to another item or
    /// run, or this run has asked for the same call before.
    pub async fn ask_approval(&self, job: &JobContext, approval: &Approval, outbox: &[OutboundMessage], at: DateTime<Utc>) -> Result<bool> {
        let mut transaction = self.db().begin().await?;
        let Some(mut record) = ItemRecord::hold(&mut transaction, job).await? else { return Ok(false) };
        let is_its_own = approval.item == record.item.id && approval.run == record.item.run;
        if !is_its_own || !insert_approval(&mut transaction, approval).await? {
            return Ok(false);
        }
        insert_approval_event(&mut transaction, approval, at).await?;
        insert_outbound(&mut transaction, outbox, record.cause(), at).await?;
        record.add_up(&mut transaction).await?;
        record.item.wait = Some(Wait::Approval { approval: approval.id.clone() });
        let note = format!("a person has to allow {}", approval.tool);
        record.go(&mut transaction, WorkStatus::Waiting, Some(&note), at).await?;
        job.finish_with(transaction).await
    }

    pub async fn find_approval(&self, approval: &ApprovalId) -> Result<Option<Approval>> {
        let row: Option<ApprovalColumns> =
            sql!(self.db().read(), fetch_optional, "SELECT * FROM approvals WHERE id = $1", approval.as_str())?;
        Ok(row.map(Approval::from))
    }

    /// The request with this fingerprint in this run.
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

    /// All requests of an item, oldest first.
    pub async fn list_approvals(&self, item: &WorkItemId) -> Result<Vec<Approval>> {
        let rows: Vec<ApprovalColumns> =
            sql!(self.db().read(), fetch_all, "SELECT * FROM approvals WHERE item = $1 ORDER BY asked_at, id", item.as_str())?;
        Ok(rows.into_iter().map(Approval::from).collect())
    }

    /// Stores a person's decision and lets the run continue. None if the request was decided before or does not exist.
    pub async fn decide_approval(&self, approval: &ApprovalId, allowed: bool, by: &str, at: DateTime<Utc>) -> Result<Option<Approval>> {
        let mut transaction = self.db().begin().await?;
        let asking: Option<(String,)> =
            sql!(transaction.on(), fetch_optional, "SELECT item FROM approvals WHERE id = $1", approval.as_str())?;
        let Some((item,)) = asking else { return Ok(None) };
        families::hold(&mut transaction, &item.into()).await?;
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
        insert_approval_event(&mut transaction, &decided, at).await?;
        let waits = Wait::Approval { approval: approval.clone() };
        let record = ItemRecord::find(&mut transaction, &decided.item).await?;
        if let Some(record) = record.filter(|record| record.item.wait.as_ref() == Some(&waits)) {
            let note = format!("{} {} by {by}", decided.tool, state.as_str());
            record.place(&mut transaction, Some(&note), at).await?;
        }
        transaction.commit().await?;
        Ok(Some(decided))
    }
}

/// False if the run has asked for this call before.
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
