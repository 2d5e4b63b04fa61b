//! The order and concurrency of jobs.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use kernel::jobs::{self, JobContext, JobError, JobId, JobState, JobsSettings, NewJob, Paused};
use tokio::sync::Barrier;

use super::stage::{Gate, Handler, Log, Place, Stage, on_all, seconds};

on_all!(
    a_job_of_a_transaction_that_is_rolled_back_is_not_there,
    each_job_runs_once,
    jobs_of_a_queue_run_one_at_a_time_in_their_order_and_queues_beside_each_other,
    an_open_job_with_the_same_unique_key_stands_for_a_second_one,
    no_more_run_at_a_time_than_their_kind_allows_and_other_kinds_go_on,
    no_more_run_at_a_time_than_are_allowed_in_all,
    no_more_run_at_a_time_than_their_kind_allows_in_all_processes,
    the_smallest_priority_goes_first_within_its_queue_and_among_queues,
    jobs_of_a_paused_queue_wait_and_their_runs_end,
    a_job_for_later_waits_for_its_time_and_holds_up_nobody,
);

async fn a_job_of_a_transaction_that_is_rolled_back_is_not_there(place: Place) {
    let ran = Log::default();
    let stage = place.start([noting("note", &ran)]).await;
    let mut transaction = stage.begin().await;
    let dropped = jobs::enqueue(&mut transaction, &NewJob::new("note", &"dropped"), stage.now()).await.unwrap();
    drop(transaction);
    let kept = stage.enqueue(NewJob::new("note", &"kept")).await;
    stage.wait_for(kept, JobState::Done).await;
    assert_eq!(ran.list(), ["kept"]);
    // SQLite gives the id of a row that was rolled back to the next one, which may be any job.
    let found = jobs::find(stage.database(), dropped).await.unwrap();
    assert!(found.is_none_or(|found| found.job.read_payload::<String>().ok().as_deref() != Some("dropped")));
}

async fn each_job_runs_once(place: Place) {
    let ran = Log::default();
    let stage = place.start([noting("note", &ran)]).await;
    let ids = stage.enqueue_all((0..40).map(|number| NewJob::new("note", &number.to_string()))).await;
    stage.wait_for_all(&ids, JobState::Done).await;
    let mut numbers: Vec<usize> = ran.list().iter().map(|number| number.parse().unwrap()).collect();
    numbers.sort_unstable();
    assert_eq!(numbers, (0..40).collect::<Vec<_>>());
    assert_eq!(stage.find(ids[0]).await.job.token, 1);
}

async fn jobs_of_a_queue_run_one_at_a_time_in_their_order_and_queues_beside_each_other(place: Place) {
    const QUEUES: usize = 3;
    let ran: Log<(String, usize)> = Log::default();
    let busy: Arc<Mutex<HashMap<String, usize>>> = Arc::default();
    // Waits until one job of each queue has started.
    let together = Arc::new(Barrier::new(QUEUES));
    let handler = Handler::new("talk", {
        let (ran, busy) = (ran.clone(), busy.clone());
        move |job| {
            let (ran, busy, together) = (ran.clone(), busy.clone(), together.clone());
            async move {
                let (queue, number): (String, usize) = job.payload()?;
                *busy.lock().unwrap().entry(queue.clone()).or_default() += 1;
                assert_eq!(busy.lock().unwrap()[&queue], 1, "two of {queue} at a time");
                together.wait().await;
                ran.add((queue.clone(), number));
                *busy.lock().unwrap().get_mut(&queue).unwrap() -= 1;
                Ok(())
            }
        }
    });
    let stage = place.start([handler]).await;
    let mut ids = Vec::new();
    for number in 0..6 {
        for queue in 0..QUEUES {
            // One worker per queue, because only sequential inserts have an order.
            let queue = format!("queue{queue}");
            ids.push(stage.enqueue(NewJob::new("talk", &(&queue, number)).queue(&queue)).await);
        }
    }
    stage.wait_for_all(&ids, JobState::Done).await;
    for queue in 0..QUEUES {
        let of_queue: Vec<usize> =
            ran.list().into_iter().filter(|(of, _)| *of == format!("queue{queue}")).map(|(_, number)| number).collect();
        assert_eq!(of_queue, [0, 1, 2, 3, 4, 5]);
    }
}

async fn an_open_job_with_the_same_unique_key_stands_for_a_second_one(place: Place) {
    let (ran, go) = (Log::default(), Gate::default());
    let handler = Handler::new("sum", {
        let (ran, go) = (ran.clone(), go.clone());
        move |job| {
            let (ran, go) = (ran.clone(), go.clone());
            async move {
                ran.add(job.job().id);
                go.pass().await;
                Ok(())
            }
        }
    });
    let stage = place.start([handler]).await;
    let job = || NewJob::new("sum", &()).unique("today");
    let first = stage.enqueue(job()).await;
    assert_eq!(stage.enqueue(job()).await, first);
    stage.eventually("it runs", async || ran.len() == 1).await;
    assert_eq!(stage.enqueue(job()).await, first, "also while it runs");
    go.open();
    stage.wait_for(first, JobState::Done).await;
    let second = stage.enqueue(job()).await;
    assert_ne!(second, first);
    go.open();
    stage.wait_for(second, JobState::Done).await;
    assert_eq!(ran.list(), [first, second]);
}

async fn no_more_run_at_a_time_than_their_kind_allows_and_other_kinds_go_on(place: Place) {
    let busy = Busy::default();
    let ran = Log::default();
    let slow = busy.handler("slow").with(|settings| settings.parallel = 2);
    let stage = place.start([slow, noting("note", &ran)]).await;
    let slow = stage.enqueue_all((0..9).map(|_| NewJob::new("slow", &()))).await;
    busy.reaches(2 * stage.workers.len(), &stage).await;
    let other = stage.enqueue(NewJob::new("note", &"beside")).await;
    stage.wait_for(other, JobState::Done).await;
    assert_eq!(busy.now(), 2 * stage.workers.len());
    busy.finish(&stage, &slow).await;
}

async fn no_more_run_at_a_time_than_are_allowed_in_all(place: Place) {
    let busy = Busy::default();
    let settings = JobsSettings { parallel: 3, ..JobsSettings::default() };
    let stage = place.start_with(settings, [busy.handler("one"), busy.handler("other")]).await;
    let kinds = ["one", "other"].into_iter().cycle().take(16);
    let all = stage.enqueue_all(kinds.map(|kind| NewJob::new(kind, &()))).await;
    busy.reaches(3 * stage.workers.len(), &stage).await;
    busy.finish(&stage, &all).await;
}

async fn no_more_run_at_a_time_than_their_kind_allows_in_all_processes(place: Place) {
    let busy = Busy::default();
    let limited = busy.handler("limited").with(|settings| settings.parallel_in_all = Some(2));
    let stage = place.start([limited]).await;
    let all = stage.enqueue_all((0..9).map(|_| NewJob::new("limited", &()))).await;
    busy.reaches(2, &stage).await;
    busy.finish(&stage, &all).await;
}

async fn the_smallest_priority_goes_first_within_its_queue_and_among_queues(place: Place) {
    let (ran, go): (Log<String>, Gate) = Default::default();
    let handler = Handler::new("ranked", {
        let (ran, go) = (ran.clone(), go.clone());
        move |job| {
            let (ran, go) = (ran.clone(), go.clone());
            async move {
                ran.add(job.payload()?);
                go.pass().await;
                Ok(())
            }
        }
    });
    let stage = place.start([handler.with(|settings| settings.parallel_in_all = Some(1))]).await;
    let job = |name: &str, queue: &str, priority: &str| NewJob::new("ranked", &name).queue(queue).priority(priority);
    let first = stage.enqueue(job("first", "ann", "9")).await;
    stage.eventually("it runs", async || ran.len() == 1).await;
    let rest = [job("4", "ann", "4"), job("2", "ann", "2"), job("3", "ben", "3"), job("1", "ben", "7")];
    let rest = stage.enqueue_all(rest).await;
    let mut transaction = stage.begin().await;
    jobs::set_priority(&mut transaction, rest[3], "1").await.unwrap();
    transaction.commit().await.unwrap();
    // By now, a worker that began to look before the change has finished its look.
    stage.pass(5).await;
    for _ in 0..5 {
        go.open();
    }
    stage.wait_for(first, JobState::Done).await;
    stage.wait_for_all(&rest, JobState::Done).await;
    assert_eq!(ran.list(), ["first", "1", "2", "3", "4"]);
}

async fn jobs_of_a_paused_queue_wait_and_their_runs_end(place: Place) {
    let (ran, go): (Log<String>, Gate) = Default::default();
    let paused: Arc<Mutex<Paused>> = Arc::default();
    let handler = Handler::new("said", {
        let (ran, go) = (ran.clone(), go.clone());
        move |job: JobContext| {
            let (ran, go) = (ran.clone(), go.clone());
            async move {
                ran.add(job.payload()?);
                job.cancelled().run_until_cancelled(go.pass()).await.ok_or(JobError::Stopping)
            }
        }
    });
    let stage = place.start([handler.pausing(&paused)]).await;
    let job = |name: &str, queue: &str| NewJob::new("said", &name).queue(queue);
    let anns = stage.enqueue_all([job("ann 1", "ann"), job("ann 2", "ann")]).await;
    stage.eventually("it runs", async || ran.len() == 1).await;
    paused.lock().unwrap().queues.insert("ann".into());
    stage.wait_for(anns[0], JobState::Ready).await;
    let ben = stage.enqueue(job("ben", "ben")).await;
    go.open();
    stage.wait_for(ben, JobState::Done).await;
    stage.pass(10).await;
    assert_eq!(ran.list(), ["ann 1", "ben"]);
    *paused.lock().unwrap() = Paused::default();
    go.open();
    go.open();
    stage.wait_for_all(&anns, JobState::Done).await;
    assert_eq!(ran.list(), ["ann 1", "ben", "ann 1", "ann 2"]);
    assert_eq!(stage.find(anns[0]).await.job.attempts, 0);
}

async fn a_job_for_later_waits_for_its_time_and_holds_up_nobody(place: Place) {
    let ran = Log::default();
    let stage = place.start([noting("note", &ran)]).await;
    let at = |time| stage.now() + seconds(time);
    let noon = NewJob::new("note", &"in a minute").queue("ann").at(at(60));
    let later = NewJob::new("note", &"in two minutes").at(at(120));
    let ids = stage.enqueue_all([noon, later, NewJob::new("note", &"now").queue("ann")]).await;
    stage.wait_for(ids[2], JobState::Done).await;
    stage.pass(59).await;
    assert_eq!(ran.list(), ["now"]);
    stage.pass(1).await;
    stage.wait_for(ids[0], JobState::Done).await;
    stage.pass(60).await;
    stage.wait_for(ids[1], JobState::Done).await;
    assert_eq!(ran.list(), ["now", "in a minute", "in two minutes"]);
}

fn noting(kind: &'static str, ran: &Log<String>) -> Handler {
    let ran = ran.clone();
    Handler::new(kind, move |job| {
        let ran = ran.clone();
        async move {
            ran.add(job.payload()?);
            Ok(())
        }
    })
}

/// Handlers that run until released, and the number of running ones.
#[derive(Clone, Default)]
struct Busy {
    now: Arc<AtomicUsize>,
    most: Arc<AtomicUsize>,
    go: Gate,
}

impl Busy {
    fn handler(&self, kind: &'static str) -> Handler {
        let busy = self.clone();
        Handler::new(kind, move |_| {
            let busy = busy.clone();
            async move {
                let now = busy.now.fetch_add(1, Ordering::SeqCst) + 1;
                busy.most.fetch_max(now, Ordering::SeqCst);
                busy.go.pass().await;
                busy.now.fetch_sub(1, Ordering::SeqCst);
                Ok(())
            }
        })
    }

    fn now(&self) -> usize {
        self.now.load(Ordering::SeqCst)
    }

    /// Waits until this many jobs run, and checks that the number stays the same.
    async fn reaches(&self, count: usize, stage: &Stage) {
        let reached = async || {
            stage.pass(1).await;
            self.now() >= count
        };
        stage.eventually("as many run as may", reached).await;
        stage.pass(4).await;
        assert_eq!(self.now(), count);
    }

    /// Lets all jobs end, and checks that there were never more at a time than at first.
    async fn finish(&self, stage: &Stage, jobs: &[JobId]) {
        let most = self.now();
        for _ in jobs {
            self.go.open();
        }
        stage.wait_for_all(jobs, JobState::Done).await;
        assert_eq!(self.most.load(Ordering::SeqCst), most);
    }
}
