use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::features::schedule::model::{Due, Job, LATE};
use crate::features::schedule::store::{FiringJob, NewFiring};
use crate::features::schedule::{Parts, Schedule};
use kernel::db::StoreError;
use kernel::jobs;

/// The longest time without a look at the clock, so that a laptop that slept and a clock that was set are noticed.
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

/// How long to wait when the store does not answer.
const AFTER_FAILURE: Duration = Duration::from_secs(5);

/// How long to wait before an instant that had to be left is looked at again: a login takes about that long.
const AFTER_LEFT: Duration = Duration::from_secs(1);

/// A mark this far ahead of the clock means that the clock was set back. Below that it is another process whose clock differs.
const SET_BACK: TimeDelta = TimeDelta::minutes(5);

impl Schedule {
    /// Looks at the clock whenever an instant has come, until `stop`.
    pub fn start(&self, tasks: &TaskTracker, stop: CancellationToken) {
        let schedule = self.clone();
        tasks.spawn(async move {
            let mut resumed = !schedule.serves();
            loop {
                let look = async {
                    if !resumed {
                        schedule.resume_firings().await?;
                        resumed = true;
                    }
                    schedule.look().await
                };
                let pause = match stop.run_until_cancelled(Box::pin(look)).await {
                    None => return,
                    Some(Ok(pause)) => pause,
                    Some(Err(error)) => {
                        tracing::warn!(%error, "the schedule cannot be looked through");
                        AFTER_FAILURE
                    }
                };
                tokio::select! {
                    () = stop.cancelled() => return,
                    () = schedule.inner.changed.notified() => {}
                    () = schedule.parts().clock.sleep(pause) => {}
                }
            }
        });
    }

    /// Has every open firing a job that carries it out. One is without if it fired before firings had jobs, or if the end of its job could not be
    /// stored together with its own.
    async fn resume_firings(&self) -> Result<(), StoreError> {
        let Parts { store, clock, .. } = self.parts();
        let mut transaction = store.db().begin().await?;
        for firing in store.list_open_firings().await? {
            jobs::enqueue(&mut transaction, &FiringJob::from(&firing).into_job(), clock.now()).await?;
        }
        transaction.commit().await
    }

    /// Fires what has come by now, and tells how long there is nothing to do.
    ///
    /// # Errors
    /// The store does not answer; what was not recorded is looked at again the next time.
    pub async fn look(&self) -> Result<Duration, StoreError> {
        let store = &self.parts().store;
        let now = self.parts().clock.now();
        let paused = store.list_paused_jobs().await?;
        let mut pause = LONGEST_PAUSE;
        // One that only stands by may have been given another file, by which nothing is turned off for the one that serves.
        for job in self.list_jobs().await?.iter().filter(|job| job.enabled || self.serves()) {
            let is_silent = !job.enabled || paused.contains_key(&job.name);
            let dealt_with = self.consider(job, is_silent, now).await?;
            if !dealt_with && self.serves() {
                pause = pause.min(AFTER_LEFT);
            }
            let next = job.timetable.next_after(now).and_then(|next| (next - now).to_std().ok());
            pause = next.map_or(pause, |next| next.min(pause));
        }
        Ok(pause)
    }

    /// Whether this process is the one that serves; another stands by, without a platform.
    fn serves(&self) -> bool {
        self.parts().platform.is_some()
    }

    /// Deals with the instants that have come. Those of a job that is silent, being paused or turned off, count as dealt with, so that none of
    /// them is made up for later. False: one has come that this process cannot fire, or not yet.
    async fn consider(&self, job: &Job, is_silent: bool, now: DateTime<Utc>) -> Result<bool, StoreError> {
        let store = &self.parts().store;
        let Some(considered) = store.find_considered(job).await? else {
            // Nothing was missed of a job that is new. Were one that stands by to drop the marks of other times, two processes with different
            // files would take each other's for ever.
            let recorded = if self.serves() { store.reset_considered(job, now).await } else { store.record_considered(job, now).await };
            return recorded.map(|()| true);
        };
        if considered - now > SET_BACK {
            tracing::warn!(job = %job.name, %considered, %now, "the clock was set back; instants count from here again");
            store.reset_considered(job, now).await?;
            return Ok(true);
        }
        let Some(due) = job.due(considered, now) else { return Ok(true) };
        let dealt_with = is_silent || self.is_idle(job, now).await? || self.fire_due(job, &due, now).await?;
        if dealt_with {
            store.record_considered(job, due.latest).await?;
        }
        Ok(dealt_with)
    }

    /// Whether there is nothing to do for a job. Of one that looks every five minutes, nearly every row would say so.
    async fn is_idle(&self, job: &Job, now: DateTime<Utc>) -> Result<bool, StoreError> {
        match self.find_action(&job.action) {
            Some(action) => action.is_idle(now).await,
            None => Ok(false),
        }
    }

    /// False: this process cannot tell its channel, and leaves it to one that is connected, or to itself once it is.
    async fn fire_due(&self, job: &Job, due: &Due, now: DateTime<Utc>) -> Result<bool, StoreError> {
        if due.fire.is_empty() {
            let missed = NewFiring {
                job: job.name.clone(),
                instant: due.latest,
                action: job.action.clone(),
                passed_over: due.passed_over.saturating_sub(1),
            };
            if self.parts().store.pass_over(&missed, now).await? {
                tracing::warn!(job = %job.name, instant = %due.latest, count = due.passed_over, "runs were missed and are not made up for");
            }
            return Ok(true);
        }
        for instant in &due.fire {
            // What was passed over is told once, with the latest.
            let passed_over = if *instant == due.latest { due.passed_over } else { 0 };
            if now - *instant > LATE {
                tracing::info!(job = %job.name, %instant, "a missed run is made up for");
            }
            if self.fire(job, *instant, passed_over, now).await?.is_none() {
                return Ok(false);
            }
        }
        Ok(true)
    }
}
