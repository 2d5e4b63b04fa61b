use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::features::schedule::model::{Due, Job, LATE};
use crate::features::schedule::render::render_left_out;
use crate::features::schedule::store::{FiringJob, NewFiring, Pause};
use crate::features::schedule::{Deps, Schedule, find_channel};
use kernel::chat::outbound::{OutboundKind, OutboundMessage};
use kernel::db::StoreError;
use kernel::ids::OutboxId;
use kernel::jobs;

/// Maximum time between two checks of the clock, so that a suspended laptop and a changed clock are noticed.
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

/// Delay after a database error.
const AFTER_FAILURE: Duration = Duration::from_secs(5);

/// Delay before a postponed instant is checked again. A login takes about that long.
const AFTER_LEFT: Duration = Duration::from_secs(1);

/// A mark this far ahead of the clock means that the clock was set back. A smaller difference comes from another process with a different clock.
const SET_BACK: TimeDelta = TimeDelta::minutes(5);

impl Schedule {
    /// Checks the clock at each instant, until `stop`.
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
                    () = schedule.deps().clock.sleep(pause) => {}
                }
            }
        });
    }

    /// Creates a job for each open firing without one. A firing has none if it is from before firings had jobs, or if the end of its job could not be
    /// stored together with its own end.
    async fn resume_firings(&self) -> Result<(), StoreError> {
        let Deps { store, clock, .. } = self.deps();
        let mut transaction = store.db().begin().await?;
        for firing in store.list_open_firings().await? {
            jobs::enqueue(&mut transaction, &FiringJob::from(&firing).into_job(), clock.now()).await?;
        }
        transaction.commit().await
    }

    /// Fires the due instants, and returns how long to wait.
    ///
    /// # Errors
    /// The database does not answer. Unrecorded instants are checked again the next time.
    pub async fn look(&self) -> Result<Duration, StoreError> {
        let store = &self.deps().store;
        let now = self.deps().clock.now();
        let paused = store.list_paused_jobs().await?;
        let mut pause = LONGEST_PAUSE;
        // A standby may have another file, so its file disables nothing for the serving process.
        for job in self.list_jobs().await?.iter().filter(|job| job.enabled || self.serves()) {
            let pause_of = paused.get(&job.name).filter(|_| job.enabled);
            let is_silent = !job.enabled || pause_of.is_some();
            let dealt_with = match pause_of {
                Some(pause) => self.consider_paused(job, pause, now).await?,
                None => self.consider(job, is_silent, now).await?,
            };
            if !dealt_with && self.serves() {
                pause = pause.min(AFTER_LEFT);
            }
            let Some(next) = job.timetable.next_after(now) else { continue };
            let begins = if is_silent { next } else { self.prepare(job, next, now).await? };
            pause = (begins - now).to_std().map_or(pause, |until| until.min(pause));
        }
        Ok(pause)
    }

    /// Lets the action of a job prepare its next instant once its lead has come. Returns the time of the next call for this job.
    async fn prepare(&self, job: &Job, instant: DateTime<Utc>, now: DateTime<Utc>) -> Result<DateTime<Utc>, StoreError> {
        let Deps { store, platform: Some(platform), .. } = self.deps() else { return Ok(instant) };
        let Some(action) = self.find_action(&job.action) else { return Ok(instant) };
        let Some(begins) = action.lead().and_then(|lead| instant.checked_sub_signed(TimeDelta::from_std(lead).ok()?)) else {
            return Ok(instant);
        };
        if begins > now {
            return Ok(begins);
        }
        // The platform has not reported the channel yet. The next call finds it.
        if let Some(channel) = find_channel(store, Some(&**platform), job.channel.as_deref().unwrap_or_default()).await? {
            action.prepare(&channel, instant, now).await?;
        }
        Ok(instant)
    }

    /// Whether this process serves. A standby has no platform.
    fn serves(&self) -> bool {
        self.deps().platform.is_some()
    }

    /// Processes the due instants. Those of a paused or disabled job count as processed, so that none is made up for later. False: this process
    /// cannot fire one of them, or not yet.
    async fn consider(&self, job: &Job, is_silent: bool, now: DateTime<Utc>) -> Result<bool, StoreError> {
        let store = &self.deps().store;
        let Some(considered) = store.find_considered(job).await? else {
            // A new job has missed nothing. If a standby dropped the marks of other timetables, two processes with different files would delete each
            // other's marks forever.
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

    /// As [`Self::consider`] for a paused job. The first instant that is left out is told in the job's channel, once for each pause, because people
    /// forget what they paused. The message is stored before the mark, and its id names the pause, so a crash in between tells it once.
    async fn consider_paused(&self, job: &Job, pause: &Pause, now: DateTime<Utc>) -> Result<bool, StoreError> {
        let Deps { store, platform: Some(platform), coordinator, .. } = self.deps() else {
            // A standby cannot tell it, so it leaves the instant to the process that serves.
            return Ok(false);
        };
        let considered = store.find_considered(job).await?;
        let left_out =
            considered.and_then(|considered| job.timetable.next_after(considered.max(pause.at))).filter(|instant| *instant <= now);
        let name = job.channel.as_deref().unwrap_or_default();
        if let Some(instant) = left_out
            && let Some(channel) = find_channel(store, Some(&**platform), name).await?
        {
            let id = OutboxId::new(format!("schedule-paused-{}-{}", job.name, pause.at.timestamp()));
            let text = render_left_out(job, pause, instant);
            let message = OutboundMessage { id, ..OutboundMessage::new(coordinator, &channel.id, OutboundKind::Notice, text) };
            store.enqueue_once(&message, now).await?;
        }
        self.consider(job, true, now).await
    }

    /// Whether a job has nothing to do. Otherwise a job that runs every five minutes would store many useless rows.
    async fn is_idle(&self, job: &Job, now: DateTime<Utc>) -> Result<bool, StoreError> {
        match self.find_action(&job.action) {
            Some(action) => action.is_idle(now).await,
            None => Ok(false),
        }
    }

    /// False: this process cannot resolve the channel. A connected process fires the instant, or this one does once it is connected.
    async fn fire_due(&self, job: &Job, due: &Due, now: DateTime<Utc>) -> Result<bool, StoreError> {
        if due.fire.is_empty() {
            let missed = NewFiring {
                job: job.name.clone(),
                instant: due.latest,
                action: job.action.clone(),
                passed_over: due.passed_over.saturating_sub(1),
            };
            if self.deps().store.pass_over(&missed, now).await? {
                tracing::warn!(job = %job.name, instant = %due.latest, count = due.passed_over, "runs were missed and are not made up for");
            }
            return Ok(true);
        }
        for instant in &due.fire {
            // The latest instant reports the number of passed over instants.
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
