//! Actions that are still open after firing are carried out by jobs.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use chrono_tz::Tz;
use kernel::chat::outbound::{OutboundKind, OutboundMessage};
use kernel::db::sql;
use kernel::jobs::{Jobs, JobsDeps, JobsSettings};
use kernel::time::ManualClock;
use teamroom::features::schedule::action::{Action, ActionOutcome};
use teamroom::features::schedule::model::{ActionKind, Actions, Firing, FiringState, Job};
use teamroom::features::schedule::settings::ScheduleSettings;
use teamroom::features::schedule::{Deps, Schedule};
use teamroom::store::Store;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::{KINDS, Place, draft, firings, posts, utc};
use crate::support::nobody::Nobody;
use crate::support::team::{Backing, eventually, on_both_stores};

on_both_stores!(
    what_fires_is_carried_out_once_and_ends_with_what_it_posts,
    what_cannot_be_done_says_why,
    what_fails_is_tried_again_and_given_up_with_its_reason,
    what_nobody_here_does_is_refused,
    an_action_that_is_interrupted_is_carried_out_by_the_next_worker,
    a_firing_without_a_job_gets_one_at_the_start,
);

type Answer = Box<dyn FnMut(usize) -> anyhow::Result<ActionOutcome> + Send>;

/// A chart action whose outcome the test decides.
struct Chart {
    answer: Mutex<Answer>,
    runs: AtomicUsize,
    /// Whether the first run never ends.
    hangs: bool,
    begun: Notify,
}

impl Chart {
    fn new(answer: impl FnMut(usize) -> anyhow::Result<ActionOutcome> + Send + 'static) -> Arc<Self> {
        Arc::new(Self { answer: Mutex::new(Box::new(answer)), runs: AtomicUsize::new(0), hangs: false, begun: Notify::new() })
    }

    /// A chart that posts "drawn" in channel 10.
    fn drawn() -> Arc<Self> {
        Self::new(|_| Ok(said()))
    }

    fn runs(&self) -> usize {
        self.runs.load(Ordering::SeqCst)
    }
}

fn said() -> ActionOutcome {
    ActionOutcome::Done(vec![OutboundMessage::new(&"kelly".into(), &"discord:10".into(), OutboundKind::Answer, "drawn")])
}

#[async_trait]
impl Action for Chart {
    fn kind(&self) -> ActionKind {
        KINDS[1].clone()
    }

    async fn run(&self) -> anyhow::Result<ActionOutcome> {
        let run = self.runs.fetch_add(1, Ordering::SeqCst);
        if self.hangs && run == 0 {
            self.begun.notify_one();
            std::future::pending::<()>().await;
        }
        (self.answer.lock().unwrap())(run)
    }
}

/// A process that serves: its schedule, and a worker for its jobs.
struct Serving {
    schedule: Schedule,
    store: Store,
    clock: ManualClock,
    tasks: TaskTracker,
    stop: CancellationToken,
    kill: CancellationToken,
}

const BEGIN: &str = "2026-11-20T08:59:00Z";
const NINE: Duration = Duration::from_mins(1);

impl Serving {
    async fn on(place: &Place, actions: Vec<Arc<dyn Action>>) -> Self {
        let (store, clock) = (place.open().await, ManualClock::new(utc(BEGIN)));
        let (tasks, stop, kill) = (TaskTracker::new(), CancellationToken::new(), CancellationToken::new());
        let schedule = Schedule::new(Deps {
            settings: ScheduleSettings { zone: Tz::UTC, jobs: vec![chart()] },
            coordinator: "kelly".into(),
            actions,
            store: store.clone(),
            platform: Some(Arc::new(Nobody)),
            clock: Arc::new(clock.clone()),
        });
        Self { schedule, store, clock, tasks, stop, kill }
    }

    fn work(&self) {
        let deps = JobsDeps {
            database: self.store.database(),
            clock: Arc::new(self.clock.clone()),
            tasks: self.tasks.clone(),
            stop: self.stop.clone(),
            kill: self.kill.clone(),
        };
        Jobs::start(deps, JobsSettings::default(), vec![self.schedule.job_handler()], Vec::new());
    }

    /// Moves time to the chart's time.
    async fn fire(&self) {
        self.schedule.look().await.unwrap();
        self.clock.advance(NINE);
        self.schedule.look().await.unwrap();
    }

    /// Waits until the chart's firing has ended. Returns it.
    async fn ended(&self) -> Firing {
        eventually("the firing has ended", || async {
            // Moves time, so that a job that waits for its next attempt gets it.
            self.clock.advance(Duration::from_secs(5));
            firings(&self.store, &chart()).await.iter().all(|firing| firing.state != FiringState::Open)
        })
        .await;
        let mut fired = firings(&self.store, &chart()).await;
        assert_eq!(fired.len(), 1, "{fired:?}");
        fired.remove(0)
    }

    async fn stop(&self) {
        self.stop.cancel();
        self.kill.cancel();
        self.tasks.close();
        self.tasks.wait().await;
    }
}

fn chart() -> Job {
    draft("chart", "0 9 * * *", "chart").into_job(Tz::UTC, &Actions::of(KINDS)).unwrap()
}

/// How many jobs of firings have a state.
async fn jobs(store: &Store, state: &str) -> i64 {
    let (count,): (i64,) =
        sql!(store.db().read(), fetch_one, "SELECT COUNT(*) FROM jobs WHERE kind = 'schedule.firing' AND state = $1", state).unwrap();
    count
}

async fn what_fires_is_carried_out_once_and_ends_with_what_it_posts(backing: Backing) {
    let place = Place::on(backing).await;
    let chart = Chart::drawn();
    let serving = Serving::on(&place, vec![chart.clone()]).await;
    serving.work();
    serving.fire().await;
    let fired = serving.ended().await;
    assert_eq!((fired.state, fired.note), (FiringState::Done, None));
    assert_eq!((posts(&serving.store).await, chart.runs()), (1, 1));
    eventually("its job is done", || async { jobs(&serving.store, "done").await == 1 }).await;
    serving.stop().await;
}

async fn what_cannot_be_done_says_why(backing: Backing) {
    let place = Place::on(backing).await;
    let serving = Serving::on(&place, vec![Chart::new(|_| Ok(ActionOutcome::Refused("there was no standup yet".into())))]).await;
    serving.work();
    serving.fire().await;
    let fired = serving.ended().await;
    assert_eq!((fired.state, fired.note.as_deref()), (FiringState::Refused, Some("there was no standup yet")));
    assert_eq!(posts(&serving.store).await, 0);
    serving.stop().await;
}

async fn what_fails_is_tried_again_and_given_up_with_its_reason(backing: Backing) {
    let place = Place::on(backing).await;
    let chart = Chart::new(|_| anyhow::bail!("there is no ink"));
    let serving = Serving::on(&place, vec![chart.clone()]).await;
    serving.work();
    serving.fire().await;
    let fired = serving.ended().await;
    assert_eq!((fired.state, fired.note.as_deref()), (FiringState::Refused, Some("tried 8 times; at last: there is no ink")));
    assert_eq!(chart.runs(), 8);
    serving.stop().await;
}

async fn what_nobody_here_does_is_refused(backing: Backing) {
    let place = Place::on(backing).await;
    let chart = Chart::drawn();
    let firing = Serving::on(&place, vec![chart.clone()]).await;
    firing.fire().await;
    // The next program has no charts any more.
    let serving = Serving::on(&place, Vec::new()).await;
    serving.work();
    let fired = serving.ended().await;
    assert_eq!((fired.state, fired.note.as_deref()), (FiringState::Refused, Some("nothing here does \"chart\"")));
    assert_eq!(chart.runs(), 0);
    serving.stop().await;
}

async fn an_action_that_is_interrupted_is_carried_out_by_the_next_worker(backing: Backing) {
    let place = Place::on(backing).await;
    let chart = Arc::new(Chart { hangs: true, ..Arc::into_inner(Chart::drawn()).expect("nobody else has it") });
    let first = Serving::on(&place, vec![chart.clone()]).await;
    first.work();
    first.fire().await;
    chart.begun.notified().await;
    assert_eq!(firings(&first.store, &self::chart()).await[0].state, FiringState::Open);
    first.stop().await;
    let second = Serving::on(&place, vec![chart.clone()]).await;
    second.work();
    assert_eq!(second.ended().await.state, FiringState::Done);
    assert_eq!((posts(&second.store).await, chart.runs()), (1, 2));
    second.stop().await;
}

async fn a_firing_without_a_job_gets_one_at_the_start(backing: Backing) {
    let place = Place::on(backing).await;
    let chart = Chart::drawn();
    let serving = Serving::on(&place, vec![chart.clone()]).await;
    serving.fire().await;
    // Deletes the job, because firings of an earlier version had no jobs.
    sql!(serving.store.db().write().unwrap(), execute, "DELETE FROM jobs WHERE kind = 'schedule.firing'").unwrap();
    for _ in 0..2 {
        let tasks = TaskTracker::new();
        let stop = CancellationToken::new();
        serving.schedule.start(&tasks, stop.clone());
        eventually("it has a job", || async { jobs(&serving.store, "ready").await > 0 }).await;
        stop.cancel();
        tasks.close();
        tasks.wait().await;
    }
    assert_eq!(jobs(&serving.store, "ready").await, 1, "one however often the process starts");
    serving.work();
    assert_eq!(serving.ended().await.state, FiringState::Done);
    assert_eq!((posts(&serving.store).await, chart.runs()), (1, 1));
    serving.stop().await;
}
