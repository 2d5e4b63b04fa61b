//! Questions about what a plan assumes: asked with answers to choose from, and nobody waits for them.

use serde_json::json;
use teamroom::features::mission::model::{Mission, MissionStatus};
use tokio::sync::watch;

use super::stage::{Play, comes_to, command_text, hand_over, hears, labels, open, press_on, press_twice, thread};
use crate::backlog::part::is_work;
use crate::backlog::stage::{Setting, Stage};
use crate::support::team::{Backing, Shown, eventually, on_one_store};

on_one_store!(an_answer_reaches_those_who_work_once, what_was_assumed_anyway_changes_nothing);

/// A mission whose steps are being worked on, and its question.
async fn asked(backing: Backing) -> (Stage, Mission, Shown, watch::Sender<bool>) {
    let assumed = json!([
        {"text": "Tea is sold in bags.", "question": null, "suggestions": ["Bags", "Tins"]},
        {"text": "Prices are in euros.", "question": "Are prices in euros?", "suggestions": ["In euros", "In dollars", "", "Both", "Neither", "Yen"],
         "answer": {"by": "The model", "text": "In yen"}},
    ]);
    let play = Play { assumed, ..Play::default() };
    let stage = open(Setting::on(backing), play.clone()).await;
    let (go_on, may_work) = watch::channel(false);
    stage.team.model.on(move |asked| play.answer_when(asked, &may_work));
    hand_over(&stage).await;
    let mission = comes_to(&stage, MissionStatus::Running).await;
    let find = async || thread(&stage, &mission).await.into_iter().filter(|shown| shown.text.contains("Are prices in euros?")).collect();
    eventually("it asks", || async { Vec::<Shown>::len(&find().await) > 0 }).await;
    let asked: Vec<Shown> = find().await;
    let [question] = &asked[..] else { panic!("one question: {asked:#?}") };
    (stage, mission, question.clone(), go_on)
}

async fn hears_in_thread(stage: &Stage, mission: &Mission, text: &str) {
    eventually(text, || async { thread(stage, mission).await.iter().any(|shown| shown.text.contains(text)) }).await;
}

async fn an_answer_reaches_those_who_work_once(backing: Backing) {
    let (stage, mission, question, go_on) = asked(backing).await;
    assert!(
        question.text.contains("**Are prices in euros?** Choose an answer, or say it here. Until then I assume: Prices are in euros."),
        "{}",
        question.text
    );
    assert_eq!(labels(&question), ["In euros", "In dollars", "Both", "Neither"]);
    // Of two clicks one counts.
    press_twice(&stage, &question, "In dollars").await;
    hears_in_thread(&stage, &mission, "**In dollars**. 3 steps that are not done know it now.").await;
    go_on.send(true).unwrap();
    let mission = comes_to(&stage, MissionStatus::Done).await;
    hears(&stage, "is done. 3 of 3 steps done").await;
    let told = "answered the question \"Are prices in euros?\": In dollars. It was assumed before: Prices are in euros.";
    for title in ["Describe the cart", "Describe the payment", "Join both"] {
        let last = stage.asked_about(title).pop().unwrap().prompt();
        assert_eq!(last.matches(told).count(), 1, "{title}: {last}");
    }
    let answer = mission.plan.unwrap().assumed[1].answer.clone().unwrap();
    assert_eq!(answer.text, "In dollars");
}

async fn what_was_assumed_anyway_changes_nothing(backing: Backing) {
    let (stage, mission, question, go_on) = asked(backing).await;
    eventually("both work", || async { stage.team.model.requests().iter().filter(|asked| is_work(asked)).count() == 2 }).await;
    press_on(&stage, &question, "In euros").await;
    hears_in_thread(&stage, &mission, "**In euros**. Nothing changes by it.").await;
    go_on.send(true).unwrap();
    comes_to(&stage, MissionStatus::Done).await;
    hears(&stage, "is done. 3 of 3 steps done").await;
    assert_eq!(stage.asked_about("Describe the cart").len(), 2, "nobody began again");
    assert!(command_text(&stage, "plan", &[("id", mission.short_id())]).await.contains("Tea shop"));
}
