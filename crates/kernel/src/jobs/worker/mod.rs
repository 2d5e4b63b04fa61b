//! The loop of a process that claims jobs.

mod leases;
mod listen;
mod places;
mod run;

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use chrono::{DateTime, Utc};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tracing::field::Empty;
use tracing::{Instrument as _, Span, info_span};

pub(super) use places::Reservation;

use super::admission::{Beside, Candidate};
use super::context::{JobContext, Progress};
use super::retention::{Retention, RetentionRule, finished_jobs};
use super::store::{JobStore, WorkerId};
use super::{Job, JobHandler, JobId, JobsSettings, KindSettings};
use crate::catch_panic::catch_panic;
use crate::db::{Database, StoreError};
use crate::time::SharedClock;

/// The jobs of this process. Cheap to clone.
#[derive(Clone)]
pub struct Jobs {
    inner: Arc<Inner>,
}

/// Dependencies of a worker.
pub struct JobsDeps {
    pub database: Database,
    pub clock: SharedClock,
    pub tasks: TaskTracker,
    /// Cancelled to stop claiming. Running jobs end after their current step.
    pub stop: CancellationToken,
    /// Cancelled to release running jobs at once.
    pub kill: CancellationToken,
}

struct Inner {
    store: JobStore,
    clock: SharedClock,
    tasks: TaskTracker,
    stop: CancellationToken,
    kill: CancellationToken,
    settings: JobsSettings,
    kinds: HashMap<&'static str, Kind>,
    limits: HashMap<&'static str, u32>,
    worker: Mutex<WorkerId>,
    running: Mutex<HashMap<Claimed, Running>>,
    /// The kinds of jobs that start once they are committed.
    reserved: Mutex<Vec<&'static str>>,
    /// True if the last look claimed all that it found, so that a new job overtakes none. Not counted are kinds with a limit in all processes.
    calm: AtomicBool,
    /// True if the last look left a job that waits for a running one.
    waiting: AtomicBool,
    /// The number of runs that have ended.
    ends: AtomicU64,
    /// True after a run whose end could not be stored. The worker may still hold its job.
    unsettled: AtomicBool,
    /// Notified when a run ends.
    ended: Notify,
}

#[derive(Clone)]
struct Kind {
    handler: Arc<dyn JobHandler>,
    settings: KindSettings,
}

/// A job and its token. A job can be claimed again before the run that lost it has ended.
type Claimed = (JobId, i64);

/// A job that runs in this process.
struct Running {
    kind: &'static str,
    queue: Option<String>,
    suspicions: u32,
    since: DateTime<Utc>,
    progress: Progress,
    cancel: CancellationToken,
}

impl Jobs {
    /// Starts to run jobs and to apply the retention rules, including one for finished jobs.
    pub fn start(deps: JobsDeps, settings: JobsSettings, handlers: Vec<Arc<dyn JobHandler>>, mut rules: Vec<RetentionRule>) -> Self {
        let JobsDeps { database, clock, tasks, stop, kill } = deps;
        let store = JobStore(database);
        let mut kinds: HashMap<&'static str, Kind> = HashMap::new();
        for handler in handlers {
            kinds.insert(handler.kind(), Kind { settings: handler.settings(), handler });
        }
        let kept = kinds.iter().map(|(kind, of)| ((*kind).to_owned(), of.settings.retention)).collect();
        rules.push(finished_jobs(kept));
        let retention: Arc<dyn JobHandler> = Arc::new(Retention::new(rules));
        kinds.insert(retention.kind(), Kind { settings: retention.settings(), handler: retention });
        let limits = kinds.iter().map(|(kind, of)| (*kind, of.settings.parallel)).collect();
        let (worker, running) = (Mutex::new(WorkerId::generate()), Mutex::default());
        let inner = Inner {
            store,
            clock,
            tasks,
            stop,
            kill,
            settings,
            kinds,
            limits,
            worker,
            running,
            reserved: Mutex::default(),
            calm: AtomicBool::new(false),
            waiting: AtomicBool::new(false),
            ends: AtomicU64::new(0),
            unsettled: AtomicBool::new(false),
            ended: Notify::new(),
        };
        let jobs = Self { inner: Arc::new(inner) };
        jobs.inner.tasks.spawn(jobs.clone().work());
        jobs
    }

    /// Whether a job runs in this process.
    pub fn runs(&self, job: JobId) -> bool {
        self.running().keys().any(|(running, _)| *running == job)
    }

    async fn work(self) {
        while let Err(error) = self.begin().await {
            tracing::warn!(%error, "cannot begin to run jobs");
            tokio::select! {
                () = self.inner.stop.cancelled() => return,
                () = self.inner.clock.sleep(self.inner.settings.poll) => {}
            }
        }
        self.inner.store.0.db().handover().worker.set(&self.inner, |inner| Self { inner });
        self.inner.tasks.spawn(self.clone().keep_leases());
        self.inner.tasks.spawn(self.clone().listen());
        loop {
            let wait = match catch_panic(Box::pin(async { Ok(self.look().await?) })).await {
                Ok(wait) => wait,
                Err(error) => {
                    tracing::warn!(error = format!("{error:#}"), "cannot look for jobs");
                    self.inner.settings.poll
                }
            };
            tokio::select! {
                biased;
                () = self.inner.stop.cancelled() => return,
                () = self.inner.store.0.db().handover().wake.notified() => {}
                () = self.inner.clock.sleep(wait) => {}
            }
        }
    }

    async fn begin(&self) -> Result<(), StoreError> {
        let now = self.inner.clock.now();
        self.inner.store.add_worker(&self.worker(), now).await?;
        if self.is_alone() {
            // Only one process serves from SQLite, so every other worker in the table is dead.
            for former in self.inner.store.list_other_workers(&self.worker()).await? {
                self.take_back(&former).await?;
            }
            self.inner.store.0.db().handover().set_sole(true);
        }
        Retention::enqueue(&self.inner.store.0, now).await
    }

    /// Claims the admitted jobs, and returns how long to wait without a wake-up.
    async fn look(&self) -> Result<Duration, StoreError> {
        let inner = &self.inner;
        let handover = inner.store.0.db().handover();
        let cancelled = handover.take_cancelled();
        if !cancelled.is_empty() {
            self.running().iter().filter(|((job, _), _)| cancelled.contains(job)).for_each(|(_, running)| running.cancel.cancel());
        }
        let ends = inner.ends.load(Ordering::Acquire);
        let (now, again_at, left, passed_by) = loop {
            let now = inner.clock.now();
            let mut candidates = inner.store.list_candidates(now).await?;
            self.leave_out_paused(&mut candidates).await?;
            let limits = self.limits_of(&candidates).await?;
            let (places, again_at) = self.admit(&candidates, &limits, now);
            let left = places.len() < candidates.len();
            let is_free = |job: &Candidate| self.in_all_of(&job.kind).is_none() && !places.iter().any(|(placed, _)| *placed == job.id);
            let passed_by = candidates.iter().any(is_free);
            let mut again = false;
            for (job, place) in places {
                if inner.stop.is_cancelled() {
                    break;
                }
                let in_all = candidates.iter().find(|candidate| candidate.id == job).and_then(|candidate| self.in_all_of(&candidate.kind));
                if let Some(job) = inner.store.claim(job, &self.worker(), in_all, now).await? {
                    // The list contains the first job of each free queue, but only some of the jobs without a queue.
                    again |= job.queue.is_none() || job.suspicions > 0;
                    place.start(job);
                }
            }
            if !again {
                break (now, again_at, left, passed_by);
            }
        };
        inner.calm.store(!passed_by, Ordering::Release);
        let next = inner.store.next(now).await?;
        inner.waiting.store(left || next.waits_in_queue, Ordering::Release);
        if inner.ends.load(Ordering::Acquire) != ends {
            // A run ended meanwhile, and did not know whether a job waits for it.
            handover.wake.notify_one();
        }
        let next = [next.timer, again_at].into_iter().flatten().min();
        let until_next = next.map(|next| (next - now).to_std().unwrap_or_default().max(SHORTEST));
        Ok(until_next.unwrap_or(inner.settings.poll).min(inner.settings.poll))
    }

    /// Leaves out candidates of paused queues, and ends the runs of those and of paused jobs.
    async fn leave_out_paused(&self, candidates: &mut Vec<Candidate>) -> Result<(), StoreError> {
        for (kind, of) in &self.inner.kinds {
            let is_concerned = candidates.iter().any(|job| job.kind == *kind) || self.running().values().any(|job| job.kind == *kind);
            let paused = if is_concerned { of.handler.paused().await? } else { continue };
            candidates.retain(|job| job.kind != *kind || !paused.includes(job.queue.as_deref()));
            let running = self.running();
            let is_paused = |id, job: &Running| paused.jobs.contains(id) || paused.includes(job.queue.as_deref());
            let ended = running.iter().filter(|((id, _), job)| job.kind == *kind && is_paused(id, job));
            ended.for_each(|(_, job)| job.cancel.cancel());
        }
        Ok(())
    }

    /// The limits of this process, lowered by what runs in others.
    async fn limits_of(&self, candidates: &[Candidate]) -> Result<HashMap<&'static str, u32>, StoreError> {
        let mut limits = self.inner.limits.clone();
        for (kind, limit) in &mut limits {
            if let Some(in_all) = self.in_all_of(kind).filter(|_| candidates.iter().any(|job| job.kind == *kind)) {
                let here = self.running().values().filter(|job| job.kind == *kind).count();
                let free = in_all.saturating_sub(self.inner.store.count_running(kind).await?);
                *limit = (*limit).min(free.saturating_add(u32::try_from(here).unwrap_or(u32::MAX)));
            }
        }
        Ok(limits)
    }

    fn in_all_of(&self, kind: &str) -> Option<u32> {
        self.inner.kinds.get(kind).and_then(|of| of.settings.parallel_in_all)
    }

    /// Notes the end of a run, which may make room for a job that waits.
    fn note_end(&self) {
        self.inner.ends.fetch_add(1, Ordering::AcqRel);
        if self.inner.waiting.load(Ordering::Acquire) {
            self.inner.store.0.db().handover().wake.notify_one();
        }
        self.inner.ended.notify_waiters();
    }

    fn take_up(&self, job: Job, now: DateTime<Utc>) {
        let inner = &self.inner;
        // The limit of its kind admitted it, so the kind is known.
        let Some((kind, of)) = inner.kinds.get_key_value(job.kind.as_str()) else { return };
        tracing::debug!(job = %job.id, kind, token = job.token, "a job was claimed");
        let span = span_of(&job, &*of.handler);
        metrics::counter!("teamroom_jobs_claimed_total", "kind" => *kind).increment(1);
        let cancel = CancellationToken::new();
        let context = JobContext::new(job, inner.store.clone(), inner.clock.clone(), cancel.clone(), inner.stop.clone());
        let job = context.job();
        let running =
            Running { kind, queue: job.queue.clone(), suspicions: job.suspicions, since: now, progress: context.progress(), cancel };
        let mut all = self.running();
        all.insert((job.id, job.token), running);
        count_running(&all, kind);
        drop(all);
        inner.tasks.spawn(self.clone().run(context, of.clone()).instrument(span));
    }

    /// True if no other process can run jobs.
    fn is_alone(&self) -> bool {
        matches!(self.inner.store.0.db().read(), crate::db::Backend::Sqlite(_))
    }

    fn worker(&self) -> WorkerId {
        self.inner.worker.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn running(&self) -> MutexGuard<'_, HashMap<Claimed, Running>> {
        self.inner.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The shortest wait for a timer. A due job is claimed at the next look, or it waits for something else.
const SHORTEST: Duration = Duration::from_millis(1);

impl Running {
    fn beside(&self) -> Beside<'_> {
        Beside { kind: self.kind, since: self.since, suspicions: self.suspicions, progressed: self.progress.made() }
    }
}

/// The span of a run. The id of what the job is about is in `message` if that is a message, otherwise in `subject`. It has no parent, because a job is
/// sometimes claimed where it was enqueued, and jobs that enqueue each other would make a chain without end.
fn span_of(job: &Job, handler: &dyn JobHandler) -> Span {
    let span = info_span!(parent: None, "job", job = %job.id, kind = handler.kind(), message = Empty, subject = Empty);
    if let Some(field) = handler.subject()
        && let Some(id) = job.payload.get(field).and_then(serde_json::Value::as_str)
    {
        span.record(if field == "message" { field } else { "subject" }, id);
    }
    span
}

fn count_running(running: &HashMap<Claimed, Running>, kind: &'static str) {
    let count = running.values().filter(|job| job.kind == kind).count();
    metrics::gauge!("teamroom_jobs_running", "kind" => kind).set(u32::try_from(count).unwrap_or(u32::MAX));
}
