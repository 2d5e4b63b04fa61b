//! A model takes longer to understand what somebody says in a mission's thread than a person waits. A persona answers, and what the model understands
//! later is still carried out, once.

use serde_json::json;
use teamroom::features::backlog::model::WorkStatus;
use teamroom::features::mission::model::{Mission, MissionStatus};
use tokio::sync::watch;

use super::changes::{begin_with, is_change, is_told, is_wish, say_in_thread, wants};
use super::stage::{Play, comes_to, hasten, hears, open, thread};
use crate::backlog::part::is_work;
use crate::backlog::stage::{Setting, Stage};
use crate::support::database::count;
use crate::support::model::{Asked, Script};
use crate::support::patience::PATIENCE;
use crate::support::team::{Backing, eventually, on_both_stores, on_one_store};

on_both_stores!(a_change_that_is_understood_late_is_carried_out_once);
on_one_store!(a_question_that_is_understood_late_changes_nothing, what_the_persona_has_asked_for_itself_is_not_done_again,);

const SAID: &str = "kelly, forget the payment, we sell nothing yet";

fn is_talk(asked: &Asked) -> bool {
    asked.schema.is_none() && !is_work(asked)
}

/// A running mission, a model that understands what is said once it may, and what a persona answers.
async fn begin(
    backing: Backing,
    kind: &'static str,
    talk: fn(&Asked) -> Script,
) -> (Stage, Mission, watch::Sender<bool>, watch::Sender<bool>) {
    let stage = open(Setting::on(backing), Play::default()).await;
    let ((understand, may_understand), (go_on, may_work)) = (watch::channel(false), watch::channel(false));
    let play = Play::default();
    stage.team.model.on(move |asked| match () {
        () if is_wish(asked) => Script::Json(wants(kind)).when(&may_understand),
        () if is_change(asked) => Script::Json(json!({"why": "Nothing is sold yet.", "leave_out": ["6"]})),
        () if is_talk(asked) => talk(asked),
        () => play.answer_when(asked, &may_work),
    });
    let mission = begin_with(&stage).await;
    (stage, mission, understand, go_on)
}

/// Lets time pass until a persona has answered, because the model did not understand in time.
async fn is_answered(stage: &Stage, mission: &Mission, text: &str) {
    let started = std::time::Instant::now();
    while !is_told(stage, mission, text).await {
        assert!(started.elapsed() < PATIENCE, "never {text}");
        hasten(stage).await;
        tokio::time::sleep(std::time::Duration::from_millis(15)).await;
    }
}

async fn heard(stage: &Stage) -> i64 {
    count(&stage.team, "SELECT COUNT(*) FROM jobs WHERE kind = 'mission.hear' AND state = 'done'").await
}

async fn understood(stage: &Stage) {
    let started = std::time::Instant::now();
    while heard(stage).await == 0 {
        assert!(started.elapsed() < PATIENCE, "never understood");
        hasten(stage).await;
        tokio::time::sleep(std::time::Duration::from_millis(15)).await;
    }
}

async fn a_change_that_is_understood_late_is_carried_out_once(backing: Backing) {
    let (stage, mission, understand, go_on) = begin(backing, "change", |_| Script::say("It goes well.")).await;
    say_in_thread(&stage.team, &stage.store, &mission, SAID).await;
    is_answered(&stage, &mission, "It goes well.").await;
    assert!(!stage.team.model.requests().iter().any(is_change), "nothing is understood yet");
    understand.send(true).unwrap();
    understood(&stage).await;
    eventually("the plan is changed", || is_told(&stage, &mission, "The plan is changed. Nothing is sold yet.")).await;
    go_on.send(true).unwrap();
    let done = comes_to(&stage, MissionStatus::Done).await;
    hears(&stage, "is done. 2 of 2 steps done").await;
    assert_eq!(done.plan.unwrap().changes.len(), 1);
    assert_eq!(stage.team.model.requests().iter().filter(|asked| is_change(asked)).count(), 1);
    let told = thread(&stage, &mission).await;
    assert_eq!(told.iter().filter(|shown| shown.text.contains("The plan is changed.")).count(), 1);
}

async fn a_question_that_is_understood_late_changes_nothing(backing: Backing) {
    let (stage, mission, understand, go_on) = begin(backing, "question", |_| Script::say("It goes well.")).await;
    say_in_thread(&stage.team, &stage.store, &mission, "kelly, what about the payment, I wonder").await;
    is_answered(&stage, &mission, "It goes well.").await;
    understand.send(true).unwrap();
    understood(&stage).await;
    go_on.send(true).unwrap();
    comes_to(&stage, MissionStatus::Done).await;
    hears(&stage, "is done. 3 of 3 steps done").await;
    assert!(!stage.team.model.requests().iter().any(is_change));
    assert!(!is_told(&stage, &mission, "plan is changed").await && !is_told(&stage, &mission, "stays as it").await);
}

async fn what_the_persona_has_asked_for_itself_is_not_done_again(backing: Backing) {
    let talk = |asked: &Asked| {
        let id = asked.prompt().split("mission id ").nth(1).and_then(|rest| rest.get(..6)).unwrap_or_default().to_owned();
        let change = json!({"command": "mission change", "arguments": {"id": id, "text": "forget the payment, we sell nothing yet"}});
        if asked.tool_results() == 0 { Script::call("team_command", change) } else { Script::say("It goes well.") }
    };
    let (stage, mission, understand, go_on) = begin(backing, "change", talk).await;
    let said = format!("kelly, mission change please, mission id {}: forget the payment, we sell nothing yet", mission.short_id());
    say_in_thread(&stage.team, &stage.store, &mission, &said).await;
    is_answered(&stage, &mission, "It goes well.").await;
    understand.send(true).unwrap();
    understood(&stage).await;
    eventually("the plan is changed", || is_told(&stage, &mission, "The plan is changed.")).await;
    go_on.send(true).unwrap();
    let done = comes_to(&stage, MissionStatus::Done).await;
    assert_eq!(done.plan.unwrap().changes.len(), 1);
    assert_eq!(count(&stage.team, "SELECT COUNT(*) FROM jobs WHERE kind = 'mission.change'").await, 1);
    let dropped = stage.store.list_parts(&mission.id).await.unwrap().into_iter().filter(|step| step.status == WorkStatus::Cancelled);
    assert_eq!(dropped.count(), 1);
}
