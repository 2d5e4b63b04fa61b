//! Journaled steps, and writes with an outdated token.

use kernel::db::sql;
use kernel::jobs::{self, JobContext, JobError, JobState, NewJob};
use std::future::{Ready, ready};

use super::stage::{Gate, Handler, Log, Place, has_mark, leave_mark, on_all};

on_all!(
    a_step_is_not_done_again_by_a_later_try,
    a_step_is_not_done_again_after_its_process_died,
    a_step_stored_with_its_effect_is_there_with_it_or_not_at_all,
    two_steps_of_one_name_fail_the_job,
    nothing_is_written_under_a_token_that_is_no_longer_good,
    a_job_ended_with_its_last_write_is_done_exactly_when_that_is_there,
);

async fn a_step_is_not_done_again_by_a_later_try(place: Place) {
    let did = Log::default();
    let handler = Handler::new("steps", {
        let did = did.clone();
        move |job| {
            let did = did.clone();
            async move {
                let one: String = job.step("one", || note(&did, "one")).await?;
                let two = format!("two after {one}");
                let two: String = job.step("two", || note(&did, &two)).await?;
                if job.job().attempts < 2 { Err(JobError::retry_later(two)) } else { Ok(()) }
            }
        }
    });
    let stage = place.start([handler]).await;
    let id = stage.enqueue(NewJob::new("steps", &())).await;
    stage.eventually("the first try has failed", async || stage.find(id).await.job.attempts == 1).await;
    stage.pass(5).await;
    stage.eventually("the second try has failed", async || stage.find(id).await.job.attempts == 2).await;
    stage.pass(10).await;
    let done = stage.wait_for(id, JobState::Done).await;
    assert_eq!((did.list(), done.job.token), (vec!["one".to_owned(), "two after one".to_owned()], 3));
}

async fn a_step_is_not_done_again_after_its_process_died(place: Place) {
    let (did, go) = (Log::default(), Gate::default());
    let handler = Handler::new("steps", {
        let (did, go) = (did.clone(), go.clone());
        move |job| {
            let (did, go) = (did.clone(), go.clone());
            async move {
                let _: String = job.step("one", || note(&did, "one")).await?;
                did.add("begins two".to_owned());
                go.pass().await;
                let _: String = job.step("two", || note(&did, "two")).await?;
                Ok(())
            }
        }
    });
    let mut stage = place.start([handler]).await;
    let id = stage.enqueue_here(NewJob::new("steps", &())).await;
    stage.eventually("it is in the second step", async || did.len() == 2).await;
    stage.kill_holder(id).await;
    stage
        .eventually("it is there again", async || {
            stage.pass(1).await;
            did.len() == 3
        })
        .await;
    go.open();
    stage.wait_for(id, JobState::Done).await;
    assert_eq!(did.list(), ["one", "begins two", "begins two", "two"]);
}

async fn a_step_stored_with_its_effect_is_there_with_it_or_not_at_all(place: Place) {
    let handler = Handler::new("steps", |job: JobContext| async move {
        if job.find_step::<u32>("post").await?.is_none() {
            let mut transaction = job.begin().await?;
            leave_mark(&mut transaction, "posted").await?;
            job.record_step(&mut transaction, "post", &7).await?;
            if job.job().attempts == 0 {
                return Err(JobError::retry_later("before the commit"));
            }
            transaction.commit().await?;
            return Err(JobError::retry_later("after the commit"));
        }
        assert_eq!(job.find_step::<u32>("post").await?, Some(7));
        Ok(())
    });
    let stage = place.start([handler]).await;
    let id = stage.enqueue(NewJob::new("steps", &())).await;
    stage.eventually("the first try has failed", async || stage.find(id).await.job.attempts == 1).await;
    assert!(!has_mark(stage.database(), "posted").await);
    stage.pass(5).await;
    stage.eventually("the second try has failed", async || stage.find(id).await.job.attempts == 2).await;
    assert!(has_mark(stage.database(), "posted").await);
    stage.pass(10).await;
    stage.wait_for(id, JobState::Done).await;
}

async fn two_steps_of_one_name_fail_the_job(place: Place) {
    let handler = Handler::new("steps", |job: JobContext| async move {
        job.step("ask", || async { Ok(1) }).await?;
        job.step("ask", || async { Ok(2) }).await?;
        Ok(())
    });
    let stage = place.start([handler]).await;
    let id = stage.enqueue(NewJob::new("steps", &())).await;
    let failed = stage.wait_for(id, JobState::Failed).await;
    assert_eq!(failed.error.as_deref(), Some("it has two steps named ask"));
}

/// The first run continues while another worker has the job, as in a suspended process.
async fn nothing_is_written_under_a_token_that_is_no_longer_good(place: Place) {
    let (refused, go) = (Log::default(), Gate::default());
    let handler = Handler::new("write", {
        let (refused, go) = (refused.clone(), go.clone());
        move |job: JobContext| {
            let (refused, go) = (refused.clone(), go.clone());
            async move {
                if job.job().token > 1 {
                    let mut transaction = job.begin_final().await?;
                    leave_mark(&mut transaction, "by the second").await?;
                    return transaction.finish().await;
                }
                go.pass().await;
                refused.add(is_refused(&job.begin().await.map(drop)));
                refused.add(is_refused(&job.step("one", || async { Ok(1) }).await.map(drop)));
                let mut transaction = job.begin_final().await?;
                leave_mark(&mut transaction, "by the first").await?;
                job.record_step(&mut transaction, "two", &2).await.unwrap_err();
                refused.add(is_refused(&transaction.finish().await));
                Ok(())
            }
        }
    });
    let stage = place.start([handler]).await;
    let id = stage.enqueue(NewJob::new("write", &())).await;
    stage.wait_for(id, JobState::Running).await;
    let mut transaction = stage.begin().await;
    sql!(transaction.on(), execute, "UPDATE jobs SET state = 'ready' WHERE id = $1", id.0).unwrap();
    // Triggers a check.
    jobs::wake_at(&mut transaction, id, stage.now()).await.unwrap();
    transaction.commit().await.unwrap();
    stage.wait_for(id, JobState::Done).await;
    go.open();
    stage.eventually("the first has tried everything", async || refused.len() == 3).await;
    assert_eq!(refused.list(), [true; 3]);
    assert!(has_mark(stage.database(), "by the second").await && !has_mark(stage.database(), "by the first").await);
    assert_eq!(stage.find(id).await.job.token, 2);
}

async fn a_job_ended_with_its_last_write_is_done_exactly_when_that_is_there(place: Place) {
    let handler = Handler::new("write", |job: JobContext| async move {
        let mut transaction = job.begin_final().await?;
        leave_mark(&mut transaction, "written").await?;
        if job.job().attempts == 0 {
            return Err(JobError::retry_later("before the end"));
        }
        transaction.finish().await?;
        panic!("what comes after the end changes nothing");
    });
    let stage = place.start([handler]).await;
    let id = stage.enqueue(NewJob::new("write", &())).await;
    stage.eventually("the first try has failed", async || stage.find(id).await.job.attempts == 1).await;
    assert!(!has_mark(stage.database(), "written").await);
    stage.pass(5).await;
    stage.wait_for(id, JobState::Done).await;
    assert!(has_mark(stage.database(), "written").await);
}

fn note(did: &Log<String>, what: &str) -> Ready<Result<String, JobError>> {
    did.add(what.to_owned());
    ready(Ok(what.to_owned()))
}

fn is_refused(result: &Result<(), JobError>) -> bool {
    matches!(result, Err(JobError::LostLease))
}
