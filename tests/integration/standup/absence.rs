//! People who are away.

use std::time::Duration;

use chrono::Days;
use serde_json::json;
use teamroom::features::meeting::model::SeatState;

use super::cast::Cast;
use super::checkins::{hears, opted_in, scheduled, write};
use super::stage::{CHANNEL, START, Setting, Stage};
use crate::support::database::count;
use crate::support::team::{Backing, eventually, on_both_stores, on_one_store};

on_both_stores!(
    who_is_away_is_not_asked_before_the_standup,
    who_will_be_away_is_asked_until_then,
    a_second_absence_does_not_replace_the_first,
);
on_one_store!(
    who_is_away_is_not_asked_in_the_standup,
    an_absence_is_said_in_a_check_in_and_in_a_report,
    who_says_nothing_about_it_is_not_away,
);

const AWAY: &str = "SELECT COUNT(*) FROM checkin_people WHERE channel = ''";

/// The day in three days, as a person writes it and as the team confirms it.
fn end(stage: &Stage) -> (String, String) {
    let zone = stage.team.config.schedules.zone;
    let day = stage.now().with_timezone(&zone).date_naive() + Days::new(3);
    (day.format("%-d %B").to_string(), day.format("%A, %-d %B").to_string())
}

async fn who_is_away_is_not_asked_before_the_standup(backing: Backing) {
    let stage = opted_in(Setting::on(backing)).await;
    let (said, confirmed) = end(&stage);
    write(&stage, &format!("I'm away until {said}.")).await;
    assert!(hears(&stage, 1).await[0].starts_with(&format!("Noted: you are away until {confirmed}. ")));
    // An hour before the standup, and on the next day.
    stage.pass(Duration::from_mins(58)).await;
    stage.pass(Duration::from_hours(24)).await;
    assert_eq!(count(&stage.team, "SELECT COUNT(*) FROM checkins").await, 0);
    hears(&stage, 1).await;

    write(&stage, "I'm back!").await;
    hears(&stage, 2).await;
    stage.pass(Duration::from_mins(1)).await;
    eventually("the person is asked again", || async { count(&stage.team, "SELECT COUNT(*) FROM checkins").await == 1 }).await;
    assert_eq!(count(&stage.team, AWAY).await, 0);

    // On the day itself they are asked without a word.
    let stage = opted_in(Setting::on(backing)).await;
    let (day, confirmed) = end(&stage);
    let told = stage.subcommand("standup", "away", json!([{"type": 3, "name": "until", "value": day}])).await;
    assert!(told.starts_with(&format!("Noted: you are away until {confirmed}. ")), "{told}");
    stage.pass(Duration::from_hours(48) + Duration::from_mins(58)).await;
    assert_eq!(count(&stage.team, "SELECT COUNT(*) FROM checkins").await, 0);
    stage.pass(Duration::from_hours(24)).await;
    eventually("the person is asked", || async { count(&stage.team, "SELECT COUNT(*) FROM checkins").await == 1 }).await;
}

async fn who_will_be_away_is_asked_until_then(backing: Backing) {
    let stage = opted_in(Setting::on(backing)).await;
    let zone = stage.team.config.schedules.zone;
    let today = stage.now().with_timezone(&zone).date_naive();
    let day = |days| (today + Days::new(days)).format("%-d %B").to_string();
    write(&stage, &format!("I'm away from {} to {}.", day(1), day(2))).await;
    let told = hears(&stage, 1).await.remove(0);
    let full = |days| (today + Days::new(days)).format("%A, %-d %B").to_string();
    assert!(told.starts_with(&format!("Noted: you are away from {}, until {}. ", full(1), full(3))), "{told}");
    let asked = async || count(&stage.team, "SELECT COUNT(*) FROM checkins").await;
    // Today, on the two days, and on the day after them.
    stage.pass(Duration::from_mins(58)).await;
    eventually("the person is asked today", || async { asked().await == 1 }).await;
    for _ in 0..2 {
        stage.pass(Duration::from_hours(24)).await;
        stage.team.settle().await;
        assert_eq!(asked().await, 1);
    }
    stage.pass(Duration::from_hours(24)).await;
    eventually("the person is asked again", || async { asked().await == 2 }).await;
}

async fn a_second_absence_does_not_replace_the_first(backing: Backing) {
    let stage = opted_in(Setting::on(backing)).await;
    let today = stage.now().with_timezone(&stage.team.config.schedules.zone).date_naive();
    let day = |days| (today + Days::new(days)).format("%-d %B").to_string();
    let full = |days| (today + Days::new(days)).format("%A, %-d %B").to_string();
    let away = async |said: String| stage.subcommand("standup", "away", json!([{"type": 3, "name": "until", "value": said}])).await;
    away(format!("{} to {}", day(10), day(12))).await;
    let near = format!("Noted: you are away until {}. I keep one absence", full(3));
    let told = away(day(3)).await;
    assert!(told.starts_with(&near) && told.contains(&format!("from {}, until {}", full(10), full(13))), "{told}");
    // It is kept, so the later one is told in vain until it is over.
    let told = away(format!("{} to {}", day(10), day(12))).await;
    assert!(told.starts_with(&near), "{told}");
    let told = away(format!("{} to {}", day(3), day(4))).await;
    assert!(told.starts_with(&format!("Noted: you are away until {}. I won't ask", full(5))), "{told}");
    assert_eq!(count(&stage.team, AWAY).await, 1);
}

async fn who_is_away_is_not_asked_in_the_standup(backing: Backing) {
    let stage = Setting::on(backing).with_model().with_person().open().await;
    Cast::default().perform(&stage.team.model);
    let (said, confirmed) = end(&stage);
    stage.team.say(CHANNEL, &format!("I'm on vacation until {said}")).await;
    stage.hears(&format!("Noted: you are away until {confirmed}. ")).await;
    stage.team.say(CHANNEL, START).await;
    let held = stage.over().await;
    assert_eq!(held.seats.len(), 6, "{:?}", held.seats);
    stage.hears(&format!("Away: Ann (until {confirmed})")).await;

    // In the words of nobody's rule a persona uses this command.
    assert!(stage.subcommand("standup", "back", json!([])).await.starts_with("Welcome back."));
    stage.team.say(CHANNEL, START).await;
    stage.speaking(6).await;
    stage.subcommand("standup", "wrap", json!([])).await;
    assert_eq!(stage.over().await.seats.len(), 7);
}

async fn an_absence_is_said_in_a_check_in_and_in_a_report(backing: Backing) {
    let stage = opted_in(Setting::on(backing)).await;
    let (said, confirmed) = end(&stage);
    stage.pass(Duration::from_mins(58)).await;
    hears(&stage, 1).await;
    write(&stage, &format!("The import is done. I'm away until {said}.")).await;
    let told = hears(&stage, 2).await.remove(1);
    assert!(told.starts_with("Thanks, noted for the standup") && told.contains(&format!("away until {confirmed}")), "{told}");
    assert_eq!((count(&stage.team, AWAY).await, count(&stage.team, "SELECT COUNT(*) FROM checkin_replies").await), (1, 1));

    let stage = Setting::on(backing).with_model().with_person().open().await;
    Cast::default().perform(&stage.team.model);
    stage.team.say(CHANNEL, START).await;
    stage.speaking(6).await;
    stage.team.say(CHANNEL, &format!("The import is done. I'm away until {said}.")).await;
    stage.hears(&format!("Noted: you are away until {confirmed}. ")).await;
    stage.reported(6).await;
    let held = stage.over().await;
    assert_eq!(held.seats[6].state, SeatState::Spoke);
    assert_eq!(count(&stage.team, AWAY).await, 1);
}

async fn who_says_nothing_about_it_is_not_away(backing: Backing) {
    let mut stage = scheduled(Setting::on(backing)).await;
    stage.resume_time();
    for text in ["Bob is away until Thursday", "I'm back"] {
        stage.team.say(CHANNEL, text).await;
        stage.team.settle().await;
    }
    assert!(stage.said().await.iter().all(|shown| !shown.text.contains("away until") && !shown.text.contains("Welcome back")));
    assert_eq!(count(&stage.team, AWAY).await, 0);
    let told = stage.subcommand("standup", "away", json!([{"type": 3, "name": "until", "value": "the cows come home"}])).await;
    assert!(told.starts_with("Until when are you away?"), "{told}");
}
