//! Settling predictions with their feeds, and their statistics.

use std::time::Duration;

use serde_json::json;
use teamroom::features::standup::model::prediction::{Answer, Verdict};

use super::cast::{Cast, Part, find_prompt};
use super::newsstand::{Paper, shop};
use super::stage::{Setting, Stage, latency_question};
use crate::standup::change;
use crate::support::model::Script;
use crate::support::team::{Backing, eventually, on_one_store};

on_one_store!(
    a_call_is_settled_when_its_time_has_come,
    a_call_waits_for_its_feed_and_is_void_when_it_never_answers,
    five_calls_make_a_scoreboard,
    a_question_without_its_value_is_not_called,
);

/// A little more than the time until the question expires.
const EXPIRED: Duration = Duration::from_mins(125);
/// Ten minutes less than [`EXPIRED`].
const ALMOST: Duration = Duration::from_mins(115);
const DAY: Duration = Duration::from_hours(24);
const UNTIL_TOMORROW: Duration = Duration::from_mins(24 * 60 - 125);

/// A team with the question whether latency stays at 500 ms or less.
async fn stage(backing: Backing) -> Stage {
    Setting::on(backing).with_model().configure(|config| change(config, |standup| standup.question = Some(latency_question()))).open().await
}

fn calling(answer: &str) -> Cast {
    Cast::default().call(Script::Json(json!({"answer": answer, "confidence": 0.8, "reason": "The provider is calm."})))
}

async fn a_call_is_settled_when_its_time_has_come(backing: Backing) {
    let stage = stage(backing).await;
    for (day, (answer, latency, verdict, said)) in (1..).zip([
        ("yes", 431, Verdict::Hit, "**right**"),
        ("yes", 840, Verdict::Miss, "**wrong**"),
        ("no", 840, Verdict::Hit, "**right**"),
        ("uncertain", 840, Verdict::Uncalled, "undecided"),
    ]) {
        calling(answer).perform(&stage.team.model);
        stage.feeds.lay_out("shop", Paper::Json(shop(412, 231)));
        let held = stage.hold().await;
        assert!(held.report.call.is_ok(), "{:?}", held.report.call);
        stage.pass(ALMOST).await;
        stage.team.settle().await;
        assert_eq!(stage.store.list_open_predictions().await.expect("the calls").len(), 1, "its time has not come");
        stage.feeds.lay_out("shop", Paper::Json(shop(latency, 231)));
        stage.pass(Duration::from_mins(10)).await;
        let settled = stage.settled().await.settled.expect("settled");
        assert_eq!((settled.verdict, settled.value), (verdict, Some(f64::from(latency))), "{settled:?}");
        let told = stage.hears(&format!("latency was {latency} ms")).await;
        assert!(told.author == "Solus", "{told:?}");
        let verdicts = stage.said().await.iter().filter(|shown| shown.text.contains("-# Condition: shop latency")).count();
        assert_eq!(verdicts, day, "told once each");
        assert!(stage.said().await.iter().any(|shown| shown.text.contains(said)), "{said}");
        stage.pass(UNTIL_TOMORROW).await;
    }
    let list = stage.subcommand("predictions", "list", json!([])).await;
    assert!(list.contains("right") || list.contains("hit"), "{list}");
}

async fn a_call_waits_for_its_feed_and_is_void_when_it_never_answers(backing: Backing) {
    let stage = stage(backing).await;
    calling("yes").perform(&stage.team.model);
    stage.hold().await;
    stage.feeds.lay_out("shop", Paper::Down);
    let reads = stage.feeds.count_reads("shop");
    stage.pass(EXPIRED).await;
    eventually("the feed was asked", || async { stage.feeds.count_reads("shop") > reads }).await;
    stage.team.settle().await;
    assert_eq!(stage.store.list_open_predictions().await.expect("the calls").len(), 1, "nothing is guessed");
    // The feed answers when it is requested again.
    stage.feeds.lay_out("shop", Paper::Json(shop(431, 231)));
    stage.pass(Duration::from_mins(10)).await;
    assert_eq!(stage.settled().await.settled.expect("settled").verdict, Verdict::Hit);

    stage.pass(DAY).await;
    stage.hold().await;
    stage.feeds.lay_out("shop", Paper::Down);
    let reads = stage.feeds.count_reads("shop");
    stage.pass(2 * DAY + EXPIRED).await;
    eventually("the feed was asked", || async { stage.feeds.count_reads("shop") > reads }).await;
    stage.team.settle().await;
    assert_eq!(stage.store.list_open_predictions().await.expect("the calls").len(), 1, "two days are not three");
    stage.pass(DAY).await;
    let void = stage.settled().await.settled.expect("settled");
    assert_eq!((void.verdict, void.value), (Verdict::Void, None));
    assert!(stage.hears("**void**").await.text.contains("nobody could read the feed"));
    assert!(stage.subcommand("predictions", "score", json!([])).await.contains("1 void"));
}

async fn five_calls_make_a_scoreboard(backing: Backing) {
    let stage = stage(backing).await;
    for latency in [431, 431, 840, 840, 840] {
        calling("yes").perform(&stage.team.model);
        stage.feeds.lay_out("shop", Paper::Json(shop(412, 231)));
        let held = stage.hold().await;
        assert!(held.report.scoreboard.in_words().contains("too few to judge"), "{}", held.report.scoreboard.in_words());
        stage.feeds.lay_out("shop", Paper::Json(shop(latency, 231)));
        stage.pass(EXPIRED).await;
        stage.settled().await;
        stage.pass(UNTIL_TOMORROW).await;
    }
    let held = stage.hold().await;
    // Two of five, at 80 % each: 2 × 0.2² and 3 × 0.8² divided by five.
    let score = "accuracy 40 % of 5, Brier 0.40: be more careful";
    assert!(held.report.scoreboard.in_words().contains(score), "{}", held.report.scoreboard.in_words());
    stage.hears(&format!("Scoreboard: {score}")).await;
    for part in [Part::Call, Part::Report] {
        let solus = find_prompt(&stage.team.model, part, "Solus").expect("a prompt");
        assert!(solus.contains(score), "{part:?}: {solus}");
    }
    let card = stage.cards().await.pop().expect("a card").raw["embeds"][0].to_string();
    assert!(card.contains(score), "{card}");
    let shown = stage.subcommand("predictions", "score", json!([])).await;
    assert!(shown.contains("40 %"), "{shown}");
}

async fn a_question_without_its_value_is_not_called(backing: Backing) {
    let stage = stage(backing).await;
    calling("yes").perform(&stage.team.model);
    stage.feeds.lay_out("shop", Paper::Down);
    let held = stage.hold().await;
    let why = held.report.call.as_ref().expect_err("nothing can settle it");
    assert!(why.contains("the feed \"shop\" has no data"), "{why}");
    assert!(stage.store.list_predictions(1).await.expect("the calls").is_empty());
    assert!(stage.cards().await[0].raw["embeds"][0].to_string().contains("No call"));
    assert!(find_prompt(&stage.team.model, Part::Call, "Solus").is_none(), "nobody is asked what code cannot settle");
    // The model's answer "uncertain" is kept.
    stage.feeds.lay_out("shop", Paper::Json(shop(412, 231)));
    calling("uncertain").perform(&stage.team.model);
    let held = stage.hold().await;
    assert_eq!(held.report.call.expect("a call").call.answer, Answer::Uncertain);
}
