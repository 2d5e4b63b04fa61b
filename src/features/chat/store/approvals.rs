//! Calls that a person is asked to allow below an answer.

use chrono::{DateTime, Utc};
use serde_json::Value;

use crate::features::chat::model::approval::ChatApproval;
use crate::store::Store;
use kernel::db::{Document, Result, Transaction, Word, document, plain, sql};
use kernel::ids::{ApprovalId, MessageId};
use kernel::jobs::{self, NewJob};
use kernel::tools::approval::ApprovalState;

/// The kind of the jobs that make allowed calls. The payload is the approval's id.
pub(crate) const APPROVED: &str = "chat.approved";

#[derive(sqlx::FromRow)]
struct ApprovalColumns {
    id: String,
    message: String,
    asker: String,
    channel: String,
    persona: String,
    tool: String,
    #[sqlx(try_from = "String")]
    arguments: Document<Value>,
    #[sqlx(try_from = "String")]
    state: Word<ApprovalState>,
    decided_by: Option<String>,
}

impl From<ApprovalColumns> for ChatApproval {
    fn from(row: ApprovalColumns) -> Self {
        Self {
            id: row.id.into(),
            message: row.message.into(),
            asker: row.asker.into(),
            channel: row.channel.into(),
            persona: row.persona.into(),
            tool: row.tool,
            arguments: row.arguments.0,
            state: row.state.0,
            by: row.decided_by,
        }
    }
}

impl Store {
    pub async fn find_chat_approval(&self, approval: &ApprovalId) -> Result<Option<ChatApproval>> {
        let row: Option<ApprovalColumns> =
            sql!(self.db().read(), fetch_optional, "SELECT * FROM chat_approvals WHERE id = $1", approval.as_str())?;
        Ok(row.map(ChatApproval::from))
    }

    /// Stores a person's decision, with the job of an allowed call. False, without any write, if it was decided before or is gone.
    pub async fn decide_chat_approval(&self, approval: &ApprovalId, allowed: bool, by: &str, at: DateTime<Utc>) -> Result<bool> {
        let mut transaction = self.db().begin().await?;
        let state = if allowed { ApprovalState::Allowed } else { ApprovalState::Refused };
        let changed = sql!(
            transaction.on(),
            execute,
            "UPDATE chat_approvals SET state = $2, decided_by = $3, decided_at = $4 WHERE id = $1 AND state = 'asked'",
            approval.as_str(),
            state.as_str(),
            plain(by),
            at
        )?;
        if changed == 0 {
            return Ok(false);
        }
        if allowed {
            jobs::enqueue(&mut transaction, &NewJob::new(APPROVED, approval), at).await?;
        }
        transaction.commit().await?;
        Ok(true)
    }

    /// Deletes up to `limit` requests from before `at`, and returns how many.
    pub async fn delete_chat_approvals_before(&self, at: DateTime<Utc>, limit: u32) -> Result<u64> {
        sql!(
            self.db().write()?,
            execute,
            "DELETE FROM chat_approvals WHERE id IN (SELECT id FROM chat_approvals WHERE asked_at < $1 ORDER BY asked_at LIMIT $2)",
            at,
            i64::from(limit)
        )
    }
}

pub(super) async fn insert_approvals(transaction: &mut Transaction, approvals: &[ChatApproval], at: DateTime<Utc>) -> Result<()> {
    for approval in approvals {
        sql!(
            transaction.on(),
            execute,
            "INSERT INTO chat_approvals (id, message, asker, channel, persona, tool, arguments, state, asked_at)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)",
            approval.id.as_str(),
            approval.message.as_str(),
            approval.asker.as_str(),
            approval.channel.as_str(),
            approval.persona.as_str(),
            plain(&approval.tool),
            document(&approval.arguments),
            approval.state.as_str(),
            at
        )?;
    }
    Ok(())
}

/// Deletes the requests that a deleted message led to.
pub(super) async fn forget_approvals(transaction: &mut Transaction, message: &MessageId) -> Result<()> {
    sql!(transaction.on(), execute, "DELETE FROM chat_approvals WHERE message = $1", message.as_str())?;
    Ok(())
}
