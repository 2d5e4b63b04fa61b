//! Steps that only a person can do: they are asked, and what they say is the result.

use reqwest::Method;
use serde_json::json;
use teamroom::features::backlog::model::{Owner, WorkStatus};
use teamroom::features::mission::model::MissionStatus;

use super::changes::{begin_with, is_change, is_told, is_wish, say_in_thread, wants};
use super::stage::{Play, comes_to, hand_over, hears, open, plan, step, steps, thread};
use crate::backlog::stage::Setting;
use crate::support::model::{Asked, Script};
use crate::support::team::{Backing, Shown, eventually, on_one_store};

on_one_store!(what_a_person_measured_is_in_the_result, words_in_the_thread_answer_a_question_and_stand_in_the_steps_that_they_change);

async fn what_a_person_measured_is_in_the_result(backing: Backing) {
    let steps_of = |name: &str| {
        let noise = json!({
            "id": "noise", "title": "Measure the noise of the machine", "instructions": "Measure it at the window, and say how many dB.",
            "kind": "person", "owner": name, "serves": ["6"],
        });
        [step("cart", "Describe the cart", "eliza", &[], &["3"]), noise, step("join", "Join both", "echo", &["cart", "noise"], &["1", "2"])]
    };
    let stage = open(Setting::on(backing), Play::default()).await;
    let person = stage.team.sandbox().people()[0].name.clone();
    Play { plans: vec![plan(&steps_of(&person))], ..Play::default() }.perform(&stage);
    hand_over(&stage).await;
    let mission = comes_to(&stage, MissionStatus::Running).await;
    let card = async || thread(&stage, &mission).await.into_iter().find(|shown| shown.text.contains("The plan is ready"));
    eventually("the plan", || async { card().await.is_some() }).await;
    let shown = card().await.unwrap().raw["embeds"][0]["description"].to_string();
    assert!(shown.contains(&format!("Measure the noise of the machine: {person}")), "{shown}");

    let reminder = async || thread(&stage, &mission).await.into_iter().find(|shown| shown.text.contains("say how many dB"));
    eventually("the person is asked", || async { reminder().await.is_some() }).await;
    let Shown { raw, .. } = reminder().await.unwrap();
    let path = format!("/channels/{}/messages", raw["channel_id"].as_str().unwrap());
    let said = json!({"content": "54 dB at the window, on Thursday at noon", "message_reference": {"message_id": raw["id"]}});
    stage.team.call(Method::POST, &path, Some(said)).await;
    comes_to(&stage, MissionStatus::Done).await;
    hears(&stage, "is done. 3 of 3 steps done").await;
    let items = steps(&stage, &mission).await;
    let noise = items.iter().find(|item| item.what.starts_with("Measure")).unwrap();
    assert!(matches!(&noise.owner, Owner::Person { name, .. } if *name == person) && noise.status == WorkStatus::Done, "{noise:#?}");
    let last = stage.asked_about("Join both").pop().unwrap().prompt();
    assert!(last.contains("54 dB at the window, on Thursday at noon"), "{last}");
}

async fn words_in_the_thread_answer_a_question_and_stand_in_the_steps_that_they_change(backing: Backing) {
    let assumed = json!([{"text": "Prices are in euros.", "question": "Are prices in euros?", "suggestions": ["In euros", "In dollars"]}]);
    let play = Play { assumed, ..Play::default() };
    let stage = open(Setting::on(backing), play.clone()).await;
    let (go_on, may_work) = tokio::sync::watch::channel(false);
    stage.team.model.on(move |asked| match () {
        () if is_wish(asked) => Script::Json(wants("change")),
        () if is_change(asked) => Script::Json(change(asked)),
        () => play.answer_when(asked, &may_work),
    });
    let mission = begin_with(&stage).await;
    say_in_thread(&stage.team, &stage.store, &mission, "kelly, dollars, and with a comma for thousands").await;
    eventually("the plan is changed", || is_told(&stage, &mission, "The plan is changed.")).await;
    let wish = stage.team.model.requests().into_iter().find(is_wish).unwrap().prompt();
    assert!(wish.contains("Asked, without an answer so far: Are prices in euros?"), "{wish}");
    let asked = stage.team.model.requests().into_iter().find(is_change).unwrap().prompt();
    assert!(asked.contains("1. Are prices in euros?") && asked.contains("- 9: The roadmap says later."), "{asked}");
    go_on.send(true).unwrap();
    let done = comes_to(&stage, MissionStatus::Done).await;
    let answer = done.plan.unwrap().assumed[0].answer.clone().unwrap();
    assert_eq!(answer.text, "In dollars");
    // The question has the answer, and no buttons any more.
    let question = thread(&stage, &mission).await.into_iter().find(|shown| shown.text.contains("Are prices in euros?")).unwrap();
    assert!(question.text.ends_with(": In dollars") && question.raw["components"].as_array().is_none_or(Vec::is_empty), "{}", question.raw);
    let last = stage.asked_about("Describe the cart").pop().unwrap().prompt();
    let said = "Said since then. It counts where the directive says something else:";
    assert!(last.contains(said) && last.contains("dollars, and with a comma for thousands"), "{last}");
    let other = stage.asked_about("Describe the payment").pop().unwrap().prompt();
    assert!(!other.contains(said), "{other}");
}

/// Other instructions for the step about the cart, and the answer to the question.
fn change(asked: &Asked) -> serde_json::Value {
    let prompt = asked.prompt();
    let before = prompt.split("Step \"Describe the cart").next().unwrap();
    let cart = before.rsplit("id ").next().unwrap()[..6].to_owned();
    let edit = json!({"step": cart, "instructions": "Describe the cart, with prices in dollars."});
    json!({"why": "Prices are in dollars.", "edit": [edit], "answers": [{"question": 1, "answer": "In dollars"}]})
}
