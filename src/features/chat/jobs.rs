//! The job of a turn. An ask that outlives its turn has no job. Its row is enough to send it again.

use std::time::Duration;

use async_trait::async_trait;

use crate::features::chat::Conversation;
use crate::features::chat::store::TURN;
use kernel::db::{StoreError, Transaction};
use kernel::jobs::{Failure, Job, JobContext, JobError, JobHandler, KindSettings};

/// Runs turns: sends the question to a persona and stores the reply.
pub struct TurnHandler {
    pub conversation: Conversation,
}

#[async_trait]
impl JobHandler for TurnHandler {
    fn kind(&self) -> &'static str {
        TURN
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
