//! Asks. The row exists from before the question is sent until its answer is posted. An ask that has expired has a job, which delivers the answer.

use chrono::{DateTime, Utc};

use crate::features::chat::store::events::{record_ask_end, record_asked};
use crate::store::Store;
use kernel::agent::ask::{Ask, AskState};
use kernel::chat::outbound::OutboundMessage;
use kernel::chat::outbox::store::insert_outbound;
use kernel::db::{Document, Result, Transaction, Word, document, plain, sql};
use kernel::ids::{AskId, PersonaSlug};
use kernel::jobs::{self, NewJob};

/// The job of an ask that has expired: delivers the late answer. Its payload is the id.
pub(crate) const LATE: &str = "ask.late";

/// The next state of an ask.
#[derive(Debug, Clone, Copy)]
pub struct AskUpdate<'a> {
    pub ask: &'a AskId,
    pub state: AskState,
    pub answer: Option<&'a str>,
}

#[derive(sqlx::FromRow)]
pub(crate) struct AskColumns {
    id: String,
    message: String,
    chain: String,
    channel: String,
    asker: String,
    askee: String,
    question: String,
    #[sqlx(try_from = "String")]
    path: Document<Vec<PersonaSlug>>,
    #[sqlx(try_from = "String")]
    state: Word<AskState>,
    answer: Option<String>,
    asked_at: DateTime<Utc>,
    deadline: DateTime<Utc>,
}

impl From<AskColumns> for Ask {
    fn from(row: AskColumns) -> Self {
        Self {
            id: row.id.into(),
            message: row.message.into(),
            chain: row.chain.into(),
            channel: row.channel.into(),
            asker: row.asker.into(),
            askee: row.askee.into(),
            question: row.question,
            path: row.path.0,
            state: row.state.0,
            answer: row.answer,
            asked_at: row.asked_at,
            deadline: row.deadline,
        }
    }
}

impl Store {
    /// Stores an ask before the question is sent.
    pub async fn record_ask(&self, ask: &Ask) -> Result<()> {
        let mut transaction = self.db().begin().await?;
        insert_asks(&mut transaction, std::slice::from_ref(ask)).await?;
        transaction.commit().await
    }

    /// Stops waiting for an answer that did not come in time, and enqueues the job that delivers it late. False, without any write, if nobody waits
    /// for the answer any more.
    pub async fn expire_ask(&self, ask: &AskId, at: DateTime<Utc>) -> Result<bool> {
        let mut transaction = self.db().begin().await?;
        if settle(&mut transaction, &AskUpdate { ask, state: AskState::Expired, answer: None }, at).await?.is_none() {
            return Ok(false);
        }
        enqueue_late(&mut transaction, ask, at).await?;
        transaction.commit().await?;
        Ok(true)
    }

    /// Enqueues the job of an expired ask that an earlier version stored without one.
    pub async fn enqueue_late_ask(&self, ask: &AskId, now: DateTime<Utc>) -> Result<()> {
        let mut transaction = self.db().begin().await?;
        enqueue_late(&mut transaction, ask, now).await?;
        transaction.commit().await
    }

    /// An ask with its state.
    pub async fn find_ask(&self, ask: &AskId) -> Result<Option<Ask>> {
        let row: Option<AskColumns> = sql!(self.db().read(), fetch_optional, "SELECT * FROM asks WHERE id = $1", ask.as_str())?;
        Ok(row.map(Ask::from))
    }

    /// Moves an ask to its next state and stores the posts about it. False, without any write, if the transition is not allowed from its current
    /// state.
    pub async fn settle_ask(&self, update: &AskUpdate<'_>, outbox: &[OutboundMessage], at: DateTime<Utc>) -> Result<bool> {
        let mut transaction = self.db().begin().await?;
        let Some(ask) = settle(&mut transaction, update, at).await? else { return Ok(false) };
        insert_outbound(&mut transaction, outbox, Some(&ask.message), at).await?;
        transaction.commit().await?;
        Ok(true)
    }

    /// The asks that may still be answered, the oldest first.
    pub async fn list_open_asks(&self) -> Result<Vec<Ask>> {
        let rows: Vec<AskColumns> =
            sql!(self.db().read(), fetch_all, "SELECT * FROM asks WHERE state IN ('asked', 'expired') ORDER BY asked_at, id")?;
        Ok(rows.into_iter().map(Ask::from).collect())
    }
}

async fn enqueue_late(transaction: &mut Transaction, ask: &AskId, now: DateTime<Utc>) -> Result<()> {
    jobs::enqueue(transaction, &NewJob::new(LATE, ask).unique(format!("{LATE}:{ask}")), now).await?;
    Ok(())
}

/// Moves an ask to its next state and returns it.
pub(crate) async fn settle(transaction: &mut Transaction, update: &AskUpdate<'_>, at: DateTime<Utc>) -> Result<Option<Ask>> {
    let row: Option<AskColumns> = sql!(
        transaction.on(),
        fetch_optional,
        "UPDATE asks SET state = $2, answer = COALESCE($3, answer), settled_at = $4
         WHERE id = $1 AND (state = 'asked' AND $2 IN ('answered', 'expired', 'failed')
                         OR state = 'expired' AND $2 IN ('late', 'failed'))
         RETURNING *",
        update.ask.as_str(),
        update.state.as_str(),
        update.answer.map(plain),
        at
    )?;
    let Some(ask) = row.map(Ask::from) else { return Ok(None) };
    record_ask_end(transaction, &ask, update.state, at).await?;
    Ok(Some(ask))
}

pub(super) async fn insert_asks(transaction: &mut Transaction, asks: &[Ask]) -> Result<()> {
    for ask in asks {
        sql!(
            transaction.on(),
            execute,
            "INSERT INTO asks (id, message, chain, channel, asker, askee, question, path, state, answer, asked_at, deadline)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)",
            ask.id.as_str(),
            ask.message.as_str(),
            ask.chain.as_str(),
            ask.channel.as_str(),
            ask.asker.as_str(),
            ask.askee.as_str(),
            plain(&ask.question),
            document(&ask.path),
            ask.state.as_str(),
            ask.answer.as_deref().map(plain),
            ask.asked_at,
            ask.deadline
        )?;
        record_asked(transaction, ask).await?;
    }
    Ok(())
}
