//! Cancelled jobs, stopped and killed processes, and old finished jobs.

use std::time::Duration;

use kernel::jobs::{self, Failure, JobContext, JobError, JobState, JobsSettings, NewJob};

use super::stage::{Gate, Handler, Log, Place, has_mark, on_all};

on_all!(
    a_job_that_is_cancelled_ends_its_run_and_never_runs_again,
    a_process_that_stops_lets_runs_end_after_their_step_and_gives_them_back,
    a_process_that_stops_at_once_gives_back_what_it_runs,
    jobs_that_ran_as_their_process_died_run_again_one_at_a_time,
    a_job_alone_with_which_its_process_dies_three_times_is_set_aside_with_a_word,
    a_job_that_gets_further_with_each_crash_is_not_set_aside,
    jobs_that_finished_long_ago_are_deleted_with_their_steps,
);

async fn a_job_that_is_cancelled_ends_its_run_and_never_runs_again(place: Place) {
    let seen = Log::default();
    let handler = Handler::new("run", {
        let seen = seen.clone();
        move |job: JobContext| {
            let seen = seen.clone();
            async move {
                seen.add("runs");
                job.cancelled().cancelled().await;
                seen.add("ends");
                Ok(())
            }
        }
    });
    let stage = place.start([handler.with(|settings| settings.parallel = 1)]).await;
    let running = stage.enqueue(NewJob::new("run", &()).queue("one")).await;
    let waiting = stage.enqueue(NewJob::new("run", &()).queue("one")).await;
    stage.wait_for(running, JobState::Running).await;
    stage.eventually("it runs", async || seen.len() == 1).await;
    for job in [waiting, running] {
        let mut transaction = stage.begin().await;
        assert!(jobs::cancel(&mut transaction, job, "nobody wants it", stage.now()).await.unwrap());
        transaction.commit().await.unwrap();
    }
    stage
        .eventually("its run ends", async || {
            // The other worker notices at its next heartbeat.
            stage.pass(1).await;
            seen.len() == 2
        })
        .await;
    stage.stop().await;
    for job in [waiting, running] {
        assert_eq!(stage.find(job).await.state, JobState::Cancelled);
    }
    assert_eq!(seen.list(), ["runs", "ends"]);
}

async fn a_process_that_stops_lets_runs_end_after_their_step_and_gives_them_back(place: Place) {
    let (did, go) = (Log::default(), Gate::default());
    let handler = Handler::new("steps", {
        let (did, go) = (did.clone(), go.clone());
        move |job: JobContext| {
            let (did, go) = (did.clone(), go.clone());
            async move {
                let first = async || {
                    did.add("one");
                    go.pass().await;
                    Ok(())
                };
                job.step("one", first).await?;
                let second = async || {
                    did.add("two");
                    Ok(())
                };
                job.step("two", second).await
            }
        }
    });
    let stage = place.start([handler]).await;
    let id = stage.enqueue(NewJob::new("steps", &())).await;
    stage.eventually("it is in its first step", async || did.len() == 1).await;
    for worker in &stage.workers {
        worker.stop.cancel();
    }
    let left = stage.enqueue(NewJob::new("steps", &())).await;
    go.open();
    stage.stop().await;
    let given_back = stage.find(id).await;
    assert_eq!((given_back.state, given_back.job.attempts, given_back.job.crashes), (JobState::Ready, 0, 0));
    assert_eq!((stage.find(left).await.job.token, did.list()), (0, vec!["one"]));
}

async fn a_process_that_stops_at_once_gives_back_what_it_runs(place: Place) {
    let handler = Handler::new("hang", |_| std::future::pending());
    let stage = place.start([handler]).await;
    let ids = stage.enqueue_all([NewJob::new("hang", &()), NewJob::new("hang", &()).queue("one")]).await;
    stage.wait_for_all(&ids, JobState::Running).await;
    for worker in &stage.workers {
        worker.stop.cancel();
        worker.kill.cancel();
    }
    stage.stop().await;
    for id in ids {
        let given_back = stage.find(id).await;
        assert_eq!((given_back.state, given_back.job.attempts, given_back.job.suspicions), (JobState::Ready, 0, 0));
    }
}

async fn jobs_that_ran_as_their_process_died_run_again_one_at_a_time(mut place: Place) {
    let (ran, go) = (Log::default(), Gate::default());
    let handler = Handler::new("run", {
        let (ran, go) = (ran.clone(), go.clone());
        move |job: JobContext| {
            let (ran, go) = (ran.clone(), go.clone());
            async move {
                let name: u32 = job.payload()?;
                ran.add(name);
                go.pass().await;
                Ok(())
            }
        }
    });
    let settings = JobsSettings { alone_for: Duration::from_hours(1), ..JobsSettings::default() };
    let workers = place.workers;
    // One process runs all three, so that all three are suspects.
    place.workers = 1;
    let mut stage = place.start_with(settings, [handler]).await;
    let ids = stage.enqueue_all((0..3).map(|number| NewJob::new("run", &number))).await;
    stage.eventually("all run", async || ran.len() == 3).await;
    while stage.workers.len() < workers {
        stage.add_worker().await;
    }
    stage.kill_holder(ids[0]).await;
    stage
        .eventually("they run again", async || {
            stage.tick(Duration::from_millis(500)).await;
            // One per process.
            ran.len() >= 3 + stage.workers.len()
        })
        .await;
    let fresh = stage.enqueue(NewJob::new("run", &9)).await;
    for finished in 0..3 {
        let runs = 3 + (finished + stage.workers.len()).min(3);
        stage.eventually("as many run as may", async || ran.len() >= runs).await;
        stage.tick(Duration::from_millis(50)).await;
        assert_eq!(ran.list()[3..].iter().filter(|name| **name < 9).count(), runs - 3);
        go.open();
        let count_done = async || {
            let mut done = 0;
            for id in ids.iter().chain([&fresh]) {
                done += usize::from(stage.find(*id).await.state == JobState::Done);
            }
            done
        };
        stage.eventually("one is done", async || count_done().await == finished + 1).await;
    }
    go.open();
    stage.wait_for(fresh, JobState::Done).await;
    for id in ids {
        let done = stage.wait_for(id, JobState::Done).await;
        assert_eq!((done.job.crashes, done.job.attempts), (0, 0), "nothing is held against it");
    }
    assert_eq!(ran.list()[6], 9, "the others go first");
}

async fn a_job_alone_with_which_its_process_dies_three_times_is_set_aside_with_a_word(place: Place) {
    let (runs, told) = (Log::default(), Log::default());
    let poison = Handler::new("poison", {
        let runs = runs.clone();
        move |_| {
            runs.add(());
            std::future::pending()
        }
    });
    let note = Handler::new("note", |_| async { Ok(()) });
    let mut stage = place.start([poison.telling(&told), note]).await;
    let id = stage.enqueue_here(NewJob::new("poison", &())).await;
    for crash in 1..=3 {
        stage
            .eventually("it runs", async || {
                stage.pass(1).await;
                runs.len() == crash
            })
            .await;
        stage.kill_holder(id).await;
        let other = stage.enqueue(NewJob::new("note", &())).await;
        stage
            .eventually("the others go on", async || {
                stage.pass(1).await;
                stage.find(other).await.state == JobState::Done
            })
            .await;
    }
    stage
        .eventually("it is set aside", async || {
            stage.pass(1).await;
            stage.find(id).await.state == JobState::SetAside
        })
        .await;
    assert_eq!((runs.len(), told.list()), (3, vec![Failure::Crashed(3)]));
    assert!(has_mark(stage.database(), &format!("given up {id}")).await);
}

async fn a_job_that_gets_further_with_each_crash_is_not_set_aside(place: Place) {
    let (begun, go) = (Log::default(), Gate::default());
    let handler = Handler::new("steps", {
        let (begun, go) = (begun.clone(), go.clone());
        move |job: JobContext| {
            let (begun, go) = (begun.clone(), go.clone());
            async move {
                for step in 0..5_u32 {
                    let wait = async || {
                        begun.add(step);
                        go.pass().await;
                        Ok(())
                    };
                    job.step(&format!("step {step}"), wait).await?;
                }
                Ok::<(), JobError>(())
            }
        }
    });
    let mut stage = place.start([handler]).await;
    let id = stage.enqueue_here(NewJob::new("steps", &())).await;
    for step in 0..4 {
        stage
            .eventually("it begins a step", async || {
                stage.pass(1).await;
                begun.len() == 1 + 2 * step
            })
            .await;
        go.open();
        stage.eventually("it begins the next step", async || begun.len() == 2 + 2 * step).await;
        stage.kill_holder(id).await;
    }
    stage
        .eventually("it begins the last step", async || {
            stage.pass(1).await;
            begun.len() == 9
        })
        .await;
    go.open();
    let done = stage.wait_for(id, JobState::Done).await;
    assert_eq!((done.job.crashes, begun.list()), (0, vec![0, 1, 1, 2, 2, 3, 3, 4, 4]));
}

async fn jobs_that_finished_long_ago_are_deleted_with_their_steps(place: Place) {
    let hours = |hours: u64| Duration::from_secs(hours * 3600);
    let handler = |kind: &'static str, kept| {
        Handler::new(kind, |job: JobContext| async move { job.step("one", || async { Ok(1) }).await.map(drop) })
            .with(|settings| settings.retention = kept)
    };
    let stage = place.start([handler("short", hours(2)), handler("long", hours(200))]).await;
    let ids = stage.enqueue_all([NewJob::new("short", &()), NewJob::new("long", &()), NewJob::new("short", &())]).await;
    stage.wait_for_all(&ids, JobState::Done).await;
    let open = stage.enqueue(NewJob::new("short", &()).at(stage.now() + hours(9000))).await;
    let is_there = async |id| jobs::find(stage.database(), id).await.unwrap().is_some();
    let steps = async || -> i64 {
        let (count,): (i64,) = kernel::db::sql!(stage.database().db().read(), fetch_one, "SELECT COUNT(*) FROM job_steps").unwrap();
        count
    };
    assert_eq!(steps().await, 3);
    stage.tick(hours(1)).await;
    assert!(is_there(ids[0]).await);
    stage
        .eventually("what is over is gone", async || {
            stage.tick(hours(1)).await;
            !is_there(ids[0]).await && !is_there(ids[2]).await
        })
        .await;
    assert!(is_there(ids[1]).await && is_there(open).await);
    assert_eq!(steps().await, 1);
}
