//! Cancelling a mission asks first where there is work in it, is for who asked for it and operators, and can be taken back.

use kernel::time::{Clock as _, SystemClock};
use serde_json::json;
use teamroom::features::backlog::model::WorkStatus;
use teamroom::features::mission::MissionSettings;
use teamroom::features::mission::model::{Mission, MissionStatus};
use teamroom::store::Store;
use tokio::sync::watch;

use super::crashes::hurry;
use super::stage::{
    HERE, Play, ROADMAP, SETTINGS, comes_to, command_text, find, hand_over, hears, labels, open, press_of, press_on, steps, thread,
};
use crate::backlog::stage::{Setting, Stage};
use crate::support::database::execute;
use crate::support::process::TeamProcess;
use crate::support::team::{Backing, Shown, TestTeam, Wanted, eventually, on_both_stores, on_one_store};

on_both_stores!(killed_after_a_mission_was_cancelled_and_after_it_was_taken_back);
on_one_store!(
    a_mission_is_cancelled_after_a_question_and_goes_on_when_that_is_taken_back,
    a_plan_that_waits_comes_back_with_its_buttons,
    who_may_not_cancel_a_mission_is_told_who_may,
);

/// A mission whose steps are worked on when the sender says so. One of them is done.
async fn begin(stage: &Stage) -> (Mission, watch::Sender<bool>) {
    let (go_on, may_work) = watch::channel(false);
    let play = Play::default();
    stage.team.model.on(move |asked| {
        let is_first = asked.prompt().contains("Describe the cart");
        if is_first { play.answer(asked) } else { play.answer_when(asked, &may_work) }
    });
    hand_over(stage).await;
    let mission = comes_to(stage, MissionStatus::Running).await;
    let done = async || steps(stage, &mission).await.iter().any(|step| step.status == WorkStatus::Done);
    while !done().await {
        super::stage::hasten(stage).await;
        tokio::time::sleep(std::time::Duration::from_millis(15)).await;
    }
    (mission, go_on)
}

async fn said(team: &TestTeam, text: &str) -> Shown {
    let find = async || team.answers(HERE).await.into_iter().rfind(|shown| shown.text.contains(text));
    eventually(text, || async { find().await.is_some() }).await;
    find().await.unwrap()
}

async fn a_mission_is_cancelled_after_a_question_and_goes_on_when_that_is_taken_back(backing: Backing) {
    let stage = open(Setting::on(backing), Play::default()).await;
    let (mission, go_on) = begin(&stage).await;
    let told = command_text(&stage, "cancel", &[("id", mission.short_id())]).await;
    assert!(told.contains("please confirm with the button"), "{told}");
    let question = hears(&stage, "There is work in it. It can be taken back for an hour.").await;
    assert_eq!(labels(&question), ["Cancel it", "Keep it"]);
    assert_eq!(find(&stage).await.status, MissionStatus::Running, "nothing has happened yet");
    press_on(&stage, &question, "Cancel it").await;
    comes_to(&stage, MissionStatus::Cancelled).await;
    let over = hears(&stage, "was cancelled. 1 of 3 steps done").await;
    assert_eq!(labels(&over), ["Take it back", "Try again"]);
    press_on(&stage, &over, "Take it back").await;
    comes_to(&stage, MissionStatus::Running).await;
    let restored = steps(&stage, &mission).await;
    assert!(restored.iter().any(|step| step.status == WorkStatus::Done), "{restored:#?}");
    assert!(restored.iter().all(|step| !matches!(step.status, WorkStatus::Cancelled | WorkStatus::Failed)), "{restored:#?}");
    go_on.send(true).unwrap();
    comes_to(&stage, MissionStatus::Done).await;
    hears(&stage, "is done. 3 of 3 steps done").await;
    let told = command_text(&stage, "restore", &[("id", mission.short_id())]).await;
    assert!(told.contains("there is nothing to take back"), "{told}");
}

async fn a_plan_that_waits_comes_back_with_its_buttons(backing: Backing) {
    let setting =
        Setting::on(backing).configure(|config| config.features.set(MissionSettings { approve_steps: 2, ..MissionSettings::default() }));
    let stage = open(setting, Play::default()).await;
    hand_over(&stage).await;
    let mission = comes_to(&stage, MissionStatus::Proposed).await;
    let told = command_text(&stage, "cancel", &[("id", mission.short_id())]).await;
    assert!(told.contains("takes that back for an hour"), "nothing is lost, so nothing is asked: {told}");
    assert_eq!(find(&stage).await.status, MissionStatus::Cancelled);
    command_text(&stage, "restore", &[("id", mission.short_id())]).await;
    assert_eq!(find(&stage).await.status, MissionStatus::Proposed);
    let back = async || thread(&stage, &mission).await.into_iter().find(|shown| shown.text.contains("The plan waits for your word."));
    eventually("it is told", || async { back().await.is_some() }).await;
    press_on(&stage, &back().await.unwrap(), "Start").await;
    comes_to(&stage, MissionStatus::Done).await;
}

async fn who_may_not_cancel_a_mission_is_told_who_may(backing: Backing) {
    let stage = open(Setting::on(backing).configure(|config| config.chat.operators = vec!["nobody".into()]), Play::default()).await;
    let (mission, go_on) = begin(&stage).await;
    execute(&stage.team, "UPDATE missions SET asked_by = 'discord:1', asked_by_name = 'Zoe'").await;
    for name in ["cancel", "pause", "restore", "retry"] {
        let told = command_text(&stage, name, &[("id", mission.short_id())]).await;
        assert!(told.contains("Only Zoe or an operator may change"), "{name}: {told}");
    }
    let opening = hears(&stage, "I take this as a mission").await;
    press_on(&stage, &opening, "Cancel").await;
    go_on.send(true).unwrap();
    comes_to(&stage, MissionStatus::Done).await;
}

async fn killed_after_a_mission_was_cancelled_and_after_it_was_taken_back(backing: Backing) {
    let team = Wanted::on(backing).model(kernel::llm::settings::ProviderKind::OpenAi).without_app().start().await;
    let (go_on, may_work) = watch::channel(false);
    let play = Play::default();
    team.model.on(move |asked| {
        let is_first = asked.prompt().contains("Describe the cart");
        if is_first { play.answer(asked) } else { play.answer_when(asked, &may_work) }
    });
    std::fs::write(team.path("teamroom.toml"), SETTINGS).unwrap();
    let store = Store::open_shared(&team.config.database_url, SystemClock.now()).await.unwrap();
    let process = TeamProcess::start(&team, &[]).await;
    team.drop_file(HERE, "roadmap.md", ROADMAP.as_bytes().to_vec(), "kelly, please build this").await;
    let missions = async || store.list_missions(5).await.unwrap();
    let step_done = async || match missions().await.first() {
        Some(mission) => store.list_parts(&mission.id).await.unwrap().iter().any(|step| step.status == WorkStatus::Done),
        None => false,
    };
    eventually("a step is done", || async { step_done().await }).await;
    let mission = missions().await.remove(0);
    // The process dies right behind the transaction that cancels.
    store.cancel_item(&mission.id, "Ann", &[], SystemClock.now()).await.unwrap().expect("it was open");
    process.kill();
    hurry(&team).await;
    let process = TeamProcess::start(&team, &[]).await;
    let over = said(&team, "was cancelled. 1 of 3 steps done").await;
    press_of(&team, &over, "Take it back").await;
    let status = async || missions().await[0].status;
    eventually("it goes on", || async { status().await == MissionStatus::Running }).await;
    process.kill();
    hurry(&team).await;
    go_on.send(true).unwrap();
    let _process = TeamProcess::start(&team, &[]).await;
    eventually("it is delivered", || async { status().await == MissionStatus::Done }).await;
    said(&team, "is done. 3 of 3 steps done").await;
    let told = team.answers(HERE).await;
    assert_eq!(told.iter().filter(|shown| shown.text.contains("was cancelled. 1 of 3")).count(), 1, "{}", json!(told.len()));
    store.close().await;
}
