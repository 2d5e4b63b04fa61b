//! The jobs of the backlog.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use chrono::{DateTime, TimeDelta, Utc};

use crate::features::backlog::Work;
use crate::features::backlog::learning::amendment::drafting::give_amendment_up;
use crate::features::backlog::learning::amendment::store::AMEND;
use crate::features::backlog::store::{ANNOUNCE, LEARNINGS, PERSON, PLAN, REVIEW, RUN, review_by_people, set_item_aside};
use kernel::db::{StoreError, Transaction};
use kernel::jobs::{Failure, Job, JobContext, JobError, JobHandler, KindSettings, Paused};

/// The time beyond its own limit that a run may take to settle its calls and to store its end.
const MARGIN: Duration = Duration::from_mins(1);

/// The delay before a failed review is repeated. It doubles with each further one.
const REVIEW_RETRY: Duration = Duration::from_secs(20);

/// How often an item of a channel where people said stop checks whether it may go on.
const HELD: TimeDelta = TimeDelta::seconds(10);

/// The delay after an unexpected error of the database.
const RETRY: Duration = Duration::from_secs(10);

impl Work {
    pub fn job_handlers(&self) -> Vec<Arc<dyn JobHandler>> {
        let kinds = [RUN, REVIEW, PLAN, PERSON, ANNOUNCE, LEARNINGS, AMEND].into_iter();
        kinds.map(|kind| Arc::new(BacklogHandler { work: self.clone(), kind }) as Arc<dyn JobHandler>).collect()
    }
}

struct BacklogHandler {
    work: Work,
    kind: &'static str,
}

#[async_trait]
impl JobHandler for BacklogHandler {
    fn kind(&self) -> &'static str {
        self.kind
    }

    fn subject(&self) -> Option<&'static str> {
        Some("item")
    }

    fn settings(&self) -> KindSettings {
        let usual = KindSettings { retention: Duration::from_hours(1), ..KindSettings::default() };
        let own = &self.work.deps().settings;
        match self.kind {
            RUN => KindSettings {
                parallel: own.parallel,
                parallel_in_all: Some(own.parallel),
                // A run limits its time itself, and counts its attempts in the item.
                time_limit: own.run_timeout + MARGIN,
                max_attempts: 10,
                keeps_place: false,
                ..usual
            },
            REVIEW => KindSettings { first_retry: REVIEW_RETRY, ..usual },
            // These jobs never end.
            PLAN | LEARNINGS => {
                KindSettings { parallel: 1, time_limit: Duration::from_hours(1), max_attempts: u32::MAX, max_crashes: u32::MAX, ..usual }
            }
            _ => usual,
        }
    }

    async fn paused(&self) -> Result<Paused, StoreError> {
        if self.kind == RUN { self.work.deps().store.list_paused_runs().await } else { Ok(Paused::default()) }
    }

    async fn run(&self, job: &JobContext) -> Result<(), JobError> {
        if matches!(self.kind, RUN | REVIEW) && self.work.deps().store.is_held(job.job()).await? {
            return Err(JobError::Sleep(job.now() + HELD));
        }
        match self.kind {
            RUN => self.work.run_item(job).await,
            REVIEW => self.work.run_review(job).await,
            PLAN => self.work.plan(job).await.map_err(unless_away),
            PERSON => self.work.remind_person(job).await,
            ANNOUNCE => self.work.announce_ended(job).await,
            AMEND => self.work.draft_amendment(job).await,
            _ => {
                self.work.inner.learnings.keep_up().await;
                // The end of an item wakes this job.
                self.work.remove_worktrees().await;
                Err(JobError::Sleep(self.work.next_round(job.now())))
            }
        }
    }

    async fn give_up(&self, transaction: &mut Transaction, job: &Job, why: &Failure) -> Result<(), StoreError> {
        let now = self.work.deps().clock.now();
        match (self.kind, why) {
            (RUN, Failure::Crashed(times)) => {
                set_item_aside(transaction, job, &format!("its worker died over it {times} times in a row"), now).await
            }
            (RUN, Failure::Failed(why)) => set_item_aside(transaction, job, why, now).await,
            (AMEND, why) => give_amendment_up(transaction, job, &why.to_string()).await,
            (REVIEW, _) => review_by_people(transaction, job, now).await,
            _ => Ok(()),
        }
    }
}

impl Work {
    pub(super) fn next_round(&self, now: DateTime<Utc>) -> DateTime<Utc> {
        now + TimeDelta::from_std(self.deps().settings.every).unwrap_or(TimeDelta::MAX)
    }
}

/// The retry delay of a job that never ends does not grow.
fn unless_away(error: JobError) -> JobError {
    match error {
        JobError::Retry { why, .. } => JobError::retry(RETRY, why),
        other => other,
    }
}
