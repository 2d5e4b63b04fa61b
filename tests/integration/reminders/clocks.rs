//! Clocks that jump ahead over several due times, and back before one.

use super::stage::Stage;
use crate::support::database::count;
use crate::support::team::{Backing, eventually, on_one_store};

on_one_store!(
    a_clock_that_jumps_ahead_brings_one_reminder_for_all_times,
    a_clock_that_goes_back_brings_nothing_twice,
    what_was_told_long_ago_is_forgotten,
);

async fn a_clock_that_jumps_ahead_brings_one_reminder_for_all_times(backing: Backing) {
    let mut stage = Stage::start(backing).await;
    stage.answer_to("remind me every day at 8 to water the plants").await;
    stage.jump("2026-12-01T11:00:00Z");
    let told = stage.told(1).await.remove(0);
    assert!(told.text.ends_with(">, due on Wed 25 Nov at 08:00 CET: water the plants"), "{}", told.text);
    stage.waits(1).await;
    // A team that was down also tells one reminder for all missed times.
    stage.restart_at("2026-12-05T11:00:00Z").await;
    assert!(stage.told(2).await[1].text.contains(", due on Wed 2 Dec at 08:00 CET: "));
    stage.jump("2026-12-06T07:00:05Z");
    assert!(stage.told(3).await[2].text.ends_with(">: water the plants"));
    stage.waits(1).await;
}

async fn a_clock_that_goes_back_brings_nothing_twice(backing: Backing) {
    let mut stage = Stage::start(backing).await;
    stage.answer_to("remind me tomorrow at 9 to call").await;
    stage.answer_to("remind me every day at 9 to water the plants").await;
    stage.jump("2026-11-25T08:00:05Z");
    stage.told(2).await;
    stage.restart_at("2026-11-24T08:00:00Z").await;
    stage.jump("2026-11-25T09:00:00Z");
    stage.waits(1).await;
    stage.team.settle().await;
    stage.told(2).await;
    stage.jump("2026-11-26T08:00:05Z");
    assert!(stage.told(3).await[2].text.ends_with(": water the plants"));
}

async fn what_was_told_long_ago_is_forgotten(backing: Backing) {
    let stage = Stage::start(backing).await;
    stage.answer_to("remind me tomorrow at 9 to call").await;
    stage.jump("2026-11-25T08:00:05Z");
    stage.told(1).await;
    let kept = async || count(&stage.team, "SELECT COUNT(*) FROM reminders").await;
    for (time, left) in [("2027-02-20T08:00:00Z", 2), ("2027-02-24T08:00:00Z", 2)] {
        stage.jump(time);
        stage.answer_to("remind me on 2027-12-01 to call again").await;
        eventually(&format!("{left} are kept at {time}"), || async { kept().await == left }).await;
    }
}
