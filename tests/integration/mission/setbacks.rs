//! Steps that fail, people who change their minds, and processes that die.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Duration;

use kernel::ids::PersonaSlug;
use kernel::persona::roster::Roster;
use serde_json::json;
use teamroom::features::backlog::model::{Wait, WorkStatus};
use teamroom::features::mission::model::MissionStatus;
use tokio::sync::watch;

use super::stage::{
    HERE, Play, comes_to, command_text, find, hand_over, hasten, hears, open, plan, press_on, step, steps, thread, title_of,
};
use crate::backlog::part::is_work;
use crate::backlog::stage::{Setting, Stage};
use crate::support::model::Script;
use crate::support::team::{Backing, Shown, eventually, on_both_stores, on_one_store};

on_both_stores!(a_paused_mission_rests_over_a_restart_and_goes_on, a_model_that_is_away_for_five_minutes_only_delays_a_mission,);
on_one_store!(
    a_step_that_cannot_be_done_is_planned_again_once,
    a_step_without_another_way_fails_the_mission_and_can_be_tried_again,
    a_cancelled_mission_ends_its_steps,
    what_a_person_adds_reaches_the_steps_that_are_not_done,
    a_mission_goes_on_without_a_persona_that_has_left,
    a_mission_is_cancelled_while_all_work_on_its_ten_steps,
);

async fn a_step_that_cannot_be_done_is_planned_again_once(backing: Backing) {
    let other_way = json!({
        "possible": true, "why": "Solus writes it from the roadmap alone.", "title": "Sketch the payment", "instructions": "Sketch both ways of paying.",
        "kind": "write", "owner": "solus", "criteria": ["Both ways of paying are named", "Each has its steps"],
    });
    let stage = open(Setting::on(backing), Play { fails: Some("Describe the payment"), other_way, ..Play::default() }).await;
    hand_over(&stage).await;
    let mission = comes_to(&stage, MissionStatus::Done).await;
    assert_eq!(mission.replans, 1);
    let items = steps(&stage, &mission).await;
    let by_solus = Some(&PersonaSlug::from("solus"));
    let sketch = items.iter().find(|item| item.what == "Sketch the payment").expect("the other way");
    assert_eq!((sketch.status, sketch.persona.as_ref()), (WorkStatus::Done, by_solus));
    let told = thread(&stage, &mission).await;
    assert!(told.iter().any(|shown| shown.text.contains("Another way: Solus does \"Sketch the payment\".")), "{told:#?}");
    assert!(!told.iter().any(|shown| shown.text.contains("can you help")), "nobody is asked while there is another way");
    let plan = mission.plan.unwrap();
    assert!(plan.steps.iter().any(|step| step.title == "Sketch the payment" && step.serves.contains(&6)));
    hears(&stage, "is done. 3 of 3 steps done").await;
}

async fn a_step_without_another_way_fails_the_mission_and_can_be_tried_again(backing: Backing) {
    let stage = open(Setting::on(backing), Play { fails: Some("Describe the payment"), ..Play::default() }).await;
    hand_over(&stage).await;
    let mission = comes_to(&stage, MissionStatus::Failed).await;
    let delivery = hears(&stage, "has failed.").await;
    assert!(delivery.text.contains("- 6–8 \"Payment\" …: \"Describe the payment\" was not done"), "{}", delivery.text);
    assert!(delivery.text.contains("3 of 10 parts of the directive served; not:"), "{}", delivery.text);
    let states = async || {
        let items = steps(&stage, &mission).await;
        items.iter().map(|item| (item.what.clone(), item.status)).collect::<Vec<_>>()
    };
    let failed = states().await;
    assert!(failed.contains(&("Join both to one specification".to_owned(), WorkStatus::Failed)), "{failed:?}");
    // Now it can be done.
    Play::default().perform(&stage);
    press_on(&stage, &delivery, "Try again").await;
    comes_to(&stage, MissionStatus::Done).await;
    hears(&stage, "is done. 3 of 3 steps done").await;
    assert!(states().await.iter().all(|(_, status)| *status == WorkStatus::Done));
}

async fn a_paused_mission_rests_over_a_restart_and_goes_on(backing: Backing) {
    let mut stage = open(Setting::on(backing), Play { fails: Some("Describe"), ..Play::default() }).await;
    hand_over(&stage).await;
    let mission = comes_to(&stage, MissionStatus::Running).await;
    eventually("the steps", || async { steps(&stage, &mission).await.len() == 3 }).await;
    let id = mission.short_id().to_owned();
    let said = command_text(&stage, "pause", &[("id", &id)]).await;
    assert!(said.contains("is paused"), "{said}");
    let rest = async || {
        let items = steps(&stage, &mission).await;
        items.iter().all(|item| matches!(item.status, WorkStatus::Blocked | WorkStatus::Waiting | WorkStatus::New))
    };
    eventually("all rest", rest).await;
    Play::default().perform(&stage);
    stage.team.stop_app().await;
    stage.team.start_app().await;
    stage.pass(Duration::from_mins(20)).await;
    let items = steps(&stage, &mission).await;
    assert!(items.iter().all(|item| item.status != WorkStatus::Done), "{items:#?}");
    assert!(items.iter().any(|item| item.wait == Some(Wait::Paused)), "{items:#?}");
    assert!(command_text(&stage, "pause", &[("id", &id)]).await.contains("is not running"));
    let said = command_text(&stage, "resume", &[("id", &id)]).await;
    assert!(said.contains("goes on"), "{said}");
    comes_to(&stage, MissionStatus::Done).await;
    hears(&stage, "is done. 3 of 3 steps done").await;
}

/// Cancels the mission, and confirms it where somebody has begun with it.
async fn cancel(stage: &Stage, opening: &Shown) {
    press_on(stage, opening, "Cancel").await;
    let question = async || stage.team.answers(HERE).await.into_iter().find(|shown| shown.text.contains("There is work in it"));
    eventually("it is cancelled, or asked about", || async {
        question().await.is_some() || find(stage).await.status == MissionStatus::Cancelled
    })
    .await;
    if let Some(question) = question().await {
        press_on(stage, &question, "Cancel it").await;
    }
}

async fn a_cancelled_mission_ends_its_steps(backing: Backing) {
    let stage = open(Setting::on(backing), Play { fails: Some("Describe"), ..Play::default() }).await;
    hand_over(&stage).await;
    let mission = comes_to(&stage, MissionStatus::Running).await;
    eventually("the steps", || async { steps(&stage, &mission).await.len() == 3 }).await;
    let opening = hears(&stage, "I take this as a mission").await;
    cancel(&stage, &opening).await;
    comes_to(&stage, MissionStatus::Cancelled).await;
    let told = hears(&stage, "was cancelled. 0 of 3 steps done").await;
    assert!(told.text.contains("not done"), "{}", told.text);
    assert!(steps(&stage, &mission).await.iter().all(|item| item.status == WorkStatus::Cancelled));
    assert_eq!(stage.team.answers(HERE).await.iter().filter(|shown| shown.text.contains("was cancelled.")).count(), 1);
}

async fn what_a_person_adds_reaches_the_steps_that_are_not_done(backing: Backing) {
    let stage = open(Setting::on(backing), Play::default()).await;
    let (begin, may_begin) = watch::channel(false);
    stage.team.model.on(move |asked| match Play::default() {
        play if is_work(asked) && title_of(asked).contains("Join both") => play.answer_when(asked, &may_begin),
        play => play.answer(asked),
    });
    hand_over(&stage).await;
    let mission = comes_to(&stage, MissionStatus::Running).await;
    let is_last = async || steps(&stage, &mission).await.iter().filter(|item| item.status == WorkStatus::Done).count() == 2;
    eventually("the last step is worked on", || async {
        hasten(&stage).await;
        is_last().await
    })
    .await;
    let said = command_text(&stage, "tell", &[("id", mission.short_id()), ("text", "Use PostgreSQL.")]).await;
    assert!(said.contains("1 step that is not done knows it now"), "{said}");
    begin.send(true).expect("the model waits");
    comes_to(&stage, MissionStatus::Done).await;
    let asked = stage.asked_about("Join both").pop().unwrap().prompt();
    assert!(asked.contains("added: Use PostgreSQL."), "{asked}");
    let late = command_text(&stage, "tell", &[("id", mission.short_id()), ("text", "Too late.")]).await;
    assert!(late.contains("has no steps that could be told"), "{late}");
}

async fn a_model_that_is_away_for_five_minutes_only_delays_a_mission(backing: Backing) {
    let stage = open(Setting::on(backing), Play::default()).await;
    let is_away = Arc::new(AtomicBool::new(false));
    let away = is_away.clone();
    stage.team.model.on(move |asked| {
        // The model becomes unavailable when the first step is worked on.
        if is_work(asked) || away.load(Relaxed) {
            away.store(true, Relaxed);
            return Script::Status { code: 503, body: "overloaded".to_owned(), headers: Vec::new() };
        }
        Play::default().answer(asked)
    });
    hand_over(&stage).await;
    let mission = comes_to(&stage, MissionStatus::Running).await;
    eventually("the model is away", || async { is_away.load(Relaxed) }).await;
    for _ in 0..5 {
        stage.pass(Duration::from_mins(1)).await;
    }
    let items = steps(&stage, &mission).await;
    assert!(items.iter().all(|item| !matches!(item.status, WorkStatus::Done | WorkStatus::Failed)), "{items:#?}");
    Play::default().perform(&stage);
    // Work is tried again within about as much time as the model was unavailable.
    for _ in 0..8 {
        stage.pass(Duration::from_mins(1)).await;
    }
    let mission = comes_to(&stage, MissionStatus::Done).await;
    assert_eq!(mission.replans, 0, "an outage is nobody's failure");
    hears(&stage, "is done. 3 of 3 steps done").await;
}

async fn a_mission_goes_on_without_a_persona_that_has_left(backing: Backing) {
    let mut stage = open(Setting::on(backing), Play { fails: Some("Describe the payment"), ..Play::default() }).await;
    hand_over(&stage).await;
    let mission = comes_to(&stage, MissionStatus::Running).await;
    eventually("the steps", || async { steps(&stage, &mission).await.len() == 3 }).await;
    stage.team.stop_app().await;
    Play::default().perform(&stage);
    let staying = stage.team.roster.personas().iter().filter(|persona| persona.slug.as_str() != "vince").cloned().collect();
    stage.team.roster = Roster::new(staying).expect("a roster");
    stage.team.config.discord.tokens.remove(&"vince".into());
    stage.team.start_app().await;
    comes_to(&stage, MissionStatus::Done).await;
    let items = steps(&stage, &mission).await;
    let payment = items.iter().find(|item| item.what == "Describe the payment").expect("the step of Vince");
    assert_eq!(payment.persona.as_ref().map(PersonaSlug::as_str), Some("kelly"));
    hears(&stage, "is done. 3 of 3 steps done").await;
}

async fn a_mission_is_cancelled_while_all_work_on_its_ten_steps(backing: Backing) {
    let owners = ["eliza", "vince", "echo", "solus", "oracle", "sentinel", "kelly"];
    let pieces: Vec<String> = (0..10).map(|number| format!("piece{number}")).collect();
    let mut all: Vec<_> = pieces
        .iter()
        .enumerate()
        .map(|(number, id)| step(id, &format!("Describe {id}"), owners[number % owners.len()], &[], &["3"]))
        .collect();
    all.push(step("join", "Join all pieces", "kelly", &pieces.iter().map(String::as_str).collect::<Vec<_>>(), &["1"]));
    let play = Play { plans: vec![plan(&all)], ..Play::default() };
    let setting = Setting::on(backing).configure(|config| {
        config.backlog.parallel = 10;
        config.features.set(teamroom::features::mission::MissionSettings { approve_steps: 20, ..Default::default() });
    });
    let stage = open(setting, play.clone()).await;
    stage.team.model.on(move |asked| if is_work(asked) { Script::Hang } else { play.answer(asked) });
    hand_over(&stage).await;
    let mission = comes_to(&stage, MissionStatus::Running).await;
    let at_work = async || steps(&stage, &mission).await.iter().filter(|item| item.status == WorkStatus::InProgress).count();
    // A persona works on one step at a time.
    eventually("everybody works", || async { at_work().await == owners.len() }).await;
    let opening = hears(&stage, "I take this as a mission").await;
    cancel(&stage, &opening).await;
    comes_to(&stage, MissionStatus::Cancelled).await;
    hears(&stage, "was cancelled. 0 of 11 steps done").await;
    assert!(steps(&stage, &mission).await.iter().all(|item| item.status == WorkStatus::Cancelled));
    // Nobody works on it any more.
    let asked = stage.team.model.count();
    stage.pass(Duration::from_mins(5)).await;
    stage.team.settle().await;
    assert_eq!(stage.team.model.count(), asked);
}
