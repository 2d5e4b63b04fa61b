//! Questions about what a plan assumes: asked with answers to choose from, and nobody waits for them.

use serde_json::json;
use teamroom::features::backlog::model::WorkStatus;
use teamroom::features::mission::model::{Mission, MissionStatus};
use tokio::sync::watch;

use super::changes::is_change;
use super::stage::{
    DOCUMENT, Play, comes_to, command_text, hand_over, hasten, hears, labels, open, press_on, press_twice, steps, thread, title_of,
};
use crate::backlog::part::{is_work, write};
use crate::backlog::stage::{Setting, Stage};
use crate::support::model::Script;
use crate::support::team::{Backing, Shown, eventually, on_one_store};

on_one_store!(an_answer_reaches_those_who_work_once, an_answer_rewrites_what_contradicts_it, what_was_assumed_anyway_changes_nothing,);

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

/// The id of a step in the prompt of a change.
fn id_of(prompt: &str, title: &str) -> String {
    let before = prompt.split(&format!("Step \"{title}")).next().unwrap();
    before.rsplit("id ").next().unwrap()[..6].to_owned()
}

async fn an_answer_rewrites_what_contradicts_it(backing: Backing) {
    let assumed = json!([{"text": "Prices are in euros.", "question": "Are prices in euros?", "suggestions": ["In euros", "In dollars"]}]);
    let play = Play { assumed, ..Play::default() };
    let stage = open(Setting::on(backing), play.clone()).await;
    let (go_on, may_work) = watch::channel(false);
    stage.team.model.on(move |asked| {
        if is_change(asked) {
            let prompt = asked.prompt();
            let criteria = ["Every price is in dollars", "It names every case of its part"];
            let edit = json!({"step": id_of(&prompt, "Describe the payment"), "criteria": criteria});
            let again = json!({"step": id_of(&prompt, "Describe the cart"), "why": "It has euros."});
            let whole = json!(["All prices are in dollars", "The pieces fit each other"]);
            return Script::Json(json!({"why": "Prices are in dollars.", "edit": [edit], "again": [again], "criteria": whole}));
        }
        if is_work(asked) && asked.tool_results() == 0 && asked.prompt().contains("It has euros.") {
            return write("result.md", &format!("# The cart in dollars\n\n{DOCUMENT}\n"));
        }
        // The cart is done when the answer comes.
        if is_work(asked) && !title_of(asked).contains("cart") { play.answer(asked).when(&may_work) } else { play.answer(asked) }
    });
    hand_over(&stage).await;
    let mission = comes_to(&stage, MissionStatus::Running).await;
    let status = async |title: &str| {
        let items = steps(&stage, &mission).await;
        items.into_iter().find(|item| item.what.contains(title)).map(|item| (item.status, item.run, item.criteria)).unwrap()
    };
    eventually("the cart is done", || async {
        hasten(&stage).await;
        status("cart").await.0 == WorkStatus::Done
    })
    .await;
    let asks = async || thread(&stage, &mission).await.into_iter().find(|shown| shown.text.contains("Are prices in euros?"));
    eventually("it asks", || async { asks().await.is_some() }).await;
    press_on(&stage, &asks().await.unwrap(), "In dollars").await;
    hears_in_thread(&stage, &mission, "The plan is changed. Prices are in dollars.").await;
    let told = thread(&stage, &mission).await.into_iter().find(|shown| shown.text.contains("The plan is changed.")).unwrap();
    assert_eq!(
        told.text,
        "The plan is changed. Prices are in dollars.\n- Changed: \"Describe the payment\"\n- Done again: \"Describe the cart\""
    );
    let prompt = stage.team.model.requests().into_iter().find(is_change).unwrap().prompt();
    assert!(prompt.contains("an answer that all steps know that are not done"), "{prompt}");
    assert!(prompt.contains("answered: In dollars"), "{prompt}");
    go_on.send(true).unwrap();
    comes_to(&stage, MissionStatus::Done).await;
    hears(&stage, "is done. 3 of 3 steps done").await;
    assert_eq!(status("payment").await.2[0], "Every price is in dollars");
    assert!(status("cart").await.1 > 0, "it was done again");
    let again = stage.asked_about("Describe the cart").pop().unwrap().prompt();
    assert!(again.contains("why the last try was not accepted") && again.contains("You: It has euros."), "{again}");
    let whole = stage.store.find_item(&mission.id).await.unwrap().unwrap();
    assert_eq!(whole.criteria, ["All prices are in dollars", "The pieces fit each other"], "the delivery is judged by what is wanted now");
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
