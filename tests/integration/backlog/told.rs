//! What people say about items of others.

use serde_json::json;
use teamroom::features::backlog::model::{Owner, WorkItem, WorkStatus};

use super::part::is_work;
use super::stage::{HERE, Setting};
use crate::support::command::press_as;
use crate::support::grading::{all_met, is_grading};
use crate::support::model::Script;
use crate::support::team::{Backing, on_one_store};

on_one_store!(who_is_to_do_an_item_is_asked_once_when_somebody_else_says_something_about_it);

async fn who_is_to_do_an_item_is_asked_once_when_somebody_else_says_something_about_it(backing: Backing) {
    let stage = Setting::on(backing).with_model().with_people(&["Ann", "Bob"]).open().await;
    stage.team.model.on(|asked| match () {
        () if is_grading(asked) => Script::Json(all_met(asked)),
        () if asked.schema.is_some() => Script::Json(json!({"verdict": "answers"})),
        () if is_work(asked) => Script::status(400),
        () => Script::say("Good to know."),
    });
    let owner = Owner::Person { id: stage.team.person_id(1), name: "Bob".to_owned() };
    let item = WorkItem { owner, execution: None, ..stage.glance("Open the nordpost access for Ann") };
    stage.put(&[&item]).await;
    stage.hears("Reminder for").await;
    stage.team.say(HERE, "kelly, the printer is broken").await;
    stage.hears("Good to know.").await;
    stage.team.say(HERE, "kelly, the nordpost access is open for Ann now.").await;
    let question = stage.hears("Ann says something about **Open the nordpost access for Ann**").await;
    stage.team.say(HERE, "kelly, the nordpost access for Ann really is open.").await;
    stage.team.settle().await;
    let asked = stage.team.answers(HERE).await.into_iter().filter(|said| said.text.contains("says something about")).count();
    assert_eq!(asked, 1);
    press_as(&stage.team, 1, HERE, &question, |button| button["label"] == "Done").await;
    let done = stage.comes_to(&item.id, WorkStatus::Done).await;
    assert!(done.outcome.as_deref().is_some_and(|outcome| outcome.contains("nordpost access is open for Ann now")), "{done:#?}");
}
