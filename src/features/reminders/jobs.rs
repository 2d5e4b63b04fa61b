//! The job that tells a reminder: one for each round.

use std::sync::Arc;

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::features::reminders::model::Reminder;
use crate::features::reminders::render::render_told;
use crate::features::reminders::service::Reminders;
use crate::features::reminders::store::{change_reminder, find_waiting};
use kernel::chat::outbox::store::insert_outbound;
use kernel::db::{StoreError, Transaction};
use kernel::ids::ReminderId;
use kernel::jobs::{Failure, Job, JobContext, JobError, JobHandler, NewJob};

const KIND: &str = "reminder";

/// Which round of which reminder is to be told.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Round {
    pub(super) reminder: ReminderId,
    pub(super) round: i64,
}

impl Round {
    pub(super) fn of(reminder: &Reminder) -> Self {
        Self { reminder: reminder.id.clone(), round: reminder.round }
    }

    pub(super) fn job(&self, due: DateTime<Utc>) -> NewJob {
        NewJob::new(KIND, self).at(due)
    }
}

/// Tells reminders whose time has come.
pub(super) struct TellReminder {
    pub(super) reminders: Arc<Reminders>,
}

#[async_trait]
impl JobHandler for TellReminder {
    fn kind(&self) -> &'static str {
        KIND
    }

    fn subject(&self) -> Option<&'static str> {
        Some("reminder")
    }

    /// One transaction: the reminder is told, its message is in the outbox, the next round has its job, and this one is done.
    async fn run(&self, job: &JobContext) -> Result<(), JobError> {
        let round: Round = job.payload()?;
        let mut transaction = job.begin_final().await?;
        // The reminder may have been cancelled, snoozed or told since. Then there is nothing to do.
        if let Some(reminder) = find_waiting(&mut transaction, &round).await? {
            // The clock may have been set back since the claim.
            job.sleep_until(reminder.due)?;
            self.tell(&mut transaction, reminder, job.now()).await?;
        }
        transaction.finish().await
    }

    /// Tells the reminder in the transaction that gives the job up, so that the person still hears of it.
    async fn give_up(&self, transaction: &mut Transaction, job: &Job, _why: &Failure) -> Result<(), StoreError> {
        let Ok(round) = job.read_payload::<Round>() else { return Ok(()) };
        match find_waiting(transaction, &round).await? {
            Some(reminder) => self.tell(transaction, reminder, self.reminders.now()).await,
            None => Ok(()),
        }
    }
}

impl TellReminder {
    async fn tell(&self, transaction: &mut Transaction, reminder: Reminder, now: DateTime<Utc>) -> Result<(), StoreError> {
        let Ok(told) = reminder.clone().told(now) else { return Ok(()) };
        // Somebody may have changed the reminder since it was read.
        if !change_reminder(transaction, &reminder, &told, now).await? {
            return Ok(());
        }
        let others = self.reminders.list_other_places(transaction, &reminder, now).await?;
        let message = render_told(&reminder, self.reminders.speaker_of(&reminder), now).or_else(others);
        insert_outbound(transaction, &[message], None, now).await
    }
}
