//! When jobs fire, with one clock.

use chrono::TimeDelta;
use chrono_tz::Tz;
use kernel::chat::store::ChannelSeen;
use kernel::events::Audience;
use kernel::time::Clock;
use teamroom::features::schedule::model::{Actions, FiringState, Job, MissedRuns, Timetable};
use teamroom::features::schedule::store::end_firing;

use super::{KINDS, Place, Wall, draft, firings, post, posts, tidy_up, utc};
use crate::support::team::{Backing, on_both_stores};

on_both_stores!(
    an_instant_fires_once_together_with_what_it_posts,
    a_pause_of_three_days_ends_in_one_run_at_most,
    each_missed_run_is_made_up_for_where_that_is_wanted,
    a_clock_that_jumps_about_causes_no_burst_and_nothing_twice,
    a_missed_instant_that_comes_again_fires,
    clocks_that_differ_a_little_change_nothing,
    a_job_that_is_new_or_has_new_times_has_missed_nothing,
    what_is_to_be_carried_out_waits_for_whoever_does_it,
    what_fired_long_ago_is_forgotten_unless_it_is_open,
    a_job_without_anything_to_do_leaves_no_row,
    a_channel_that_nobody_knows_is_left_to_who_is_connected,
);

async fn an_instant_fires_once_together_with_what_it_posts(backing: Backing) {
    let place = Place::on(backing).await;
    let job = post("hello", "0 9 * * *", MissedRuns::Once);
    let clock = Wall::at("2026-11-20T08:59:00Z");
    let schedule = place.schedule(&clock, std::slice::from_ref(&job)).await;
    assert_eq!(schedule.look().await.unwrap().as_secs(), 30, "the clock is looked at twice a minute");
    clock.set("2026-11-20T08:59:50Z");
    assert_eq!(schedule.look().await.unwrap().as_secs(), 10);
    let store = place.open().await;
    assert_eq!(posts(&store).await, 0);
    clock.set("2026-11-20T09:00:00Z");
    for _ in 0..3 {
        schedule.look().await.unwrap();
        // Another process, and a restarted one.
        place.schedule(&clock, std::slice::from_ref(&job)).await.look().await.unwrap();
        clock.advance(TimeDelta::seconds(20));
    }
    let fired = firings(&store, &job).await;
    assert_eq!(fired.len(), 1);
    assert_eq!((fired[0].instant, fired[0].state), (utc("2026-11-20T09:00:00Z"), FiringState::Done));
    let message = store.next_pending(&"discord:10".into(), clock.now()).await.unwrap().unwrap().message;
    assert_eq!((message.text.as_str(), message.persona.as_str()), ("hello", "kelly"));
    assert_eq!(posts(&store).await, 1);
}

async fn a_pause_of_three_days_ends_in_one_run_at_most(backing: Backing) {
    let place = Place::on(backing).await;
    let jobs = [
        post("once-soon", "0 8 * * *", MissedRuns::Once),
        post("once-late", "0 6 * * *", MissedRuns::Once),
        post("skip", "0 8 * * *", MissedRuns::Skip),
        post("busy", "* * * * *", MissedRuns::Skip),
    ];
    let clock = Wall::at("2026-11-17T09:00:00Z");
    place.schedule(&clock, &jobs).await.look().await.unwrap();
    clock.set("2026-11-20T09:00:30Z");
    let schedule = place.schedule(&clock, &jobs).await;
    schedule.look().await.unwrap();
    schedule.look().await.unwrap();
    let store = place.open().await;
    for (job, state, instant, passed_over) in [
        (&jobs[0], FiringState::Done, "2026-11-20T08:00:00Z", 2),
        (&jobs[1], FiringState::Missed, "2026-11-20T06:00:00Z", 2),
        (&jobs[2], FiringState::Missed, "2026-11-20T08:00:00Z", 2),
        (&jobs[3], FiringState::Done, "2026-11-20T09:00:00Z", 999),
    ] {
        let rows = firings(&store, job).await;
        assert_eq!(rows.len(), 1, "{rows:?}");
        assert_eq!((rows[0].state, rows[0].instant, rows[0].passed_over), (state, utc(instant), passed_over), "{}", job.name);
    }
    assert_eq!(posts(&store).await, 2);
}

async fn each_missed_run_is_made_up_for_where_that_is_wanted(backing: Backing) {
    let place = Place::on(backing).await;
    let job = post("all", "*/30 * * * *", MissedRuns::All);
    let clock = Wall::at("2026-11-20T00:10:00Z");
    place.schedule(&clock, std::slice::from_ref(&job)).await.look().await.unwrap();
    clock.set("2026-11-20T09:10:00Z");
    place.schedule(&clock, std::slice::from_ref(&job)).await.look().await.unwrap();
    let store = place.open().await;
    let rows = firings(&store, &job).await;
    let instants: Vec<_> = rows.iter().map(|row| row.instant.format("%H:%M").to_string()).collect();
    assert_eq!(instants, ["07:30", "08:00", "08:30", "09:00"], "two hours are the deadline");
    assert_eq!(rows.iter().map(|row| row.passed_over).collect::<Vec<_>>(), [0, 0, 0, 14]);
    assert_eq!(posts(&store).await, 4);
}

async fn a_clock_that_jumps_about_causes_no_burst_and_nothing_twice(backing: Backing) {
    let place = Place::on(backing).await;
    let jobs = [post("daily", "0 9 * * *", MissedRuns::Once), post("often", "*/5 * * * *", MissedRuns::Once)];
    let clock = Wall::at("2026-11-20T08:30:00Z");
    let schedule = place.schedule(&clock, &jobs).await;
    let store = place.open().await;
    let mut before = 0;
    // On for twenty minutes, an hour ahead, back, three days ahead, back, an hour back, and on until the evening.
    for (jump, minutes) in [(0, 20), (60, 10), (-60, 20), (3 * 24 * 60, 10), (-3 * 24 * 60, 10), (-60, 90), (0, 600)] {
        clock.advance(TimeDelta::minutes(jump));
        for _ in 0..minutes * 2 {
            schedule.look().await.unwrap();
            let posted = posts(&store).await;
            assert!(posted - before <= 2, "{} at once at {}", posted - before, clock.now());
            before = posted;
            clock.advance(TimeDelta::seconds(30));
        }
    }
    let dailies = firings(&store, &jobs[0]).await;
    let fired: Vec<_> = dailies.iter().filter(|row| row.state == FiringState::Done).map(|row| row.instant).collect();
    assert_eq!(fired, [utc("2026-11-20T09:00:00Z"), utc("2026-11-23T09:00:00Z")], "the second while it was three days ahead");
    let rows = dailies.len() + firings(&store, &jobs[1]).await.len();
    assert_eq!(posts(&store).await, rows as u64, "one post for each row");
    assert!(clock.now() > utc("2026-11-20T18:00:00Z"), "{}", clock.now());
}

async fn a_missed_instant_that_comes_again_fires(backing: Backing) {
    let place = Place::on(backing).await;
    let job = post("noon", "0 12 * * *", MissedRuns::Skip);
    let clock = Wall::at("2026-11-20T08:00:00Z");
    let schedule = place.schedule(&clock, std::slice::from_ref(&job)).await;
    schedule.look().await.unwrap();
    clock.set("2026-11-20T15:00:00Z");
    schedule.look().await.unwrap();
    let store = place.open().await;
    assert_eq!(firings(&store, &job).await[0].state, FiringState::Missed);
    for time in ["2026-11-20T08:01:00Z", "2026-11-20T11:59:59Z", "2026-11-20T12:00:00Z", "2026-11-20T12:00:30Z"] {
        clock.set(time);
        schedule.look().await.unwrap();
    }
    let rows = firings(&store, &job).await;
    assert_eq!(rows.len(), 1);
    assert_eq!((rows[0].state, rows[0].at), (FiringState::Done, utc("2026-11-20T12:00:00Z")));
    assert_eq!(posts(&store).await, 1);
}

async fn clocks_that_differ_a_little_change_nothing(backing: Backing) {
    let place = Place::on(backing).await;
    let job = post("minutely", "* * * * *", MissedRuns::Once);
    let (ahead, behind) = (Wall::at("2026-11-20T08:02:00Z"), Wall::at("2026-11-20T07:58:00Z"));
    let first = place.schedule(&ahead, std::slice::from_ref(&job)).await;
    let second = place.schedule(&behind, std::slice::from_ref(&job)).await;
    for _ in 0..20 {
        first.look().await.unwrap();
        second.look().await.unwrap();
        ahead.advance(TimeDelta::seconds(30));
        behind.advance(TimeDelta::seconds(30));
    }
    let store = place.open().await;
    let rows = firings(&store, &job).await;
    assert_eq!(rows.len(), 9, "only the one ahead fired");
    assert!(rows.iter().all(|row| row.at == row.instant), "{rows:?}");
}

async fn a_job_that_is_new_or_has_new_times_has_missed_nothing(backing: Backing) {
    let place = Place::on(backing).await;
    let nine = post("daily", "0 9 * * *", MissedRuns::Once);
    let clock = Wall::at("2026-11-20T08:30:00Z");
    place.schedule(&clock, std::slice::from_ref(&nine)).await.look().await.unwrap();
    clock.set("2026-11-20T09:00:00Z");
    place.schedule(&clock, std::slice::from_ref(&nine)).await.look().await.unwrap();
    clock.set("2026-11-20T09:30:00Z");
    let eight = Job { timetable: Timetable::parse("0 8 * * *", chrono_tz::Tz::UTC).unwrap(), ..nine.clone() };
    place.schedule(&clock, std::slice::from_ref(&eight)).await.look().await.unwrap();
    let store = place.open().await;
    assert_eq!(firings(&store, &nine).await.len(), 1, "not twice on the day it was moved");
    clock.set("2026-11-21T08:00:00Z");
    place.schedule(&clock, std::slice::from_ref(&eight)).await.look().await.unwrap();
    assert_eq!(firings(&store, &nine).await.len(), 2);
}

async fn what_is_to_be_carried_out_waits_for_whoever_does_it(backing: Backing) {
    let place = Place::on(backing).await;
    let job = draft("chart", "*/5 * * * *", "chart").into_job(Tz::UTC, &Actions::of(KINDS)).unwrap();
    let clock = Wall::at("2026-11-20T08:58:00Z");
    let schedule = place.schedule(&clock, std::slice::from_ref(&job)).await;
    schedule.look().await.unwrap();
    clock.set("2026-11-20T09:00:01Z");
    schedule.look().await.unwrap();
    // A process with another clock.
    let store = place.open().await;
    let open = store.list_open_firings().await.unwrap();
    assert_eq!(open.len(), 1);
    assert_eq!((&open[0].job, open[0].state, &open[0].action), (&job.name, FiringState::Open, &job.action));
    let mut transaction = store.db().begin().await.unwrap();
    let instant = open[0].instant;
    assert!(end_firing(&mut transaction, &job.name, instant, FiringState::Done, Some("two settled"), instant).await.unwrap());
    assert!(!end_firing(&mut transaction, &job.name, instant, FiringState::Refused, None, instant).await.unwrap(), "it has ended");
    transaction.commit().await.unwrap();
    assert!(store.list_open_firings().await.unwrap().is_empty());
    assert_eq!(firings(&store, &job).await[0].note.as_deref(), Some("two settled"));
    let told = store.list_events_of(job.name.as_str(), &Audience::Team).await.unwrap();
    let told: Vec<_> = told.iter().map(|event| (event.kind.as_str(), event.text("action"), event.text("note"))).collect();
    assert_eq!(told, [("fired", Some("chart"), None), ("done", None, Some("two settled"))]);
}

async fn what_fired_long_ago_is_forgotten_unless_it_is_open(backing: Backing) {
    let place = Place::on(backing).await;
    let jobs = [
        post("hello", "0 9 * * *", MissedRuns::Once),
        draft("chart", "0 9 * * *", "chart").into_job(Tz::UTC, &Actions::of(KINDS)).unwrap(),
    ];
    let clock = Wall::at("2026-11-20T08:59:00Z");
    let schedule = place.schedule(&clock, &jobs).await;
    for time in ["2026-11-20T08:59:00Z", "2026-11-20T09:00:00Z", "2026-11-21T09:00:00Z"] {
        clock.set(time);
        schedule.look().await.unwrap();
    }
    let store = place.open().await;
    assert_eq!(store.delete_firings_before(utc("2026-11-21T00:00:00Z"), 10).await.unwrap(), 1);
    assert_eq!(firings(&store, &jobs[0]).await[0].instant, utc("2026-11-21T09:00:00Z"));
    assert_eq!(firings(&store, &jobs[1]).await.len(), 2, "nobody has told how they went");
}

async fn a_job_without_anything_to_do_leaves_no_row(backing: Backing) {
    let place = Place::on(backing).await;
    let clock = Wall::at("2026-11-20T08:58:00Z");
    let schedule = place.schedule(&clock, &[tidy_up()]).await;
    let store = place.open().await;
    schedule.look().await.unwrap();
    clock.set("2026-11-20T09:00:00Z");
    schedule.look().await.unwrap();
    assert!(firings(&store, &tidy_up()).await.is_empty());
    assert_eq!(store.find_considered(&tidy_up()).await.unwrap(), Some(clock.now()));
}

async fn a_channel_that_nobody_knows_is_left_to_who_is_connected(backing: Backing) {
    let place = Place::on(backing).await;
    let job = Job { channel: Some("general".into()), ..post("hello", "0 9 * * *", MissedRuns::Once) };
    let clock = Wall::at("2026-11-20T08:59:00Z");
    let schedule = place.schedule(&clock, std::slice::from_ref(&job)).await;
    schedule.look().await.unwrap();
    clock.set("2026-11-20T09:00:00Z");
    schedule.look().await.unwrap();
    let store = place.open().await;
    assert!(firings(&store, &job).await.is_empty());
    let general = kernel::chat::message::Channel {
        id: "discord:10".into(),
        name: "general".into(),
        place: kernel::chat::message::Place::Server,
        private: false,
        shared: false,
    };
    store.record_channels_seen(&[ChannelSeen { channel: general, last_message: "1".into(), last_at: clock.now() }]).await.unwrap();
    clock.set("2026-11-20T09:00:20Z");
    schedule.look().await.unwrap();
    assert_eq!(firings(&store, &job).await.len(), 1, "it is in time still");
    assert_eq!(posts(&store).await, 1);
}
