//! The trace: everything stored about a message, for `teamroom trace`.

use chrono::{DateTime, Utc};

use crate::features::chat::model::decision::Block;
use crate::features::chat::store::{AskColumns, InboxColumns, InboxRow, TurnColumns, TurnRow};
use crate::store::Store;
use kernel::agent::ask::Ask;
use kernel::chat::message::Speaker;
use kernel::chat::outbound::{DeliveryState, OutboundMessage, Posted};
use kernel::db::{Document, Result, Word, sql};
use kernel::events::{Audience, Recorded};
use kernel::ids::{LedgerId, MessageId, PersonaSlug};
use kernel::money::{CallOutcome, Money, TokenUsage};

/// Everything stored about a message, each part in chronological order. The log has the times, and the other rows have the details.
#[derive(Debug, Clone, PartialEq)]
pub struct Trace {
    /// The message that the turns answer. For one of the team's posts, the message that the post answers.
    pub message: MessageId,
    /// Empty for a message from before there was a log.
    pub events: Vec<Recorded>,
    /// The message and the others of its burst. Empty if the message was never in the inbox.
    pub inbox: Vec<InboxRow>,
    pub turns: Vec<TurnRow>,
    pub asks: Vec<Ask>,
    pub calls: Vec<CallRow>,
    pub outbox: Vec<DeliveryRow>,
    pub blocks: Vec<BlockRow>,
}

/// A model call in the ledger.
#[derive(Debug, Clone, PartialEq)]
pub struct CallRow {
    pub id: LedgerId,
    pub at: DateTime<Utc>,
    pub persona: Option<PersonaSlug>,
    /// The turn or ask that made the call.
    pub subject: String,
    pub provider: String,
    pub model: String,
    pub usage: TokenUsage,
    pub cost: Money,
    /// Milliseconds.
    pub latency_ms: Option<u64>,
    pub outcome: CallOutcome,
}

/// A message of the outbox and its delivery state.
#[derive(Debug, Clone, PartialEq)]
pub struct DeliveryRow {
    pub message: OutboundMessage,
    pub state: DeliveryState,
    pub attempts: u32,
    pub created_at: DateTime<Utc>,
    pub posted: Option<Posted>,
    /// Why it waits or failed.
    pub failure: Option<String>,
}

/// An answer that the guard blocked.
#[derive(Debug, Clone, PartialEq)]
pub struct BlockRow {
    pub from: Speaker,
    pub to: PersonaSlug,
    pub block: Block,
    pub at: DateTime<Utc>,
}

#[derive(sqlx::FromRow)]
struct CallColumns {
    id: String,
    at: DateTime<Utc>,
    persona: Option<String>,
    subject: String,
    provider: String,
    model: String,
    #[sqlx(try_from = "i64")]
    input_tokens: u64,
    #[sqlx(try_from = "i64")]
    cached_tokens: u64,
    #[sqlx(try_from = "i64")]
    output_tokens: u64,
    cost: i64,
    latency_ms: Option<i64>,
    #[sqlx(try_from = "String")]
    outcome: Word<CallOutcome>,
}

#[derive(sqlx::FromRow)]
struct DeliveryColumns {
    channel: String,
    #[sqlx(try_from = "String")]
    message: Document<OutboundMessage>,
    #[sqlx(try_from = "String")]
    state: Word<DeliveryState>,
    #[sqlx(try_from = "i64")]
    attempts: u32,
    created_at: DateTime<Utc>,
    platform_id: Option<String>,
    sent_at: Option<DateTime<Utc>>,
    failure: Option<String>,
}

#[derive(sqlx::FromRow)]
struct BlockColumns {
    #[sqlx(try_from = "String")]
    sender: Document<Speaker>,
    receiver: String,
    #[sqlx(try_from = "String")]
    block: Word<Block>,
    at: DateTime<Utc>,
}

impl Store {
    /// Everything stored about a message, by its id or by the id of a post of the team about it. None if neither is known.
    pub async fn trace(&self, message: &MessageId) -> Result<Option<Trace>> {
        let message = self.find_subject(message).await?;
        let trace = Trace {
            events: self.list_events_of(message.as_str(), &Audience::Operators).await?,
            inbox: self.trace_inbox(&message).await?,
            turns: self.trace_turns(&message).await?,
            asks: self.trace_asks(&message).await?,
            calls: self.trace_calls(message.as_str()).await?,
            outbox: self.trace_outbox(&message).await?,
            blocks: self.trace_blocks(&message).await?,
            message,
        };
        let known = !(trace.inbox.is_empty() && trace.turns.is_empty() && trace.asks.is_empty() && trace.outbox.is_empty());
        Ok(known.then_some(trace))
    }

    /// The message that `message` belongs to: the first of its burst, or the message that a post of the team answers.
    async fn find_subject(&self, message: &MessageId) -> Result<MessageId> {
        let row: Option<(Option<String>,)> = sql!(
            self.db().read(),
            fetch_optional,
            "SELECT burst FROM inbox WHERE id = $1 UNION ALL SELECT cause FROM outbox WHERE platform_id = $1 LIMIT 1",
            message.as_str()
        )?;
        Ok(row.and_then(|(subject,)| subject).map_or_else(|| message.clone(), MessageId::new))
    }

    async fn trace_inbox(&self, message: &MessageId) -> Result<Vec<InboxRow>> {
        let rows: Vec<InboxColumns> =
            sql!(self.db().read(), fetch_all, "SELECT * FROM inbox WHERE id = $1 OR burst = $1 ORDER BY sent_at, id", message.as_str())?;
        rows.into_iter().map(InboxColumns::read).collect()
    }

    async fn trace_turns(&self, message: &MessageId) -> Result<Vec<TurnRow>> {
        let rows: Vec<TurnColumns> = sql!(
            self.db().read(),
            fetch_all,
            "SELECT turns.*, jobs.state AS job_state, jobs.token AS claims
             FROM turns LEFT JOIN jobs ON jobs.id = turns.job AND turns.finished_at IS NULL
             WHERE message = $1 OR chain = $1 ORDER BY position",
            message.as_str()
        )?;
        rows.into_iter().map(TurnColumns::read).collect()
    }

    async fn trace_asks(&self, message: &MessageId) -> Result<Vec<Ask>> {
        let rows: Vec<AskColumns> =
            sql!(self.db().read(), fetch_all, "SELECT * FROM asks WHERE message = $1 ORDER BY asked_at, id", message.as_str())?;
        Ok(rows.into_iter().map(Ask::from).collect())
    }

    /// The model calls for a message, or for an item or a meeting with this id.
    pub async fn trace_calls(&self, subject: &str) -> Result<Vec<CallRow>> {
        let rows: Vec<CallColumns> = sql!(
            self.db().read(),
            fetch_all,
            "SELECT * FROM ledger WHERE subject IN
                 (SELECT id FROM turns WHERE message = $1 OR chain = $1 UNION ALL SELECT id FROM asks WHERE message = $1 UNION ALL SELECT $1)
             ORDER BY at, id",
            subject
        )?;
        Ok(rows.into_iter().map(CallColumns::read).collect())
    }

    async fn trace_outbox(&self, message: &MessageId) -> Result<Vec<DeliveryRow>> {
        let rows: Vec<DeliveryColumns> = sql!(
            self.db().read(),
            fetch_all,
            "SELECT * FROM outbox WHERE cause = $1 OR platform_id = $1 ORDER BY position",
            message.as_str()
        )?;
        Ok(rows.into_iter().map(DeliveryColumns::read).collect())
    }

    async fn trace_blocks(&self, message: &MessageId) -> Result<Vec<BlockRow>> {
        let rows: Vec<BlockColumns> =
            sql!(self.db().read(), fetch_all, "SELECT * FROM blocks WHERE chain = $1 ORDER BY position", message.as_str())?;
        Ok(rows.into_iter().map(|row| BlockRow { from: row.sender.0, to: row.receiver.into(), block: row.block.0, at: row.at }).collect())
    }
}

impl CallColumns {
    fn read(self) -> CallRow {
        CallRow {
            id: self.id.into(),
            at: self.at,
            persona: self.persona.map(PersonaSlug::new),
            subject: self.subject,
            provider: self.provider,
            model: self.model,
            usage: TokenUsage { input: self.input_tokens, cached: self.cached_tokens, output: self.output_tokens },
            cost: Money(self.cost),
            latency_ms: self.latency_ms.map(i64::cast_unsigned),
            outcome: self.outcome.0,
        }
    }
}

impl DeliveryColumns {
    fn read(self) -> DeliveryRow {
        DeliveryRow {
            message: self.message.0,
            state: self.state.0,
            attempts: self.attempts,
            created_at: self.created_at,
            posted: self.platform_id.zip(self.sent_at).map(|(message, at)| Posted {
                channel: self.channel.into(),
                message: message.into(),
                at,
            }),
            failure: self.failure,
        }
    }
}
