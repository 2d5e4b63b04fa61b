//! The job of a meeting, which runs it from its call to its end.

use std::time::Duration;

use async_trait::async_trait;

use crate::features::meeting::Meetings;
use crate::features::meeting::store::{MeetingRun, RUN, fail_meeting};
use kernel::db::{StoreError, Transaction};
use kernel::jobs::{Failure, Job, JobContext, JobError, JobHandler, KindSettings};

pub(super) struct MeetingHandler {
    pub(super) meetings: Meetings,
}

#[async_trait]
impl JobHandler for MeetingHandler {
    fn kind(&self) -> &'static str {
        RUN
    }

    fn subject(&self) -> Option<&'static str> {
        Some("meeting")
    }

    fn settings(&self) -> KindSettings {
        KindSettings {
            // One per channel. Most of them wait.
            parallel: 100,
            // Longer than a pause may last. The turns have their own limits.
            time_limit: Duration::from_hours(48),
            first_retry: Duration::from_secs(1),
            // The job can go early, because the row of the meeting is kept.
            retention: Duration::from_hours(1),
            ..KindSettings::default()
        }
    }

    async fn run(&self, job: &JobContext) -> Result<(), JobError> {
        self.meetings.run(&MeetingRun::of(job)?).await
    }

    async fn give_up(&self, transaction: &mut Transaction, job: &Job, why: &Failure) -> Result<(), StoreError> {
        let reason = match why {
            Failure::Crashed(_) => "it stopped the team's program three times in a row",
            Failure::Failed(_) => "it could not continue; see the log",
        };
        let outbox = |meeting: &_| self.meetings.render_failure(meeting, reason);
        fail_meeting(transaction, job, reason, outbox, self.meetings.deps().clock.now()).await
    }
}
