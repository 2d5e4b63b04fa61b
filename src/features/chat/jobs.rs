//! The job of a turn. Asks that outlive their turn are no jobs: their row is enough to put them again.

use std::time::Duration;

use async_trait::async_trait;

use crate::features::chat::Conversation;
use crate::features::chat::store::TURN;
use kernel::db::{StoreError, Transaction};
use kernel::jobs::{Failure, Job, JobContext, JobError, JobHandler, KindSettings};

/// Runs turns: what a persona is asked once, and answers.
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
            // Channels do not wait for each other; how many calls run at a time is a matter of the model.
            parallel: 200,
            // What a turn waits for has limits of its own.
            time_limit: Duration::from_hours(24),
            // The row of the turn is kept.
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
