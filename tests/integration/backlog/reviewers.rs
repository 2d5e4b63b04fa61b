//! Somebody is named who reviews the result.

use reqwest::Method;
use serde_json::json;

use kernel::ids::PersonaSlug;
use teamroom::features::backlog::model::{Execution, Judge, Owner, WorkItem, WorkStatus};

use super::part::{DOCUMENT, is_work};
use super::stage::{Setting, Stage};
use crate::support::grading::{all_met, is_grading};
use crate::support::model::{Asked, Script};
use crate::support::team::{Backing, eventually, on_one_store};

on_one_store!(
    a_named_persona_reviews_what_others_know_better,
    a_named_person_is_asked_and_accepts,
    a_named_person_sends_back_and_accepts_in_words,
);

fn play(asked: &Asked) -> Script {
    match () {
        () if is_grading(asked) => Script::Json(all_met(asked)),
        () if is_work(asked) => Script::say(DOCUMENT),
        () => Script::say("Well then."),
    }
}

async fn open(backing: Backing) -> Stage {
    let stage = Setting::on(backing).with_model().open().await;
    stage.team.model.on(play);
    stage
}

fn reviewed_by(stage: &Stage, what: &str, reviewer: Option<Owner>) -> WorkItem {
    WorkItem { reviewer, ..stage.item(what, "Write one page.", Execution::Write) }
}

async fn a_named_persona_reviews_what_others_know_better(backing: Backing) {
    let stage = open(backing).await;
    let judge = async |item: WorkItem| {
        stage.put(&[&item]).await;
        stage.comes_to(&item.id, WorkStatus::Done).await;
        let reviews = stage.store.list_reviews(&item.id).await.expect("the store answers");
        let [review] = reviews.as_slice() else { panic!("{reviews:#?}") };
        review.by.clone()
    };
    let echo = PersonaSlug::from("echo");
    let by_rule = judge(reviewed_by(&stage, "compare the prices", None)).await;
    assert_ne!(by_rule, Judge::Persona(echo.clone()), "somebody else knows more of it");
    let named = judge(reviewed_by(&stage, "compare the rents", Some(Owner::Persona(echo.clone())))).await;
    assert_eq!(named, Judge::Persona(echo));
}

async fn a_named_person_is_asked_and_accepts(backing: Backing) {
    let stage = open(backing).await;
    let person = &stage.team.sandbox().people()[0];
    let reviewer = Owner::Person { id: stage.team.person_id(0), name: person.name.clone() };
    let item = reviewed_by(&stage, "compare the prices", Some(reviewer));
    stage.put(&[&item]).await;
    stage.comes_to(&item.id, WorkStatus::InReview).await;
    let asked = stage.hears("needs a review").await;
    assert!(asked.text.contains(&format!("<@{}>", person.id)), "the reviewer is addressed: {}", asked.text);
    assert!(!stage.team.model.requests().iter().any(is_grading), "no persona reviews it");
    stage.press_on(&asked, "Accept").await;
    stage.comes_to(&item.id, WorkStatus::Done).await;
    let reviews = stage.store.list_reviews(&item.id).await.expect("the store answers");
    assert_eq!(reviews[0].by, Judge::Person(person.name.clone()));
}

async fn a_named_person_sends_back_and_accepts_in_words(backing: Backing) {
    let stage = Setting::on(backing)
        .with_model()
        .with_people(&["Ann", "Bob"])
        .configure(|config| config.chat.operators = vec!["nobody".into()])
        .open()
        .await;
    stage.team.model.on(|asked| match () {
        () if asked.prompt().contains("asks people to decide about the result") => {
            let kind = if asked.prompt().contains("names no year") { "again" } else { "accept" };
            Script::Json(json!({"kind": kind, "confidence": 0.9, "why": "they say so"}))
        }
        // The same result would not be judged again.
        () if is_work(asked) && asked.prompt().contains("Bob says") => Script::say(format!("{DOCUMENT}\nAll prices are those of 2026.\n")),
        () => play(asked),
    });
    let reviewer = Owner::Person { id: stage.team.person_id(1), name: "Bob".into() };
    let item = reviewed_by(&stage, "compare the prices", Some(reviewer));
    stage.put(&[&item]).await;
    let answer = async |text: &str, run: u32| {
        let item = stage.until(&item.id, "in review", |item| item.status == WorkStatus::InReview && item.run == run).await;
        let posted = async || stage.store.find_posted(&item.notice_id()).await.unwrap();
        eventually("the review is asked for", || async { posted().await.is_some() }).await;
        let asked = posted().await.unwrap();
        let said = json!({"content": text, "message_reference": {"message_id": asked.message.bare(), "channel_id": asked.channel.bare()}});
        stage.team.call_as(1, Method::POST, &format!("/channels/{}/messages", asked.channel.bare()), Some(said)).await;
    };
    answer("The table names no year.", 0).await;
    stage.hears("goes back to Eliza with what you say").await;
    answer("That's good now.", 1).await;
    let done = stage.comes_to(&item.id, WorkStatus::Done).await;
    let works = stage.team.model.requests().into_iter().filter(is_work).filter(|asked| asked.tool_results() == 0).collect::<Vec<_>>();
    assert!(works[1].prompt().contains("Bob says: The table names no year."), "{}", works[1].prompt());
    let reviews = stage.store.list_reviews(&done.id).await.expect("the store answers");
    let said: Vec<_> = reviews.iter().map(|review| (review.accepted, review.by.clone())).collect();
    let bob = Judge::Person("Bob".into());
    assert_eq!(said, [(false, bob.clone()), (true, bob)]);
    stage.hears("✔ Eliza: compare the prices").await;
}
