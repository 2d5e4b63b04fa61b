//! How turns end. The job of a turn ends in the same transaction.

use chrono::{DateTime, Utc};

use crate::features::chat::model::approval::ChatApproval;
use crate::features::chat::model::decision::Decision;
use crate::features::chat::store::approvals::insert_approvals;
use crate::features::chat::store::asks::{AskUpdate, settle};
use crate::features::chat::store::events::{TURNS, TurnEnd, record_turn_end};
use crate::features::chat::store::turns::insert_turns;
use crate::features::chat::store::{TurnColumns, TurnRow};
use crate::store::Store;
use kernel::agent::ask::AskState;
use kernel::agent::turn::{Trigger, Turn, TurnState};
use kernel::chat::outbound::OutboundMessage;
use kernel::chat::outbox::store::insert_outbound;
use kernel::db::{Result, Transaction, count, document, plain, record_notice, sql};
use kernel::ids::{ChainId, ChannelId, MessageId, PersonaSlug, TurnId};
use kernel::jobs::{self, Job, JobId};
use kernel::money::TokenUsage;

/// How a turn ended, with everything that follows from it.
#[derive(Debug, Clone, Copy)]
pub struct Finished<'a> {
    pub turn: &'a Turn,
    /// A final state.
    pub state: TurnState,
    /// The number of attempts.
    pub attempts: u32,
    /// The start of the last attempt.
    pub started_at: DateTime<Utc>,
    pub reply: Option<&'a str>,
    pub model: Option<&'a str>,
    /// Why it failed, for the operator.
    pub error: Option<&'a str>,
    pub usage: TokenUsage,
    /// Characters of the prompt.
    pub prompt_chars: u64,
    /// The posts, in this order.
    pub outbox: &'a [OutboundMessage],
    /// The key of a notice that the posts give.
    pub noticed: Option<&'a str>,
    /// Calls that the person is asked to allow.
    pub approvals: &'a [ChatApproval],
    /// The follow-up of the reply.
    pub next: Option<FollowUp<'a>>,
    pub at: DateTime<Utc>,
}

/// Agents that answer an agent's reply, or the decision that none does.
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
    /// The pending turns that answer a message itself, and no agent.
    Answers(&'a MessageId),
    /// The pending turns in which agents answer agents in a channel.
    AgentTalk(&'a ChannelId),
    All,
}

/// The start of the JSON document of a [`Trigger::Agent`].
const AGENT_TRIGGERS: &str = r#"{"agent"%"#;

#[derive(sqlx::FromRow)]
struct CancelledColumns {
    position: i64,
    job: Option<i64>,
    #[sqlx(flatten)]
    row: TurnColumns,
}

impl Store {
    /// Cancels turns that are not over, and their jobs. Returns the cancelled turns in their order.
    pub async fn cancel_turns(&self, scope: CancelScope<'_>, why: &str, at: DateTime<Utc>) -> Result<Vec<TurnId>> {
        let mut transaction = self.db().begin().await?;
        let cancelled = cancel_in(&mut transaction, scope, why, at).await?;
        for turn in &cancelled {
            if let Some(job) = turn.job {
                // The prompt may contain text that was deleted.
                jobs::forget_steps(&mut transaction, job).await?;
            }
        }
        transaction.commit().await?;
        Ok(cancelled.into_iter().map(|cancelled| cancelled.turn.id).collect())
    }
}

/// A turn that was cancelled, with its job. The job still has its steps.
pub(super) struct Cancelled {
    pub(super) turn: Turn,
    pub(super) job: Option<JobId>,
}

/// As [`Store::cancel_turns`], in a transaction. Keeps the steps of the jobs.
pub(super) async fn cancel_in(
    transaction: &mut Transaction,
    scope: CancelScope<'_>,
    why: &str,
    at: DateTime<Utc>,
) -> Result<Vec<Cancelled>> {
    let (what, id) = match scope {
        CancelScope::Channel(id) => ("channel", id.as_str()),
        CancelScope::Chain(id) => ("chain", id.as_str()),
        CancelScope::Message(id) => ("message", id.as_str()),
        CancelScope::Answers(id) => ("answers", id.as_str()),
        CancelScope::AgentTalk(id) => ("agent talk", id.as_str()),
        CancelScope::All => ("all", ""),
    };
    let mut cancelled: Vec<CancelledColumns> = sql!(
        transaction.on(),
        fetch_all,
        "UPDATE turns SET state = 'cancelled', error = $3, finished_at = $4,
             attempts = COALESCE((SELECT token FROM jobs WHERE jobs.id = turns.job), attempts)
         WHERE finished_at IS NULL
           AND CASE $1 WHEN 'channel' THEN channel = $2 WHEN 'chain' THEN chain = $2 WHEN 'message' THEN message = $2
               WHEN 'answers' THEN message = $2 AND trigger NOT LIKE $5
               WHEN 'agent talk' THEN channel = $2 AND trigger LIKE $5 ELSE TRUE END
         RETURNING *",
        what,
        id,
        plain(why),
        at,
        AGENT_TRIGGERS
    )?;
    if !cancelled.is_empty() {
        transaction.announce(TURNS);
    }
    // RETURNING promises no order.
    cancelled.sort_unstable_by_key(|turn| turn.position);
    let mut found = Vec::new();
    for CancelledColumns { job, row, .. } in cancelled {
        let TurnRow { turn, attempts, .. } = row.read()?;
        let end = TurnEnd {
            turn: &turn.id,
            message: &turn.message,
            channel: &turn.channel,
            persona: &turn.persona,
            state: TurnState::Cancelled,
            started_at: None,
            attempts,
            error: Some(why),
            next: &[],
        };
        record_turn_end(transaction, &end, at).await?;
        let job = job.map(JobId);
        if let Some(job) = job {
            jobs::cancel(transaction, job, why, at).await?;
        }
        found.push(Cancelled { turn, job });
    }
    Ok(found)
}

/// Ends a turn: writes its reply, its posts and its follow-up. False, without any write, if the turn was already over.
pub async fn finish_turn(transaction: &mut Transaction, finished: &Finished<'_>) -> Result<bool> {
    let turn = finished.turn;
    let changed = sql!(
        transaction.on(),
        execute,
        "UPDATE turns SET state = $2, attempts = $3, started_at = $4, finished_at = $5, reply = $6, model = $7, error = $8, follow_up = $9,
             input_tokens = $10, cached_tokens = $11, output_tokens = $12, prompt_chars = $13
         WHERE id = $1 AND finished_at IS NULL",
        turn.id.as_str(),
        finished.state.as_str(),
        i64::from(finished.attempts),
        finished.started_at,
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
    let end = TurnEnd {
        turn: &turn.id,
        message: &turn.message,
        channel: &turn.channel,
        persona: &turn.persona,
        state: finished.state,
        started_at: Some(finished.started_at),
        attempts: finished.attempts,
        error: finished.error,
        next: &finished.next.map_or_else(Vec::new, |next| next.turns.iter().map(|turn| turn.persona.clone()).collect::<Vec<PersonaSlug>>()),
    };
    record_turn_end(transaction, &end, finished.at).await?;
    insert_outbound(transaction, finished.outbox, Some(&turn.message), finished.at).await?;
    insert_approvals(transaction, finished.approvals, finished.at).await?;
    if let Some(key) = finished.noticed {
        record_notice(transaction, key, finished.at).await?;
    }
    if let Some(next) = &finished.next {
        insert_turns(transaction, next.turns).await?;
    }
    Ok(true)
}

/// Fails the turn of a job that is no longer retried. Also fails its ask, so that later starts do not send it again. None if the turn was over.
pub async fn fail_turn(transaction: &mut Transaction, job: &Job, why: &str, at: DateTime<Utc>) -> Result<Option<Turn>> {
    let row: Option<TurnColumns> = sql!(
        transaction.on(),
        fetch_optional,
        "UPDATE turns SET state = 'failed', attempts = $2, error = $3, finished_at = $4 WHERE job = $1 AND finished_at IS NULL RETURNING *",
        job.id.0,
        job.token,
        plain(why),
        at
    )?;
    let Some(row) = row.map(TurnColumns::read).transpose()? else { return Ok(None) };
    let turn = row.turn;
    let end = TurnEnd {
        turn: &turn.id,
        message: &turn.message,
        channel: &turn.channel,
        persona: &turn.persona,
        state: TurnState::Failed,
        started_at: row.started_at,
        attempts: row.attempts,
        error: Some(why),
        next: &[],
    };
    record_turn_end(transaction, &end, at).await?;
    transaction.announce(TURNS);
    if let Trigger::Ask { ask } = &turn.trigger {
        settle(transaction, &AskUpdate { ask, state: AskState::Failed, answer: None }, at).await?;
    }
    Ok(Some(turn))
}
