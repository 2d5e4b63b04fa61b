//! Somebody is named who reviews the result.

use kernel::ids::PersonaSlug;
use teamroom::features::backlog::model::{Execution, Judge, Owner, WorkItem, WorkStatus};

use super::part::{DOCUMENT, is_work};
use super::stage::{Setting, Stage};
use crate::support::grading::{all_met, is_grading};
use crate::support::model::{Asked, Script};
use crate::support::team::{Backing, on_one_store};

on_one_store!(a_named_persona_reviews_what_others_know_better, a_named_person_is_asked_and_accepts);

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
