//! How a run ends.

use chrono::{DateTime, Utc};

use crate::features::backlog::model::{Evidence, Lease, Wait, WorkStatus};
use crate::features::backlog::store::standing::{Ended, Standing};
use crate::store::Store;
use kernel::chat::outbound::OutboundMessage;
use kernel::chat::outbox::store::insert_outbound;
use kernel::db::{Result, Transaction};
use kernel::memory::Memory;
use kernel::memory::store::insert_memories;

/// The end of a run, with all that follows from it.
#[derive(Debug, Clone)]
pub struct RunEnd<'a> {
    pub lease: &'a Lease,
    pub end: End,
    /// What is to be posted, in this order.
    pub outbox: &'a [OutboundMessage],
    pub at: DateTime<Utc>,
}

/// What becomes of the item.
#[derive(Debug, Clone, PartialEq)]
pub enum End {
    /// It is proven to be done. The evidence is added to what it has.
    Done { outcome: String, evidence: Vec<Evidence>, memory: Option<Memory> },
    /// Somebody has to judge what code cannot.
    Review { evidence: Vec<Evidence>, note: String },
    /// The same run goes on then.
    Later { at: DateTime<Utc>, why: String },
    /// The same run goes on once a person, or the planner, has ended the wait.
    Waits { wait: Wait, evidence: Vec<Evidence> },
    /// It was tried in vain: another run begins from nothing, with one more attempt.
    Again { why: String, at: DateTime<Utc> },
    /// It is given back unused, and the same run goes on whenever somebody claims it: the process stops, the team is halted.
    Released,
    /// It was tried in vain for the last time.
    Failed { why: String, memory: Option<Memory> },
}

impl End {
    /// The end in one word, for metrics and logs.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Done { .. } => "done",
            Self::Review { .. } => "review",
            Self::Later { .. } => "later",
            Self::Waits { .. } => "waits",
            Self::Again { .. } => "again",
            Self::Released => "released",
            Self::Failed { .. } => "failed",
        }
    }
}

impl Store {
    /// Ends a run. An end of the item takes others with it: those that need it may be worked on or fail, its parent ends with its last part. None,
    /// and nothing is stored, when the lease is no longer good.
    pub async fn end_run(&self, run: &RunEnd<'_>) -> Result<Option<Ended>> {
        let mut transaction = self.db().begin().await?;
        let Some(mut standing) = Standing::hold(&mut transaction, run.lease).await? else { return Ok(None) };
        standing.crashes = 0;
        insert_outbound(&mut transaction, run.outbox, standing.cause(), run.at).await?;
        if let End::Done { memory, .. } | End::Failed { memory, .. } = &run.end {
            insert_memories(&mut transaction, memory.as_slice()).await?;
        }
        let ended = end(&mut transaction, standing, &run.end, run.at).await?;
        transaction.commit().await?;
        Ok(Some(ended))
    }
}

async fn end(transaction: &mut Transaction, mut standing: Standing, end: &End, now: DateTime<Utc>) -> Result<Ended> {
    let (next, note) = match end {
        End::Done { outcome, evidence, .. } => {
            standing.add_evidence(evidence);
            return standing.end(transaction, WorkStatus::Done, outcome, now).await;
        }
        End::Failed { why, .. } => return standing.end(transaction, WorkStatus::Failed, why, now).await,
        End::Review { evidence, note } => {
            standing.add_evidence(evidence);
            (WorkStatus::InReview, note.clone())
        }
        End::Waits { wait, evidence } => {
            standing.add_evidence(evidence);
            standing.item.wait = Some(wait.clone());
            (WorkStatus::Waiting, wait.describe())
        }
        End::Later { at, why } => {
            standing.item.not_before = Some(*at);
            (WorkStatus::Ready, why.clone())
        }
        End::Again { why, at } => {
            standing.item.attempts += 1;
            standing.begin_anew();
            standing.item.not_before = Some(*at);
            (WorkStatus::Ready, why.clone())
        }
        End::Released => (WorkStatus::Ready, "given back unused".into()),
    };
    standing.add_up(transaction).await?;
    standing.go(transaction, next, Some(&note), now).await?;
    Ok(Ended::alone(standing.item))
}
