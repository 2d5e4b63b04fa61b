//! Changes of the schedule by people, as in `/schedule` and `teamroom schedule`.

use chrono::TimeDelta;
use teamroom::features::schedule::ScheduleError;
use teamroom::features::schedule::model::{Job, JobDraft, JobOrigin, MissedRuns};

use super::{Place, Wall, draft, firings, post, posts, tidy_up, utc};
use crate::support::team::{Backing, on_both_stores, on_one_store};

on_both_stores!(
    a_job_that_was_added_outlives_the_process_and_can_be_removed,
    a_pause_outlives_the_process_and_what_came_meanwhile_is_not_made_up_for,
);
on_one_store!(
    a_job_run_by_hand_twice_within_a_second_fires_once,
    whatever_cannot_be_done_is_refused_in_a_sentence,
    the_file_wins_over_a_job_of_the_same_name,
    a_job_turned_off_in_the_file_never_comes,
);

async fn a_job_that_was_added_outlives_the_process_and_can_be_removed(backing: Backing) {
    let place = Place::on(backing).await;
    let clock = Wall::at("2026-11-20T08:59:30Z");
    let job = place.schedule(&clock, &[]).await.add(draft("retro", "0 9 * * *", "post: Time."), "Ada").await.unwrap();
    assert_eq!(job.origin, JobOrigin::Command);
    clock.set("2026-11-20T09:00:00Z");
    let later = place.schedule(&clock, &[]).await;
    later.look().await.unwrap();
    let store = place.open().await;
    assert_eq!(firings(&store, &job).await.len(), 1, "its first instant came before any look at the clock");
    let listed = later.list().await.unwrap();
    assert_eq!((listed.len(), &listed[0].job), (1, &job));
    assert_eq!(listed[0].next, Some(utc("2026-11-21T09:00:00Z")));
    assert_eq!(listed[0].last.as_ref().unwrap().instant, utc("2026-11-20T09:00:00Z"));
    assert_eq!(later.remove("retro").await.unwrap(), job.name);
    assert!(place.schedule(&clock, &[]).await.list().await.unwrap().is_empty());
}

async fn a_pause_outlives_the_process_and_what_came_meanwhile_is_not_made_up_for(backing: Backing) {
    let place = Place::on(backing).await;
    let jobs = [post("hourly", "0 * * * *", MissedRuns::All)];
    let clock = Wall::at("2026-11-20T08:30:00Z");
    let schedule = place.schedule(&clock, &jobs).await;
    schedule.look().await.unwrap();
    schedule.pause("hourly", "Ada").await.unwrap();
    let again = place.schedule(&clock, &jobs).await;
    clock.set("2026-11-20T09:00:00Z");
    again.look().await.unwrap();
    let status = again.list().await.unwrap().remove(0);
    assert_eq!((status.paused_by.as_deref(), status.next, status.last), (Some("Ada"), None, None));
    // No check for an hour and a half, while another process resumes the job.
    clock.set("2026-11-20T10:30:00Z");
    place.schedule(&clock, &jobs).await.resume("hourly").await.unwrap();
    again.look().await.unwrap();
    let store = place.open().await;
    assert_eq!(posts(&store).await, 0);
    clock.set("2026-11-20T11:00:00Z");
    again.look().await.unwrap();
    assert_eq!(posts(&store).await, 1);
}

async fn a_job_run_by_hand_twice_within_a_second_fires_once(backing: Backing) {
    let place = Place::on(backing).await;
    let jobs = [post("hello", "0 9 * * *", MissedRuns::Once)];
    let clock = Wall::at("2026-11-20T08:30:00.250Z");
    let schedule = place.schedule(&clock, &jobs).await;
    let firing = schedule.run("hello").await.unwrap();
    assert_eq!(firing.instant, utc("2026-11-20T08:30:00Z"));
    clock.advance(TimeDelta::milliseconds(500));
    let refused = schedule.run("hello").await.unwrap_err();
    assert_eq!(refused.to_string(), "hello was run this very second");
    let store = place.open().await;
    assert_eq!(posts(&store).await, 1);
    clock.advance(TimeDelta::seconds(1));
    schedule.run("hello").await.unwrap();
    assert_eq!(posts(&store).await, 2);
    // The timetable continues normally.
    schedule.look().await.unwrap();
    clock.set("2026-11-20T09:00:00Z");
    schedule.look().await.unwrap();
    assert_eq!(posts(&store).await, 3);
}

async fn whatever_cannot_be_done_is_refused_in_a_sentence(backing: Backing) {
    let place = Place::on(backing).await;
    let clock = Wall::at("2026-11-20T08:30:00Z");
    let file = Job { origin: JobOrigin::File, ..post("filed", "0 9 * * *", MissedRuns::Once) };
    let lost = Job { channel: Some("nowhere".into()), ..post("lost", "0 9 * * *", MissedRuns::Once) };
    let schedule = place.schedule(&clock, &[tidy_up(), file, lost]).await;
    schedule.add(draft("mine", "0 9 * * *", "chart"), "Ada").await.unwrap();
    let add = async |draft: JobDraft| schedule.add(draft, "Ada").await.unwrap_err();
    let told = |error: ScheduleError, expected: &str| assert!(error.to_string().contains(expected), "{error}");

    told(add(draft("mine", "0 9 * * *", "chart")).await, "there is a job mine already; give this one another name");
    told(add(draft("tidy-up", "0 9 * * *", "chart")).await, "there is a job tidy-up already");
    told(add(draft("Mine", "0 9 * * *", "chart")).await, "is no name for a job");
    told(add(draft("new", "every day", "chart")).await, "fields; give 5");
    told(add(draft("new", "0 25 * * *", "chart")).await, "is no cron expression");
    told(add(draft("new", "0 9 * * *", "party")).await, "is no action; give \"report\", \"chart\"");
    told(add(draft("new", "*/5 * * * * *", "report")).await, "more often than once a minute");
    told(add(JobDraft { zone: Some("Mars".into()), ..draft("new", "0 9 * * *", "chart") }).await, "there is no time zone \"Mars\"");
    told(add(JobDraft { channel: None, ..draft("new", "0 9 * * *", "report") }).await, "needs a channel");
    let unknown = "there is no job nobody; there are tidy-up, filed, lost, mine";
    told(schedule.pause("nobody", "Ada").await.unwrap_err(), unknown);
    told(schedule.resume("nobody").await.unwrap_err(), unknown);
    told(schedule.remove("nobody").await.unwrap_err(), unknown);
    told(schedule.run("nobody").await.unwrap_err(), unknown);
    told(schedule.remove("tidy-up").await.unwrap_err(), "is built in and cannot be removed; pause it instead");
    told(schedule.remove("filed").await.unwrap_err(), "stands in teamroom.toml; remove its section there");
    told(schedule.resume("filed").await.unwrap_err(), "filed is not paused");
    schedule.pause("filed", "Ada").await.unwrap();
    told(schedule.pause("filed", "Ada").await.unwrap_err(), "filed is paused already");
    told(schedule.run("lost").await.unwrap_err(), "nothing was ever heard in a channel nowhere; give its id");
}

async fn the_file_wins_over_a_job_of_the_same_name(backing: Backing) {
    let place = Place::on(backing).await;
    let clock = Wall::at("2026-11-20T08:30:00Z");
    place.schedule(&clock, &[]).await.add(draft("retro", "0 9 * * *", "post: mine"), "Ada").await.unwrap();
    let file = Job { origin: JobOrigin::File, ..post("retro", "0 10 * * *", MissedRuns::Once) };
    let schedule = place.schedule(&clock, std::slice::from_ref(&file)).await;
    assert_eq!(schedule.list_jobs().await.unwrap(), std::slice::from_ref(&file));
    schedule.remove("retro").await.unwrap();
    assert!(schedule.remove("retro").await.unwrap_err().to_string().contains("teamroom.toml"), "only the hidden one was removed");
}

async fn a_job_turned_off_in_the_file_never_comes(backing: Backing) {
    let place = Place::on(backing).await;
    let clock = Wall::at("2026-11-20T08:59:00Z");
    let off = Job { enabled: false, ..post("report", "0 9 * * *", MissedRuns::Once) };
    let schedule = place.schedule(&clock, std::slice::from_ref(&off)).await;
    schedule.look().await.unwrap();
    clock.set("2026-11-20T09:00:00Z");
    schedule.look().await.unwrap();
    assert!(firings(&place.open().await, &off).await.is_empty());
    assert_eq!(schedule.list().await.unwrap()[0].next, None);
    assert!(schedule.resume("report").await.unwrap_err().to_string().contains("turned off in teamroom.toml"));
}
