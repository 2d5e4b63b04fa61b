//! The jobs of turns, and of asks that outlive their turn.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;

use crate::features::chat::Conversation;
use crate::features::chat::approvals::ApprovedHandler;
use crate::features::chat::store::{LATE, TURN};
use kernel::db::{StoreError, Transaction};
use kernel::ids::AskId;
use kernel::jobs::{Failure, Job, JobContext, JobError, JobHandler, KindSettings};

/// Runs turns: sends the question to a persona and stores the reply.
struct TurnHandler {
    conversation: Conversation,
}

#[async_trait]
impl JobHandler for TurnHandler {
    fn kind(&self) -> &'static str {
        TURN
    }

    fn subject(&self) -> Option<&'static str> {
        Some("message")
    }

    fn settings(&self) -> KindSettings {
        KindSettings {
            // Channels do not wait for each other. The model limits the number of parallel calls.
            parallel: 200,
            // The model calls inside a turn have their own limits.
            time_limit: Duration::from_hours(24),
            // The job can go early, because the row of the turn is kept.
            retention: Duration::from_hours(1),
            ..KindSettings::default()
        }
    }

    async fn run(&self, job: &JobContext) -> Result<(), JobError> {
        self.conversation.run_turn(&job.payload()?, job).await
    }

    async fn give_up(&self, transaction: &mut Transaction, job: &Job, why: &Failure) -> Result<(), StoreError> {
        self.conversation.give_up_turn(transaction, job, why).await
    }
}

/// Delivers the answers to asks that have expired.
struct LateAskHandler {
    conversation: Conversation,
}

#[async_trait]
impl JobHandler for LateAskHandler {
    fn kind(&self) -> &'static str {
        LATE
    }

    fn settings(&self) -> KindSettings {
        // Like turns: the model calls have their own limits.
        KindSettings { parallel: 200, time_limit: Duration::from_hours(24), retention: Duration::from_hours(1), ..KindSettings::default() }
    }

    async fn run(&self, job: &JobContext) -> Result<(), JobError> {
        self.conversation.answer_late(&job.payload()?, job).await
    }

    async fn give_up(&self, transaction: &mut Transaction, job: &Job, why: &Failure) -> Result<(), StoreError> {
        let Ok(ask) = job.read_payload::<AskId>() else { return Ok(()) };
        tracing::warn!(%ask, %why, "a late answer is given up");
        self.conversation.give_up_ask(transaction, &ask).await
    }
}

impl Conversation {
    /// Runs all jobs of the chat.
    pub fn job_handlers(&self) -> Vec<Arc<dyn JobHandler>> {
        vec![
            Arc::new(TurnHandler { conversation: self.clone() }),
            Arc::new(LateAskHandler { conversation: self.clone() }),
            Arc::new(ApprovedHandler { conversation: self.clone() }),
        ]
    }
}
