//! Turns, from queued to over. The order in which they were stored is the order in which they run.

use chrono::{DateTime, Utc};

use crate::features::chat::model::decision::Decision;
use crate::store::Store;
use kernel::agent::turn::{Trigger, Turn, TurnState};
use kernel::chat::outbound::OutboundMessage;
use kernel::chat::outbox::store::insert_outbound;
use kernel::db::{Document, Result, Transaction, Word, count, document, plain, sql};
use kernel::ids::{ChainId, ChannelId, MessageId, TurnId};
use kernel::money::TokenUsage;

/// A turn and what became of it.
#[derive(Debug, Clone, PartialEq)]
pub struct TurnRow {
    pub turn: Turn,
    /// When it was last begun.
    pub started_at: Option<DateTime<Utc>>,
    pub finished_at: Option<DateTime<Utc>>,
    pub reply: Option<String>,
    pub model: Option<String>,
    /// Why it failed or was cancelled.
    pub error: Option<String>,
    /// Who answers its reply, or why nobody does.
    pub follow_up: Option<Decision>,
    pub usage: TokenUsage,
    /// Characters of the prompt.
    pub prompt_chars: u64,
}

/// How a turn ended, with all that follows from it.
#[derive(Debug, Clone, Copy)]
pub struct Finished<'a> {
    /// As [`Store::begin_turn`] gave it, or as it was found queued. Somebody who began it later makes this one void.
    pub turn: &'a Turn,
    /// A state in which it is over.
    pub state: TurnState,
    pub reply: Option<&'a str>,
    pub model: Option<&'a str>,
    /// Why it failed, for the operator.
    pub error: Option<&'a str>,
    pub usage: TokenUsage,
    /// Characters of the prompt.
    pub prompt_chars: u64,
    /// What is to be posted, in this order.
    pub outbox: &'a [OutboundMessage],
    /// What the reply leads to.
    pub next: Option<FollowUp<'a>>,
    pub at: DateTime<Utc>,
}

/// Agents that answer what an agent said, or the decision that none does.
#[derive(Debug, Clone, Copy)]
pub struct FollowUp<'a> {
    pub decision: &'a Decision,
    pub turns: &'a [Turn],
}

/// Which turns to cancel.
#[derive(Debug, Clone, Copy)]
pub enum CancelScope<'a> {
    Channel(&'a ChannelId),
    Chain(&'a ChainId),
    Message(&'a MessageId),
    /// What agents still have to say to each other in a channel.
    AgentTalk(&'a ChannelId),
    All,
}

/// How the document of a [`Trigger::Agent`] begins.
const AGENT_TRIGGERS: &str = r#"{"agent"%"#;

#[derive(sqlx::FromRow)]
pub(crate) struct TurnColumns {
    id: String,
    message: String,
    chain: String,
    channel: String,
    persona: String,
    #[sqlx(try_from = "String")]
    trigger: Document<Trigger>,
    #[sqlx(try_from = "String")]
    state: Word<TurnState>,
    #[sqlx(try_from = "i64")]
    attempts: u32,
    queued_at: DateTime<Utc>,
    started_at: Option<DateTime<Utc>>,
    finished_at: Option<DateTime<Utc>>,
    reply: Option<String>,
    model: Option<String>,
    error: Option<String>,
    follow_up: Option<String>,
    #[sqlx(try_from = "i64")]
    input_tokens: u64,
    #[sqlx(try_from = "i64")]
    cached_tokens: u64,
    #[sqlx(try_from = "i64")]
    output_tokens: u64,
    #[sqlx(try_from = "i64")]
    prompt_chars: u64,
}

impl TurnColumns {
    pub(crate) fn read(self) -> Result<TurnRow> {
        let usage = TokenUsage { input: self.input_tokens, cached: self.cached_tokens, output: self.output_tokens };
        Ok(TurnRow {
            turn: Turn {
                id: self.id.into(),
                message: self.message.into(),
                chain: self.chain.into(),
                channel: self.channel.into(),
                persona: self.persona.into(),
                trigger: self.trigger.0,
                state: self.state.0,
                attempts: self.attempts,
                queued_at: self.queued_at,
            },
            started_at: self.started_at,
            finished_at: self.finished_at,
            reply: self.reply,
            model: self.model,
            error: self.error,
            follow_up: self.follow_up.map(Document::read).transpose()?,
            usage,
            prompt_chars: self.prompt_chars,
        })
    }
}

impl Store {
    /// Begins a turn, or begins it again after a crash. None when it is over.
    pub async fn begin_turn(&self, turn: &TurnId, at: DateTime<Utc>) -> Result<Option<Turn>> {
        let row: Option<TurnColumns> = sql!(
            self.db().write()?,
            fetch_optional,
            "UPDATE turns SET state = 'running', attempts = attempts + 1, started_at = $2
             WHERE id = $1 AND state IN ('queued', 'running') RETURNING *",
            turn.as_str(),
            at
        )?;
        row.map(|row| row.read().map(|row| row.turn)).transpose()
    }

    /// Ends a turn: its reply, its posts and what it leads to are stored together. False, and nothing is
    /// stored, when it was over already, was begun anew by somebody else, or may not end like that.
    pub async fn finish_turn(&self, finished: &Finished<'_>) -> Result<bool> {
        let turn = finished.turn;
        if !finished.state.is_over() || turn.state.advance(finished.state).is_err() {
            return Ok(false);
        }
        let mut transaction = self.db().begin().await?;
        let changed = sql!(
            transaction.on(),
            execute,
            "UPDATE turns SET state = $4, finished_at = $5, reply = $6, model = $7, error = $8, follow_up = $9,
                 input_tokens = $10, cached_tokens = $11, output_tokens = $12, prompt_chars = $13
             WHERE id = $1 AND state = $2 AND attempts = $3",
            turn.id.as_str(),
            turn.state.as_str(),
            i64::from(turn.attempts),
            finished.state.as_str(),
            finished.at,
            finished.reply.map(plain),
            finished.model,
            finished.error.map(plain),
            finished.next.map(|next| document(next.decision)),
            count(finished.usage.input),
            count(finished.usage.cached),
            count(finished.usage.output),
            count(finished.prompt_chars)
        )?;
        if changed == 0 {
            return Ok(false);
        }
        insert_outbound(&mut transaction, finished.outbox, Some(&turn.message), finished.at).await?;
        if let Some(next) = &finished.next {
            insert_turns(&mut transaction, next.turns).await?;
        }
        transaction.commit().await?;
        Ok(true)
    }

    /// Puts a turn that was begun back as if it had not been.
    pub async fn release_turn(&self, turn: &Turn) -> Result<()> {
        sql!(
            self.db().write()?,
            execute,
            "UPDATE turns SET state = 'queued', attempts = attempts - 1, started_at = NULL
             WHERE id = $1 AND state = 'running' AND attempts = $2",
            turn.id.as_str(),
            i64::from(turn.attempts)
        )?;
        Ok(())
    }

    /// Cancels what is queued or running and says which turns these were, in their order.
    pub async fn cancel_turns(&self, scope: CancelScope<'_>, why: &str, at: DateTime<Utc>) -> Result<Vec<TurnId>> {
        let (what, id) = match scope {
            CancelScope::Channel(id) => ("channel", id.as_str()),
            CancelScope::Chain(id) => ("chain", id.as_str()),
            CancelScope::Message(id) => ("message", id.as_str()),
            CancelScope::AgentTalk(id) => ("agent talk", id.as_str()),
            CancelScope::All => ("all", ""),
        };
        let mut cancelled: Vec<(i64, String)> = sql!(
            self.db().write()?,
            fetch_all,
            "UPDATE turns SET state = 'cancelled', error = $3, finished_at = $4
             WHERE finished_at IS NULL
               AND CASE $1 WHEN 'channel' THEN channel = $2 WHEN 'chain' THEN chain = $2 WHEN 'message' THEN message = $2
                   WHEN 'agent talk' THEN channel = $2 AND trigger LIKE $5 ELSE TRUE END
             RETURNING position, id",
            what,
            id,
            plain(why),
            at,
            AGENT_TRIGGERS
        )?;
        // RETURNING promises no order.
        cancelled.sort_unstable();
        Ok(cancelled.into_iter().map(|(_, id)| TurnId::new(id)).collect())
    }

    /// What was queued or running when the process ended, in its order.
    pub async fn list_open_turns(&self) -> Result<Vec<Turn>> {
        let rows: Vec<TurnColumns> = sql!(self.db().read(), fetch_all, "SELECT * FROM turns WHERE finished_at IS NULL ORDER BY position")?;
        rows.into_iter().map(|row| row.read().map(|row| row.turn)).collect()
    }

    /// Whether somebody in a channel waits for the team: a message is not decided on, or a turn is queued or running.
    pub async fn has_open_talk(&self, channel: &ChannelId) -> Result<bool> {
        let (open,): (bool,) = sql!(
            self.db().read(),
            fetch_one,
            "SELECT EXISTS (SELECT 1 FROM inbox WHERE channel = $1 AND decided_at IS NULL AND deleted_at IS NULL AND complete)
                 OR EXISTS (SELECT 1 FROM turns WHERE channel = $1 AND finished_at IS NULL)",
            channel.as_str()
        )?;
        Ok(open)
    }

    /// How many turns a person's message has set off so far, those of asked personas among them. What was cancelled said nothing and is not
    /// counted.
    pub async fn count_chain_turns(&self, chain: &ChainId) -> Result<u32> {
        let (count,): (i64,) = sql!(
            self.db().read(),
            fetch_one,
            "SELECT (SELECT COUNT(*) FROM turns WHERE chain = $1 AND state <> 'cancelled') + (SELECT COUNT(*) FROM asks WHERE chain = $1)",
            chain.as_str()
        )?;
        Ok(u32::try_from(count).unwrap_or(u32::MAX))
    }

    /// A turn and what became of it.
    pub async fn find_turn(&self, turn: &TurnId) -> Result<Option<TurnRow>> {
        let row: Option<TurnColumns> = sql!(self.db().read(), fetch_optional, "SELECT * FROM turns WHERE id = $1", turn.as_str())?;
        row.map(TurnColumns::read).transpose()
    }

    /// The turns that a message led to, in their order.
    pub async fn list_turns(&self, message: &MessageId) -> Result<Vec<TurnRow>> {
        let rows: Vec<TurnColumns> =
            sql!(self.db().read(), fetch_all, "SELECT * FROM turns WHERE message = $1 ORDER BY position", message.as_str())?;
        rows.into_iter().map(TurnColumns::read).collect()
    }
}

pub(super) async fn insert_turns(transaction: &mut Transaction, turns: &[Turn]) -> Result<()> {
    for turn in turns {
        sql!(
            transaction.on(),
            execute,
            "INSERT INTO turns (id, message, chain, channel, persona, trigger, state, attempts, queued_at)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)",
            turn.id.as_str(),
            turn.message.as_str(),
            turn.chain.as_str(),
            turn.channel.as_str(),
            turn.persona.as_str(),
            document(&turn.trigger),
            turn.state.as_str(),
            i64::from(turn.attempts),
            turn.queued_at
        )?;
    }
    Ok(())
}
