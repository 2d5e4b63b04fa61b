//! Failed attempts, sleeping jobs, and runs over their time limit.

use kernel::jobs::{self, Failure, JobContext, JobError, JobState, NewJob};

use super::stage::{Gate, Handler, Log, Place, has_mark, noon, on_all, seconds};

on_all!(
    a_try_that_fails_is_followed_by_others_at_growing_distances_and_then_a_person_is_told,
    a_handler_says_when_it_is_to_be_tried_again_or_never,
    a_panic_is_a_failed_try,
    a_job_that_waits_for_another_try_keeps_its_place_unless_its_kind_gives_it_up,
    a_job_that_sleeps_goes_on_at_its_time_and_holds_up_nobody,
    a_job_that_sleeps_can_be_woken_also_while_it_is_about_to_sleep,
    a_run_that_hangs_is_ended_at_its_time_limit_and_counts_as_a_try,
);

async fn a_try_that_fails_is_followed_by_others_at_growing_distances_and_then_a_person_is_told(place: Place) {
    let (tries, told) = (Log::default(), Log::default());
    let handler = Handler::new("fail", {
        let tries = tries.clone();
        move |job: JobContext| {
            tries.add(job.now());
            async { Err(JobError::retry_later("no answer")) }
        }
    });
    let stage = place.start([handler.with(|settings| settings.max_attempts = 3).telling(&told)]).await;
    let id = stage.enqueue(NewJob::new("fail", &())).await;
    for (tried, wait) in [(1, 5), (2, 10)] {
        stage.eventually("it was tried", async || stage.find(id).await.job.attempts == tried).await;
        let again_at = stage.find(id).await.run_at;
        assert_eq!((again_at - *tries.list().last().unwrap()).num_seconds(), wait);
        stage.pass(wait.unsigned_abs() + 1).await;
    }
    let failed = stage.wait_for(id, JobState::Failed).await;
    assert_eq!(tries.len(), 3);
    assert_eq!(failed.error.as_deref(), Some("tried 3 times; at last: no answer"));
    assert_eq!(told.list(), [Failure::Failed("tried 3 times; at last: no answer".into())]);
    assert!(has_mark(stage.database(), &format!("given up {id}")).await);
}

async fn a_handler_says_when_it_is_to_be_tried_again_or_never(place: Place) {
    let told = Log::default();
    let handler = Handler::new("fail", |job: JobContext| async move {
        if job.job().attempts == 0 { Err(JobError::retry(seconds(90).to_std().unwrap(), "busy")) } else { Err(JobError::fail("gone")) }
    });
    let stage = place.start([handler.telling(&told)]).await;
    let id = stage.enqueue(NewJob::new("fail", &())).await;
    stage.eventually("it was tried", async || stage.find(id).await.job.attempts == 1).await;
    let waits = stage.find(id).await;
    assert_eq!(((waits.run_at - noon()).num_seconds(), waits.error.as_deref()), (90, Some("busy")));
    stage.pass(90).await;
    stage.wait_for(id, JobState::Failed).await;
    assert_eq!(told.list(), [Failure::Failed("gone".into())]);
    // A person has fixed the problem and retries the job.
    let mut transaction = stage.begin().await;
    assert!(jobs::run_again(&mut transaction, id).await.unwrap());
    transaction.commit().await.unwrap();
    stage.eventually("it was tried", async || stage.find(id).await.job.attempts == 1).await;
}

async fn a_panic_is_a_failed_try(place: Place) {
    let handler = Handler::new("panic", |job: JobContext| async move {
        assert!(job.job().attempts > 0, "out of order");
        Ok(())
    });
    let stage = place.start([handler]).await;
    let id = stage.enqueue(NewJob::new("panic", &())).await;
    stage.eventually("it was tried", async || stage.find(id).await.job.attempts == 1).await;
    assert_eq!(stage.find(id).await.error.as_deref(), Some("it panicked: out of order"));
    stage.pass(5).await;
    stage.wait_for(id, JobState::Done).await;
}

async fn a_job_that_waits_for_another_try_keeps_its_place_unless_its_kind_gives_it_up(place: Place) {
    let ran = Log::default();
    let handler = |kind: &'static str| {
        let ran = ran.clone();
        Handler::new(kind, move |job: JobContext| {
            let ran = ran.clone();
            async move {
                let name: String = job.payload()?;
                if name.starts_with("first") && job.job().attempts == 0 {
                    return Err(JobError::retry_later("not yet"));
                }
                ran.add(name);
                Ok(())
            }
        })
    };
    let stage = place.start([handler("keeps"), handler("gives_up").with(|settings| settings.keeps_place = false)]).await;
    let mut ids = Vec::new();
    for kind in ["keeps", "gives_up"] {
        for place in ["first", "second"] {
            ids.push(stage.enqueue(NewJob::new(kind, &format!("{place} {kind}")).queue(kind)).await);
        }
    }
    stage.eventually("both were tried", async || stage.find(ids[0]).await.job.attempts + stage.find(ids[2]).await.job.attempts == 2).await;
    stage.wait_for(ids[3], JobState::Done).await;
    assert_eq!(ran.list(), ["second gives_up"]);
    stage.pass(5).await;
    stage.wait_for_all(&ids, JobState::Done).await;
    let of_keeps: Vec<_> = ran.list().into_iter().filter(|name| name.ends_with("keeps")).collect();
    assert_eq!(of_keeps, ["first keeps", "second keeps"]);
}

async fn a_job_that_sleeps_goes_on_at_its_time_and_holds_up_nobody(place: Place) {
    let ran = Log::default();
    let handler = Handler::new("sleep", {
        let ran = ran.clone();
        move |job: JobContext| {
            let ran = ran.clone();
            async move {
                let name: String = job.payload()?;
                if name == "sleeper" {
                    let until = job.step("until", || async { Ok(job.now() + seconds(600)) }).await?;
                    job.sleep_until(until)?;
                }
                ran.add(name);
                Ok(())
            }
        }
    });
    let stage = place.start([handler]).await;
    let sleeper = stage.enqueue(NewJob::new("sleep", &"sleeper").queue("one")).await;
    let other = stage.enqueue(NewJob::new("sleep", &"other").queue("one")).await;
    stage.wait_for(other, JobState::Done).await;
    stage.pass(599).await;
    assert_eq!((stage.find(sleeper).await.state, stage.find(sleeper).await.job.attempts), (JobState::Ready, 0));
    stage.pass(1).await;
    stage.wait_for(sleeper, JobState::Done).await;
    assert_eq!(ran.list(), ["other", "sleeper"]);
}

async fn a_job_that_sleeps_can_be_woken_also_while_it_is_about_to_sleep(place: Place) {
    let (looks, go) = (Log::default(), Gate::default());
    let handler = Handler::new("wait", {
        let (looks, go) = (looks.clone(), go.clone());
        move |job: JobContext| {
            let (looks, go) = (looks.clone(), go.clone());
            async move {
                looks.add(());
                match looks.len() {
                    1 => job.sleep_until(noon() + seconds(3600)),
                    2 => {
                        go.pass().await;
                        job.sleep_until(noon() + seconds(3600))
                    }
                    _ => Ok(()),
                }
            }
        }
    });
    let stage = place.start([handler]).await;
    let wake = async |id| {
        let mut transaction = stage.begin().await;
        assert!(jobs::wake_at(&mut transaction, id, stage.now()).await.unwrap());
        transaction.commit().await.unwrap();
    };
    let id = stage.enqueue(NewJob::new("wait", &())).await;
    stage.eventually("it sleeps", async || looks.len() == 1 && stage.find(id).await.state == JobState::Ready).await;
    wake(id).await;
    stage.eventually("it was woken", async || looks.len() == 2).await;
    wake(id).await;
    go.open();
    stage.wait_for(id, JobState::Done).await;
}

async fn a_run_that_hangs_is_ended_at_its_time_limit_and_counts_as_a_try(place: Place) {
    let runs = Log::default();
    let handler = Handler::new("hang", {
        let runs = runs.clone();
        move |job: JobContext| {
            let runs = runs.clone();
            async move {
                runs.add(());
                if job.job().attempts == 0 {
                    std::future::pending::<()>().await;
                }
                Ok(())
            }
        }
    });
    let stage = place.start([handler.with(|settings| settings.time_limit = seconds(30).to_std().unwrap())]).await;
    let id = stage.enqueue(NewJob::new("hang", &())).await;
    stage.eventually("it hangs", async || runs.len() == 1).await;
    stage.pass(29).await;
    assert_eq!(stage.find(id).await.state, JobState::Running);
    stage.pass(1).await;
    stage.eventually("it is ended", async || stage.find(id).await.job.attempts == 1).await;
    assert_eq!(stage.find(id).await.error.as_deref(), Some("it took longer than 30 s"));
    stage.pass(5).await;
    stage.wait_for(id, JobState::Done).await;
}
