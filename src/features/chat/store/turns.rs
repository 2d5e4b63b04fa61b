//! Turns, each with the job that runs it. Turns run in the order in which they were stored.

use chrono::{DateTime, Utc};

use crate::features::chat::model::decision::Decision;
use crate::store::Store;
use kernel::agent::turn::{Trigger, Turn, TurnState};
use kernel::db::{Document, Readable, Result, Transaction, Word, document, sql};
use kernel::ids::{ChainId, ChannelId, MessageId, PersonaSlug, TurnId};
use kernel::jobs::{self, JobId, NewJob};
use kernel::money::TokenUsage;

/// The kind of the jobs that run turns. The payload is the [`Turn`] itself, so a run starts without a query.
pub(crate) const TURN: &str = "chat.turn";

/// A turn and its result.
#[derive(Debug, Clone, PartialEq)]
pub struct TurnRow {
    pub turn: Turn,
    /// The number of attempts.
    pub attempts: u32,
    /// The start of the last attempt. Known once the turn is over.
    pub started_at: Option<DateTime<Utc>>,
    pub finished_at: Option<DateTime<Utc>>,
    pub reply: Option<String>,
    pub model: Option<String>,
    /// Why it failed or was cancelled.
    pub error: Option<String>,
    /// The agents that answer its reply, or why none does.
    pub follow_up: Option<Decision>,
    pub usage: TokenUsage,
    /// Characters of the prompt.
    pub prompt_chars: u64,
}

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
    /// The state of the turn's job and the number of its claims. Only for queries that read them, while the turn is not over.
    #[sqlx(default)]
    job_state: Option<String>,
    #[sqlx(default)]
    claims: Option<i64>,
}

impl TurnColumns {
    pub(crate) fn read(self) -> Result<TurnRow> {
        let usage = TokenUsage { input: self.input_tokens, cached: self.cached_tokens, output: self.output_tokens };
        let state = if self.job_state.as_deref() == Some("running") { TurnState::Running } else { self.state.0 };
        Ok(TurnRow {
            turn: Turn {
                id: self.id.into(),
                message: self.message.into(),
                chain: self.chain.into(),
                channel: self.channel.into(),
                persona: self.persona.into(),
                trigger: self.trigger.0,
                state,
                queued_at: self.queued_at,
            },
            attempts: self.claims.and_then(|claims| claims.try_into().ok()).unwrap_or(self.attempts),
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
    /// The turns that are not over, in their order.
    pub async fn list_open_turns(&self) -> Result<Vec<Turn>> {
        let rows: Vec<Readable<TurnColumns>> =
            sql!(self.db().read(), fetch_all, "SELECT * FROM turns WHERE finished_at IS NULL ORDER BY position")?;
        Ok(self.db().read_each("turns", rows, |row: TurnColumns| row.read().map(|row| row.turn)))
    }

    /// Whether a channel has unanswered messages: a message is undecided, or a turn is queued or running.
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

    /// The number of turns that a person's message has started, including those of asked personas. Cancelled turns are not counted, because they said
    /// nothing.
    pub async fn count_chain_turns(&self, chain: &ChainId) -> Result<u32> {
        let (count,): (i64,) = sql!(
            self.db().read(),
            fetch_one,
            "SELECT (SELECT COUNT(*) FROM turns WHERE chain = $1 AND state <> 'cancelled') + (SELECT COUNT(*) FROM asks WHERE chain = $1)",
            chain.as_str()
        )?;
        Ok(u32::try_from(count).unwrap_or(u32::MAX))
    }

    /// A turn and its result.
    pub async fn find_turn(&self, turn: &TurnId) -> Result<Option<TurnRow>> {
        let row: Option<TurnColumns> = sql!(self.db().read(), fetch_optional, "SELECT * FROM turns WHERE id = $1", turn.as_str())?;
        row.map(TurnColumns::read).transpose()
    }

    /// The turns of a channel that have not run yet, without those that rest because their process died over them: others need not wait for these.
    pub async fn list_awaited_turns(&self, channel: &ChannelId, now: DateTime<Utc>) -> Result<Vec<TurnId>> {
        let rows: Vec<(String,)> = sql!(
            self.db().read(),
            fetch_all,
            "SELECT turns.id FROM turns JOIN jobs ON jobs.id = turns.job
             WHERE turns.channel = $1 AND turns.finished_at IS NULL AND jobs.finished_at IS NULL
                 AND NOT (jobs.state = 'ready' AND jobs.crashes > 0 AND jobs.run_at > $2)",
            channel.as_str(),
            now
        )?;
        Ok(rows.into_iter().map(|(id,)| TurnId::new(id)).collect())
    }

    /// Whether a persona has yet to answer a message, or is about to.
    pub async fn is_being_answered(&self, message: &MessageId) -> Result<bool> {
        let (is_open,): (bool,) = sql!(
            self.db().read(),
            fetch_one,
            "SELECT EXISTS (SELECT 1 FROM turns WHERE message = $1 AND finished_at IS NULL)",
            message.as_str()
        )?;
        Ok(is_open)
    }

    /// The personas that speak after `turn` in the same chain.
    pub async fn list_next_speakers(&self, turn: &Turn) -> Result<Vec<PersonaSlug>> {
        let rows: Vec<(String,)> = sql!(
            self.db().read(),
            fetch_all,
            "SELECT persona FROM turns WHERE chain = $1 AND finished_at IS NULL AND id <> $2",
            turn.chain.as_str(),
            turn.id.as_str()
        )?;
        Ok(rows.into_iter().map(|(persona,)| PersonaSlug::new(persona)).collect())
    }

    /// Creates a job for each open turn without one, such as one of an earlier version. Returns the number of jobs.
    pub async fn enqueue_lost_turns(&self, at: DateTime<Utc>) -> Result<usize> {
        let mut transaction = self.db().begin().await?;
        let rows: Vec<TurnColumns> = sql!(
            transaction.on(),
            fetch_all,
            "SELECT turns.* FROM turns LEFT JOIN jobs ON jobs.id = turns.job
             WHERE turns.finished_at IS NULL AND (jobs.id IS NULL OR jobs.finished_at IS NOT NULL) ORDER BY turns.position"
        )?;
        let lost = rows.len();
        for row in rows {
            let turn = Turn { state: TurnState::Queued, ..row.read()?.turn };
            let job = enqueue_turn(&mut transaction, &turn, at).await?;
            sql!(transaction.on(), execute, "UPDATE turns SET job = $2, state = 'queued' WHERE id = $1", turn.id.as_str(), job.0)?;
        }
        transaction.commit().await?;
        Ok(lost)
    }
}

/// The turns of one channel run one at a time.
async fn enqueue_turn(transaction: &mut Transaction, turn: &Turn, at: DateTime<Utc>) -> Result<JobId> {
    jobs::enqueue(transaction, &NewJob::new(TURN, turn).queue(format!("chat:{}", turn.channel)), at).await
}

pub(super) async fn insert_turns(transaction: &mut Transaction, turns: &[Turn]) -> Result<()> {
    for turn in turns {
        let job = enqueue_turn(transaction, turn, turn.queued_at).await?;
        sql!(
            transaction.on(),
            execute,
            "INSERT INTO turns (id, message, chain, channel, persona, trigger, state, attempts, queued_at, job)
             VALUES ($1, $2, $3, $4, $5, $6, $7, 0, $8, $9)",
            turn.id.as_str(),
            turn.message.as_str(),
            turn.chain.as_str(),
            turn.channel.as_str(),
            turn.persona.as_str(),
            document(&turn.trigger),
            turn.state.as_str(),
            turn.queued_at,
            job.0
        )?;
    }
    Ok(())
}
