use std::sync::Arc;

use async_trait::async_trait;

use crate::features::schedule::action::{Action, ActionOutcome};
use crate::features::schedule::model::FiringState;
use crate::features::schedule::store::{FiringJob, end_firing};
use kernel::chat::outbox::store::insert_outbound;
use kernel::db::{StoreError, Transaction};
use kernel::jobs::{Failure, Job, JobContext, JobError, JobHandler, KindSettings};
use kernel::time::SharedClock;

/// Attempts per firing. With the delays between them they take about ten minutes.
const TRIES: u32 = 8;

/// Runs the action of an open firing and ends the firing.
pub(super) struct CarryOut {
    pub(super) actions: Vec<Arc<dyn Action>>,
    pub(super) clock: SharedClock,
}

#[async_trait]
impl JobHandler for CarryOut {
    fn kind(&self) -> &'static str {
        FiringJob::KIND
    }

    fn subject(&self) -> Option<&'static str> {
        Some("job")
    }

    fn settings(&self) -> KindSettings {
        KindSettings { max_attempts: TRIES, keeps_place: false, ..KindSettings::default() }
    }

    async fn run(&self, job: &JobContext) -> Result<(), JobError> {
        let firing: FiringJob = job.payload()?;
        let Some(action) = self.actions.iter().find(|known| known.kind().name == firing.action.name()) else {
            return Err(JobError::fail(format!("nothing here does \"{}\"", firing.action.name())));
        };
        let outcome = action.run().await?;
        let mut transaction = job.begin_final().await?;
        let (state, note, outbox) = match outcome {
            ActionOutcome::Done(outbox) => (FiringState::Done, None, outbox),
            ActionOutcome::Refused(why) => (FiringState::Refused, Some(why), Vec::new()),
        };
        if end_firing(&mut transaction, &firing.job, firing.instant, state, note.as_deref(), job.now()).await? {
            insert_outbound(&mut transaction, &outbox, None, job.now()).await?;
        }
        transaction.finish().await
    }

    async fn give_up(&self, transaction: &mut Transaction, job: &Job, why: &Failure) -> Result<(), StoreError> {
        let Ok(firing) = job.read_payload::<FiringJob>() else { return Ok(()) };
        end_firing(transaction, &firing.job, firing.instant, FiringState::Refused, Some(&why.to_string()), self.clock.now()).await?;
        Ok(())
    }
}
