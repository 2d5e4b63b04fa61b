//! Questions about what feeds measure and about standups, without a model.

use std::time::Duration;

use serde_json::json;

use super::newsstand::Paper;
use super::stage::{CHANNEL, Setting};
use crate::support::team::{Backing, on_one_store};

on_one_store!(what_a_feed_measures_answers_a_question_about_it, how_the_last_standup_went_is_told_in_its_channel_alone,);

async fn what_a_feed_measures_answers_a_question_about_it(backing: Backing) {
    let stage = Setting::on(backing).with_builds().open().await;
    stage.feeds.lay_out("builds", Paper::Json(json!({"failed": 4, "minutes": 11})));
    stage.team.say("general", "vince, how high is the latency of the shop?").await;
    stage.team.say("general", "sentinel, how many jobs failed?").await;
    stage.team.say("general", "vince, what are the odds of a strike?").await;
    let answers = stage.team.wait_for_answers("general", 3).await;
    stage.feeds.lay_out("builds", Paper::Down);
    stage.pass(Duration::from_mins(10)).await;
    stage.team.say("general", "sentinel, how many minutes do builds take?").await;
    let told = stage.team.wait_for_answers("general", 4).await.pop().expect("an answer").text;
    assert!(told.contains("builds: no data since ") && told.contains("it answered 503"), "{told}");
    let answer = |author: &str, part: &str| answers.iter().any(|shown| shown.author == author && shown.text.contains(part));
    assert!(answer("Vince", "> shop: latency 412 ms; orders 231\n[shop, "), "{answers:#?}");
    assert!(answer("Sentinel", "> builds: failed jobs 4; minutes 11\n[builds, "), "{answers:#?}");
    assert!(answer("Vince", "I found nothing about \"odds strike\""), "{answers:#?}");
}

async fn how_the_last_standup_went_is_told_in_its_channel_alone(backing: Backing) {
    let stage = Setting::on(backing).open().await;
    stage.team.say(CHANNEL, "when does it start?").await;
    stage.hears("No standup is scheduled here").await;
    stage.team.say(CHANNEL, "how did the last standup go?").await;
    stage.hears("No standup was held here yet").await;
    let held = stage.hold().await;
    stage.team.say(CHANNEL, "how did the last standup go?").await;
    let told = stage.hears("The last standup here").await;
    let first = held.report.tldr[0].split_whitespace().next().expect("a word");
    assert!(told.author == "Kelly" && told.text.contains(first) && told.text.contains("/report show"), "{told:?}");
    stage.team.say("general", "kelly, how did the last standup go?").await;
    let elsewhere = stage.team.wait_for_answers("general", 1).await;
    assert!(!elsewhere[0].text.contains("The last standup here"), "{elsewhere:#?}");
}
