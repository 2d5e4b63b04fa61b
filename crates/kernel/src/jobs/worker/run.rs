//! Runs one job, from its claim to the end of the run.

use std::sync::atomic::Ordering;
use std::time::Duration;

use tokio::task::JoinError;
use tokio_util::task::AbortOnDropHandle;
use tracing::Instrument as _;

use super::{Jobs, Kind, count_running};
use crate::catch_panic::catch_panic;
use crate::db::{Result, StoreError};
use crate::jobs::store::Return;
use crate::jobs::{Failure, Job, JobContext, JobError, JobState};

/// Grace period of a run that is told to end.
const GRACE: Duration = Duration::from_secs(1);

/// Delay before the end of a run is stored again while the database is unavailable.
const RETRY: Duration = Duration::from_secs(2);

/// The outcome label of a run whose end was not stored.
const LOST: &str = "lost";

/// How a run ended.
#[derive(Debug)]
enum End {
    Done,
    /// Nothing to store: the end is already stored, or another worker holds the job.
    Nothing(&'static str),
    Return(Return),
    GivenUp(Failure),
}

impl End {
    fn name(&self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Nothing(name) => name,
            Self::Return(Return::Released) => "released",
            Self::Return(Return::Sleep { .. }) => "asleep",
            Self::Return(Return::PutOff { .. }) => "put_off",
            Self::Return(Return::Retry { .. }) => "retry",
            Self::GivenUp(Failure::Failed(_)) => "failed",
            Self::GivenUp(Failure::Crashed(_)) => "set_aside",
        }
    }
}

impl Jobs {
    pub(super) async fn run(self, context: JobContext, kind: Kind) {
        let job = context.job();
        let end = if job.crashes >= kind.settings.max_crashes {
            End::GivenUp(Failure::Crashed(job.crashes))
        } else {
            self.run_in_time(&context, &kind).await
        };
        let name = self.store_end(job, &kind, end).await;
        tracing::debug!(outcome = name, "the run of a job ended");
        metrics::counter!("teamroom_jobs_finished_total", "kind" => kind.handler.kind(), "outcome" => name).increment(1);
        {
            let mut running = self.running();
            running.remove(&(job.id, job.token));
            count_running(&running, kind.handler.kind());
        }
        if name == LOST {
            self.inner.unsettled.store(true, Ordering::Relaxed);
        }
        self.note_end();
    }

    /// Runs the handler in its own task, so that a panic or a handler that never awaits does not block this one.
    async fn run_in_time(&self, context: &JobContext, kind: &Kind) -> End {
        let (inner, limit) = (&self.inner, kind.settings.time_limit);
        let mut run = AbortOnDropHandle::new(tokio::spawn({
            let (context, handler) = (context.clone(), kind.handler.clone());
            async move { handler.run(&context).await }.in_current_span()
        }));
        let cut_short = tokio::select! {
            ended = &mut run => return self.end_of(context, kind, ended),
            // Its queue was paused, or it is lost. Then it cannot be given back, and nothing is stored.
            () = context.cancelled().cancelled() => End::Return(Return::Released),
            () = inner.kill.cancelled() => End::Return(Return::Released),
            () = inner.clock.sleep(limit) => self.again(context.job(), kind, None, format!("it took longer than {} s", limit.as_secs())),
        };
        context.cancelled().cancel();
        tokio::select! {
            _ = &mut run => {}
            () = tokio::time::sleep(GRACE) => {}
        }
        if context.is_finished() { End::Nothing("done") } else { cut_short }
    }

    fn end_of(&self, context: &JobContext, kind: &Kind, ended: Result<Result<(), JobError>, JoinError>) -> End {
        let job = context.job();
        let now = self.inner.clock.now();
        match ended {
            _ if context.is_finished() => End::Nothing("done"),
            Ok(Ok(())) => End::Done,
            Ok(Err(JobError::Retry { after, why })) => self.again(job, kind, after, why),
            Ok(Err(JobError::Fail(why))) => End::GivenUp(Failure::Failed(why)),
            Ok(Err(JobError::Sleep(until))) => End::Return(Return::Sleep { until }),
            Ok(Err(JobError::LostLease)) => End::Nothing(LOST),
            Ok(Err(JobError::Stopping)) => End::Return(Return::Released),
            Ok(Err(JobError::Unavailable(error))) => {
                tracing::warn!(job = %job.id, kind = job.kind, %error, "a job is put off");
                End::Return(Return::PutOff { until: now + RETRY })
            }
            Err(error) => {
                let why = error.try_into_panic().map_or_else(|_| "it was aborted".to_owned(), |panic| describe(&*panic));
                self.again(job, kind, None, why)
            }
        }
    }

    /// Another attempt, unless this was the last.
    fn again(&self, job: &Job, kind: &Kind, after: Option<Duration>, why: String) -> End {
        let tries = job.attempts + 1;
        tracing::warn!(job = %job.id, kind = job.kind, tries, why, "a try of a job failed");
        if tries >= kind.settings.max_attempts {
            return End::GivenUp(Failure::Failed(if tries == 1 { why } else { format!("tried {tries} times; at last: {why}") }));
        }
        let at = self.inner.clock.now() + after.unwrap_or_else(|| kind.settings.backoff(tries));
        End::Return(Return::Retry { at, why, keeps_place: kind.settings.keeps_place })
    }

    /// Stores the end of a run, and retries while the database is unavailable. Returns the stored result.
    async fn store_end(&self, job: &Job, kind: &Kind, end: End) -> &'static str {
        let inner = &self.inner;
        loop {
            let stored = match &end {
                End::Nothing(name) => return name,
                End::Done => inner.store.finish_done(job, inner.clock.now()).await,
                End::Return(how) => inner.store.put_back(job, how).await,
                End::GivenUp(why) => self.give_up(job, kind, why).await,
            };
            match stored {
                Ok(true) => return end.name(),
                Ok(false) => {
                    tracing::warn!(job = %job.id, kind = job.kind, token = job.token, end = end.name(), "the job is no longer held; nothing was stored");
                    return LOST;
                }
                Err(error) if error.is_retryable() && !inner.kill.is_cancelled() => {
                    tracing::warn!(job = %job.id, %error, "the end of a job cannot be stored yet");
                    inner.kill.run_until_cancelled(inner.clock.sleep(RETRY)).await;
                }
                Err(error) => {
                    tracing::error!(job = %job.id, %error, "the end of a job could not be stored; it is run again");
                    return LOST;
                }
            }
        }
    }

    async fn give_up(&self, job: &Job, kind: &Kind, why: &Failure) -> Result<bool> {
        tracing::error!(job = %job.id, kind = job.kind, %why, "a job is given up");
        match self.end_given_up(job, why, Some(kind)).await {
            Err(error) if !error.is_retryable() => {
                tracing::error!(job = %job.id, %error, "nobody could be told that a job is given up");
                self.end_given_up(job, why, None).await
            }
            stored => stored,
        }
    }

    /// Stores the end in one transaction with the handler's message about it.
    async fn end_given_up(&self, job: &Job, why: &Failure, told_by: Option<&Kind>) -> Result<bool> {
        let store = &self.inner.store;
        let state = if matches!(why, Failure::Crashed(_)) { JobState::SetAside } else { JobState::Failed };
        let mut transaction = store.0.db().begin().await?;
        if !store.finish(&mut transaction, job, state, Some(&why.to_string()), self.inner.clock.now()).await? {
            return Ok(false);
        }
        if let Some(kind) = told_by {
            let told = catch_panic(async { Ok(kind.handler.give_up(&mut transaction, job, why).await) }).await;
            told.map_err(|error| StoreError::Other(format!("{error:#}")))??;
        }
        transaction.commit().await?;
        Ok(true)
    }
}

fn describe(panic: &(dyn std::any::Any + Send)) -> String {
    format!("it panicked: {}", crate::catch_panic::message_of(panic))
}
