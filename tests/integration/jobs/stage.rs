//! Workers with closures as handlers.

use std::collections::HashMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use chrono::{DateTime, TimeDelta, Utc};
use kernel::db::{Database, StoreError, Transaction, sql};
use kernel::jobs::{self, Failure, Job, JobContext, JobError, JobHandler, JobId, JobRecord, JobState, Jobs, JobsDeps, JobsSettings};
use kernel::jobs::{KindSettings, NewJob, Paused, RetentionRule};
use kernel::time::{Clock, ManualClock};
use secrecy::{ExposeSecret, SecretString};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::support::migrated;
use crate::support::team::eventually;

/// Creates three tests from each test function.
macro_rules! on_all {
    ($($story:ident),+ $(,)?) => {$(
        mod $story {
            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn on_sqlite() {
                Box::pin(super::$story(crate::jobs::stage::Place::sqlite())).await;
            }

            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn on_postgresql() {
                if let Some(place) = crate::jobs::stage::Place::postgres(1).await {
                    Box::pin(super::$story(place)).await;
                }
            }

            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn by_two_workers() {
                if let Some(place) = crate::jobs::stage::Place::postgres(2).await {
                    Box::pin(super::$story(place)).await;
                }
            }
        }
    )+};
}
pub(super) use on_all;

pub(super) fn noon() -> DateTime<Utc> {
    "2026-11-20T12:00:00Z".parse().unwrap()
}

/// A database and the number of workers.
pub(super) struct Place {
    pub(super) url: SecretString,
    pub(super) workers: usize,
    /// Rules for deleting rows other than finished jobs.
    rules: fn() -> Vec<RetentionRule>,
    _directory: Option<tempfile::TempDir>,
}

impl Place {
    pub(super) fn sqlite() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let url = migrated::sqlite(&directory.path().join("jobs.db")).into();
        Self { url, workers: 1, rules: Vec::new, _directory: Some(directory) }
    }

    pub(super) async fn postgres(workers: usize) -> Option<Self> {
        Some(Self { url: migrated::postgres().await?.into(), workers, rules: Vec::new, _directory: None })
    }

    pub(super) fn deleting_by(self, rules: fn() -> Vec<RetentionRule>) -> Self {
        Self { rules, ..self }
    }

    /// Starts the workers, each with its own connection and all with one clock.
    pub(super) async fn start(self, handlers: impl IntoIterator<Item = Handler>) -> Stage {
        self.start_with(JobsSettings::default(), handlers).await
    }

    pub(super) async fn start_with(self, settings: JobsSettings, handlers: impl IntoIterator<Item = Handler>) -> Stage {
        let clock = ManualClock::new(noon());
        let handlers: Vec<Arc<dyn JobHandler>> = handlers.into_iter().map(|handler| Arc::new(handler) as Arc<dyn JobHandler>).collect();
        let mut stage = Stage { workers: Vec::new(), beats: tokio::sync::Mutex::default(), clock, place: self, settings, handlers };
        for _ in 0..stage.place.workers {
            stage.add_worker().await;
        }
        stage
    }
}

pub(super) struct Worker {
    pub(super) database: Database,
    jobs: Jobs,
    pub(super) stop: CancellationToken,
    pub(super) kill: CancellationToken,
    tasks: TaskTracker,
}

impl Worker {
    fn start(
        database: Database,
        clock: &ManualClock,
        settings: JobsSettings,
        handlers: &[Arc<dyn JobHandler>],
        rules: fn() -> Vec<RetentionRule>,
    ) -> Self {
        let (tasks, stop, kill) = (TaskTracker::new(), CancellationToken::new(), CancellationToken::new());
        let deps = JobsDeps {
            database: database.clone(),
            clock: Arc::new(clock.clone()),
            tasks: tasks.clone(),
            stop: stop.clone(),
            kill: kill.clone(),
        };
        let jobs = Jobs::start(deps, settings, handlers.to_vec(), rules());
        Self { database, jobs, stop, kill, tasks }
    }

    /// Waits until no job runs.
    pub(super) async fn ended(&self) {
        self.tasks.close();
        tokio::time::timeout(Duration::from_mins(1), self.tasks.wait()).await.expect("it ends");
    }
}

/// The last known heartbeats of the workers.
#[derive(Default)]
struct Beats {
    /// Seconds since the heartbeats were read.
    seconds: u64,
    seen: HashMap<String, i64>,
}

pub(super) struct Stage {
    pub(super) workers: Vec<Worker>,
    beats: tokio::sync::Mutex<Beats>,
    pub(super) clock: ManualClock,
    place: Place,
    settings: JobsSettings,
    handlers: Vec<Arc<dyn JobHandler>>,
}

impl Stage {
    pub(super) async fn add_worker(&mut self) {
        self.insert_worker(self.workers.len()).await;
    }

    /// The first worker holds the database, like a serving process. The others share it.
    async fn insert_worker(&mut self, place: usize) {
        let url = &self.place.url;
        let open = if place == 0 { Database::open(url, noon()).await } else { Database::open_shared(url, noon()).await };
        self.workers.insert(place, Worker::start(open.unwrap(), &self.clock, self.settings, &self.handlers, self.place.rules));
    }

    pub(super) fn database(&self) -> &Database {
        &self.workers[0].database
    }

    pub(super) fn now(&self) -> DateTime<Utc> {
        self.clock.now()
    }

    pub(super) async fn begin(&self) -> Transaction {
        self.database().db().begin().await.unwrap()
    }

    /// Enqueues a job through the workers in turn.
    pub(super) async fn enqueue(&self, job: NewJob) -> JobId {
        self.enqueue_all([job]).await.remove(0)
    }

    pub(super) async fn enqueue_all(&self, new: impl IntoIterator<Item = NewJob>) -> Vec<JobId> {
        let mut ids = Vec::new();
        for (number, job) in new.into_iter().enumerate() {
            let worker = &self.workers[number % self.workers.len()];
            let mut transaction = worker.database.db().begin().await.unwrap();
            ids.push(jobs::enqueue(&mut transaction, &job, self.clock.now()).await.unwrap());
            transaction.commit().await.unwrap();
        }
        ids
    }

    /// Enqueues through the first worker, which starts the job at once. Others notice it later.
    pub(super) async fn enqueue_here(&self, job: NewJob) -> JobId {
        let mut transaction = self.begin().await;
        let id = jobs::enqueue(&mut transaction, &job, self.clock.now()).await.unwrap();
        transaction.commit().await.unwrap();
        id
    }

    pub(super) async fn find(&self, job: JobId) -> JobRecord {
        jobs::find(self.database(), job).await.unwrap().expect("it is there")
    }

    pub(super) async fn wait_for(&self, job: JobId, state: JobState) -> JobRecord {
        self.eventually(&format!("{job} is {state:?}"), async || self.find(job).await.state == state).await;
        self.find(job).await
    }

    pub(super) async fn wait_for_all(&self, jobs: &[JobId], state: JobState) {
        for job in jobs {
            self.wait_for(*job, state).await;
        }
    }

    /// Waits until `holds` is true. Time goes on slowly at first, and later at its usual pace: a worker that was about to fall asleep when time was
    /// moved has missed that move, and would sleep on.
    pub(super) async fn eventually(&self, what: &str, holds: impl AsyncFn() -> bool) {
        let looks = AtomicU32::new(0);
        let holds = async || {
            let usual = looks.fetch_add(1, Ordering::Relaxed) > 50;
            self.clock.advance(Duration::from_millis(if usual { 20 } else { 1 }));
            holds().await
        };
        eventually(what, holds).await;
    }

    /// Moves time in steps of a second. Waits for heartbeats, because on a busy machine one may take longer than a lease lasts on this clock.
    pub(super) async fn pass(&self, seconds: u64) {
        for _ in 0..seconds {
            self.clock.advance(Duration::from_secs(1));
            tokio::time::sleep(Duration::from_millis(15)).await;
            let mut beats = self.beats.lock().await;
            beats.seconds += 1;
            if beats.seconds >= 2 && !self.is_on_sqlite() {
                self.wait_for_beats(&beats.seen).await;
                *beats = Beats { seconds: 0, seen: self.list_beats().await };
            }
        }
    }

    async fn wait_for_beats(&self, before: &HashMap<String, i64>) {
        let started = Instant::now();
        while started.elapsed() < Duration::from_secs(1) {
            let beats = self.list_beats().await;
            let live = beats.iter().filter(|(worker, beat)| before.get(*worker).is_none_or(|before| before < *beat)).count();
            if live >= self.workers.len() {
                return;
            }
            tokio::time::sleep(Duration::from_millis(15)).await;
        }
    }

    /// On SQLite there is no other worker that could declare this one dead.
    fn is_on_sqlite(&self) -> bool {
        self.place.url.expose_secret().starts_with("sqlite:")
    }

    async fn list_beats(&self) -> HashMap<String, i64> {
        let rows: Vec<(String, i64)> = sql!(self.database().db().read(), fetch_all, "SELECT id, beat FROM job_workers").unwrap();
        rows.into_iter().collect()
    }

    /// Moves time once.
    pub(super) async fn tick(&self, time: Duration) {
        self.clock.advance(time);
        tokio::time::sleep(Duration::from_millis(15)).await;
    }

    /// Replaces the worker that runs a job, as if its process had been killed.
    pub(super) async fn kill_holder(&mut self, job: JobId) {
        // A job that deletes old jobs at the same time would be suspected of the crash too.
        self.eventually("only the story's own jobs run", async || self.list_due_kinds().await.iter().all(|kind| self.handles(kind))).await;
        let place = self.workers.iter().position(|worker| worker.jobs.runs(job)).expect("somebody runs it");
        let dead = self.workers.remove(place);
        dead.database.close().await;
        dead.kill.cancel();
        dead.stop.cancel();
        dead.ended().await;
        self.insert_worker(place).await;
    }

    /// The kinds of the jobs that run, or may begin at any moment.
    async fn list_due_kinds(&self) -> Vec<String> {
        let rows: Vec<(String,)> = sql!(
            self.database().db().read(),
            fetch_all,
            "SELECT DISTINCT kind FROM jobs WHERE state = 'running' OR state = 'ready' AND run_at <= $1",
            self.now()
        )
        .unwrap();
        rows.into_iter().map(|(kind,)| kind).collect()
    }

    fn handles(&self, kind: &str) -> bool {
        self.handlers.iter().any(|handler| handler.kind() == kind)
    }

    pub(super) async fn stop(&self) {
        for worker in &self.workers {
            worker.stop.cancel();
        }
        for worker in &self.workers {
            worker.ended().await;
        }
    }
}

pub(super) fn seconds(seconds: i64) -> TimeDelta {
    TimeDelta::seconds(seconds)
}

type Run = dyn Fn(JobContext) -> Pin<Box<dyn Future<Output = Result<(), JobError>> + Send>> + Send + Sync;

/// A handler made from a closure, which records messages to people.
pub(super) struct Handler {
    kind: &'static str,
    settings: KindSettings,
    run: Box<Run>,
    told: Log<Failure>,
    paused: Arc<Mutex<Paused>>,
}

impl Handler {
    pub(super) fn new<F>(kind: &'static str, run: impl Fn(JobContext) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = Result<(), JobError>> + Send + 'static,
    {
        Self {
            kind,
            settings: KindSettings::default(),
            run: Box::new(move |job| Box::pin(run(job))),
            told: Log::default(),
            paused: Arc::default(),
        }
    }

    pub(super) fn with(self, settings: impl FnOnce(&mut KindSettings)) -> Self {
        let mut handler = self;
        settings(&mut handler.settings);
        handler
    }

    pub(super) fn telling(self, told: &Log<Failure>) -> Self {
        Self { told: told.clone(), ..self }
    }

    pub(super) fn pausing(self, paused: &Arc<Mutex<Paused>>) -> Self {
        Self { paused: paused.clone(), ..self }
    }
}

#[async_trait]
impl JobHandler for Handler {
    fn kind(&self) -> &'static str {
        self.kind
    }

    fn settings(&self) -> KindSettings {
        self.settings
    }

    async fn paused(&self) -> Result<Paused, StoreError> {
        Ok(self.paused.lock().unwrap().clone())
    }

    async fn run(&self, job: &JobContext) -> Result<(), JobError> {
        (self.run)(job.clone()).await
    }

    async fn give_up(&self, transaction: &mut Transaction, job: &Job, why: &Failure) -> Result<(), StoreError> {
        leave_mark(transaction, &format!("given up {}", job.id)).await?;
        self.told.add(why.clone());
        Ok(())
    }
}

/// Events in order.
pub(super) struct Log<T>(Arc<Mutex<Vec<T>>>);

impl<T> Default for Log<T> {
    fn default() -> Self {
        Self(Arc::default())
    }
}

impl<T> Clone for Log<T> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<T: Clone> Log<T> {
    pub(super) fn add(&self, entry: T) {
        self.0.lock().unwrap().push(entry);
    }

    pub(super) fn list(&self) -> Vec<T> {
        self.0.lock().unwrap().clone()
    }

    pub(super) fn len(&self) -> usize {
        self.0.lock().unwrap().len()
    }
}

/// An effect that the database allows only once.
pub(super) async fn leave_mark(transaction: &mut Transaction, mark: &str) -> Result<(), StoreError> {
    sql!(transaction.on(), execute, "INSERT INTO notices (key, at) VALUES ($1, $2)", mark, noon()).map(|_| ())
}

pub(super) async fn has_mark(database: &Database, mark: &str) -> bool {
    let (count,): (i64,) = sql!(database.db().read(), fetch_one, "SELECT COUNT(*) FROM notices WHERE key = $1", mark).unwrap();
    count == 1
}

/// Each opening lets one waiter pass, including later ones.
#[derive(Clone)]
pub(super) struct Gate(Arc<Semaphore>);

impl Default for Gate {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(0)))
    }
}

impl Gate {
    pub(super) fn open(&self) {
        self.0.add_permits(1);
    }

    pub(super) async fn pass(&self) {
        self.0.acquire().await.unwrap().forget();
    }
}
