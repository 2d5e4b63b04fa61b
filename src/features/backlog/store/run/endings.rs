use chrono::{DateTime, Utc};

use crate::features::backlog::model::{Artefact, Evidence, Execution, Wait, WorkStatus};
use crate::features::backlog::store::artefacts::insert_artefacts;
use crate::features::backlog::store::transitions::{Ended, ItemRecord};
use crate::store::Store;
use kernel::chat::outbound::OutboundMessage;
use kernel::chat::outbox::store::insert_outbound_once;
use kernel::db::{Result, Transaction};
use kernel::jobs::JobContext;
use kernel::memory::Memory;
use kernel::memory::store::insert_memories;

/// The end of a run with its messages.
#[derive(Clone)]
pub struct RunEnd<'a> {
    pub job: &'a JobContext,
    pub end: End,
    /// The files of a result that is done or to be judged.
    pub artefacts: &'a [Artefact],
    /// The messages to post, in order.
    pub outbox: &'a [OutboundMessage],
    pub at: DateTime<Utc>,
}

/// How a run ends.
#[derive(Debug, Clone, PartialEq)]
pub enum End {
    /// The result is verified. The evidence is added to the item's.
    Done { outcome: String, evidence: Vec<Evidence>, memories: Vec<Memory> },
    /// Somebody must judge what code cannot.
    Review { evidence: Vec<Evidence>, note: String },
    /// Continue the same run at that time.
    Later { at: DateTime<Utc>, why: String },
    /// Continue the same run when a person or the planner ends the wait.
    Waits { wait: Wait, evidence: Vec<Evidence> },
    /// Another persona is asked in a new run, which does not count as an attempt. With `wait`, a person is asked instead.
    HandedOn { execution: Execution, wait: Option<Wait>, note: String },
    /// The attempt failed. A new run starts, with one more attempt counted.
    Again { why: String, at: DateTime<Utc> },
    /// Released without a result. The same run continues with another job: the process stops, or the team is halted.
    Released,
    /// The last attempt failed.
    Failed { why: String, memory: Option<Memory> },
}

impl End {
    /// One word for metrics and logs.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Done { .. } => "done",
            Self::Review { .. } => "review",
            Self::Later { .. } => "later",
            Self::Waits { .. } => "waits",
            Self::HandedOn { .. } => "handed_on",
            Self::Again { .. } => "again",
            Self::Released => "released",
            Self::Failed { .. } => "failed",
        }
    }
}

impl Store {
    /// Ends a run together with its job. If the item ends, items that need it are released or fail, and its parent ends with its last child. None if
    /// the job is lost.
    pub async fn end_run(&self, run: &RunEnd<'_>) -> Result<Option<Ended>> {
        let mut transaction = self.db().begin().await?;
        let Some(record) = ItemRecord::hold(&mut transaction, run.job).await? else { return Ok(None) };
        for message in run.outbox {
            // The id of a question to a person is that of the run, which may have asked before.
            insert_outbound_once(&mut transaction, message, record.cause(), run.at).await?;
        }
        let memories = match &run.end {
            End::Done { memories, .. } => memories.as_slice(),
            End::Failed { memory, .. } => memory.as_slice(),
            _ => &[],
        };
        insert_memories(&mut transaction, memories).await?;
        if !run.artefacts.is_empty() {
            insert_artefacts(&mut transaction, &record.item.id, record.item.run, run.artefacts).await?;
        }
        let ended = end(&mut transaction, record, &run.end, run.at).await?;
        Ok(run.job.finish_with(transaction).await?.then_some(ended))
    }
}

async fn end(transaction: &mut Transaction, mut record: ItemRecord, end: &End, now: DateTime<Utc>) -> Result<Ended> {
    let (next, note) = match end {
        End::Done { outcome, evidence, .. } => {
            record.add_evidence(evidence);
            return record.end(transaction, WorkStatus::Done, outcome, now).await;
        }
        End::Failed { why, .. } => {
            record.item.attempts += 1;
            return record.end(transaction, WorkStatus::Failed, why, now).await;
        }
        End::Review { evidence, note } => {
            record.add_evidence(evidence);
            (WorkStatus::InReview, note.clone())
        }
        End::Waits { wait, evidence } => {
            record.add_evidence(evidence);
            record.item.wait = Some(wait.clone());
            (WorkStatus::Waiting, wait.describe())
        }
        End::Later { at, why } => {
            record.item.not_before = Some(*at);
            (WorkStatus::Ready, why.clone())
        }
        End::HandedOn { execution, wait, note } => {
            record.item.execution = Some(execution.clone());
            record.item.wait.clone_from(wait);
            if wait.is_none() {
                record.restart_run();
            }
            (if wait.is_some() { WorkStatus::Waiting } else { WorkStatus::Ready }, note.clone())
        }
        End::Again { why, at } => {
            record.item.attempts += 1;
            record.restart_run();
            record.item.not_before = Some(*at);
            (WorkStatus::Ready, why.clone())
        }
        End::Released => (WorkStatus::Ready, "given back unused".into()),
    };
    record.add_up(transaction).await?;
    record.go(transaction, next, Some(&note), now).await?;
    Ok(Ended::alone(record.item))
}
