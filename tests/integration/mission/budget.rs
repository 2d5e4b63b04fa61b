//! The budget that a mission shares with its steps: told when most of it is used, kept, and raised by a person.

use std::time::{Duration, Instant};

use kernel::money::{Limit, Money};
use kernel::time::Clock;
use teamroom::features::backlog::model::{Execution, Wait, WorkItem, WorkStatus};
use teamroom::features::mission::model::{Mission, MissionStatus};

use super::stage::{Play, comes_to, command_text, find, hand_over, hasten, hears, open, press_on, press_twice, steps, thread};
use crate::backlog::limits::priced;
use crate::backlog::stage::{Setting, Stage};
use tokio::sync::watch;

use crate::support::database::{count, execute};
use crate::support::grading::is_critique;
use crate::support::patience::PATIENCE;
use crate::support::team::{Backing, Shown, eventually, on_both_stores, on_one_store};

on_both_stores!(a_raise_counts_although_its_process_died_at_once);
on_one_store!(
    a_mission_whose_budget_is_used_up_rests_and_goes_on_when_it_is_raised,
    a_mission_without_money_for_its_plan_asks_before_it_plans,
    a_review_without_money_waits_for_it,
    most_of_a_budget_is_told_once,
    what_a_step_hands_on_counts_for_its_mission,
);

async fn what_a_step_hands_on_counts_for_its_mission(backing: Backing) {
    let stage = open_with(backing, 9.0).await;
    hand_over(&stage).await;
    let mission = comes_to(&stage, MissionStatus::Running).await;
    let step = steps(&stage, &mission).await.remove(0);
    let part = WorkItem { parent: Some(step.id.clone()), ..stage.item("Ask the shop", "", Execution::Research) };
    let other = stage.item("Ask another shop", "", Execution::Research);
    stage.put(&[&part, &other]).await;
    let counted = async |item: &WorkItem| {
        count(&stage.team, &format!("SELECT COUNT(*) FROM budget_groups WHERE subject = '{}' AND whole = '{}'", item.id, mission.id)).await
    };
    assert_eq!((counted(&step).await, counted(&part).await, counted(&other).await), (1, 1, 0));
}

const USED_UP: &str = "has come to the end of its budget";

async fn open_with(backing: Backing, budget: f64) -> Stage {
    let setting = Setting::on(backing).configure(move |config| {
        priced(config);
        // A reservation takes about two cents, a call half a cent.
        config.budgets.mission = Some(Money::from_dollars(budget));
        config.budgets.item = None;
    });
    open(setting, Play::default()).await
}

/// What was said about the budget in the thread.
async fn said(stage: &Stage, mission: &Mission, text: &str) -> Vec<Shown> {
    thread(stage, mission).await.into_iter().filter(|shown| shown.text.contains(text)).collect()
}

/// Lets time pass until the mission asks for money.
async fn runs_out(stage: &Stage) -> Mission {
    let mission = find(stage).await;
    eventually("its thread", || async { stage.store.find_posted(&mission.message_id("reading")).await.unwrap().is_some() }).await;
    let started = Instant::now();
    while said(stage, &mission, USED_UP).await.is_empty() {
        if started.elapsed() > PATIENCE {
            let waits: Vec<_> = steps(stage, &mission).await.into_iter().map(|step| (step.what, step.status, step.wait)).collect();
            panic!("it never asks for money: {waits:#?}\n{:#?}", thread(stage, &mission).await);
        }
        hasten(stage).await;
        tokio::time::sleep(Duration::from_millis(15)).await;
    }
    stage.store.find_mission(&mission.id).await.unwrap().unwrap()
}

async fn a_mission_whose_budget_is_used_up_rests_and_goes_on_when_it_is_raised(backing: Backing) {
    let stage = open_with(backing, 0.04).await;
    hand_over(&stage).await;
    let mission = runs_out(&stage).await;
    assert_eq!(mission.status, MissionStatus::Running, "planning was within the budget");
    let rests = async || {
        let items = steps(&stage, &mission).await;
        let waits =
            |wait: &Option<Wait>| matches!(wait, Some(Wait::Budget { refused, .. }) if refused.limit.mission() == Some(&mission.id));
        let is_at_rest = |item: &WorkItem| waits(&item.wait) || matches!(item.status, WorkStatus::Blocked | WorkStatus::Done);
        items.iter().any(|item| waits(&item.wait)) && items.iter().all(is_at_rest)
    };
    let come_to_rest = || async {
        hasten(&stage).await;
        rests().await
    };
    eventually("all rest", come_to_rest).await;
    let paid = stage.team.model.count();
    stage.pass(Duration::from_mins(20)).await;
    assert!(rests().await, "{:#?}", steps(&stage, &mission).await);
    assert_eq!(stage.team.model.count(), paid, "nothing goes on without money");
    let asked = said(&stage, &mission, USED_UP).await;
    assert_eq!(asked.len(), 1, "one question for all steps: {asked:#?}");
    assert!(asked[0].text.contains("of $0.04 are used"), "{}", asked[0].text);
    assert!(stage.team.answers(super::stage::HERE).await.iter().all(|shown| !shown.text.contains("On hold")), "no step asks for itself");

    // Of two clicks one counts.
    press_twice(&stage, &asked[0], "Raise by $1.00").await;
    eventually("it is raised", || async { said(&stage, &mission, "raised the budget of").await.len() == 1 }).await;
    let mission = comes_to(&stage, MissionStatus::Done).await;
    hears(&stage, "is done. 3 of 3 steps done").await;
    assert_eq!(stage.asked_about("Describe the cart").len(), 2, "no reply was paid for twice");
    let costs = command_text(&stage, "costs", &[("id", mission.short_id())]).await;
    assert!(costs.contains(" of $1.04: planning $0."), "{costs}");
}

async fn a_mission_without_money_for_its_plan_asks_before_it_plans(backing: Backing) {
    let stage = open_with(backing, 0.0001).await;
    hand_over(&stage).await;
    let mission = runs_out(&stage).await;
    assert_eq!((mission.status, mission.plan), (MissionStatus::Planning, None));
    let asked = said(&stage, &find(&stage).await, USED_UP).await;
    press_on(&stage, &asked[0], "Raise by $1.00").await;
    comes_to(&stage, MissionStatus::Done).await;
    hears(&stage, "is done. 3 of 3 steps done").await;
}

async fn a_raise_counts_although_its_process_died_at_once(backing: Backing) {
    for (budget, status) in [(0.0001, MissionStatus::Planning), (0.04, MissionStatus::Running)] {
        let mut stage = open_with(backing, budget).await;
        hand_over(&stage).await;
        let mission = runs_out(&stage).await;
        assert_eq!(mission.status, status);
        stage.team.stop_app().await;
        // As if the process had died after it stored the raise and before it woke anything.
        let limit = Limit::Mission(mission.id.clone());
        assert!(stage.store.raise_limit_once(&limit, 0, 1_000_000, "Ann", stage.clock.now()).await.unwrap());
        assert!(!stage.store.raise_limit_once(&limit, 0, 1_000_000, "Bob", stage.clock.now()).await.unwrap(), "once");
        stage.team.start_app().await;
        comes_to(&stage, MissionStatus::Done).await;
        hears(&stage, "is done. 3 of 3 steps done").await;
    }
}

async fn a_review_without_money_waits_for_it(backing: Backing) {
    let stage = open_with(backing, 10.0).await;
    let (go_on, may_judge) = watch::channel(false);
    let play = Play::default();
    stage.team.model.on(move |asked| {
        let script = play.answer(asked);
        if is_critique(asked) { script.when(&may_judge) } else { script }
    });
    hand_over(&stage).await;
    let mission = find(&stage).await;
    let both_are_made = || async {
        hasten(&stage).await;
        stage.team.model.requests().iter().filter(|asked| is_critique(asked)).count() == 2
    };
    eventually("both authors look at their work", both_are_made).await;
    // As if planning had been expensive.
    let dear = "UPDATE ledger SET cost = 9999000 WHERE id = (SELECT MIN(id) FROM ledger WHERE subject =";
    execute(&stage.team, &format!("{dear} '{}')", mission.id)).await;
    go_on.send(true).unwrap();
    let mission = runs_out(&stage).await;
    let waits = async || {
        let items = steps(&stage, &mission).await;
        items.iter().filter(|item| item.status == WorkStatus::Waiting && matches!(item.wait, Some(Wait::Budget { .. }))).count()
    };
    eventually("both wait for money", || async { waits().await == 2 }).await;
    let asked = said(&stage, &mission, USED_UP).await;
    press_on(&stage, &asked[0], "Raise by $1.00").await;
    comes_to(&stage, MissionStatus::Done).await;
    hears(&stage, "is done. 3 of 3 steps done").await;
    assert_eq!(stage.asked_about("Describe the cart").len(), 2, "nothing was made twice");
    let said = stage.team.answers(super::stage::HERE).await;
    assert_eq!(said.iter().filter(|shown| shown.text.contains("Tea shop")).count(), 2, "nobody is asked for a review: {said:#?}");
}

async fn most_of_a_budget_is_told_once(backing: Backing) {
    let stage = open_with(backing, 10.0).await;
    hand_over(&stage).await;
    let mission = comes_to(&stage, MissionStatus::Running).await;
    // As if planning had been expensive.
    let dear = "UPDATE ledger SET cost = 8200000 WHERE id = (SELECT MIN(id) FROM ledger WHERE subject =";
    execute(&stage.team, &format!("{dear} '{}')", mission.id)).await;
    let mission = comes_to(&stage, MissionStatus::Done).await;
    let told = said(&stage, &mission, "of its budget of $10.00. When that is used up, its steps wait.").await;
    assert_eq!(told.len(), 1, "{told:#?}");
    assert!(told[0].text.contains("has used $8."), "{}", told[0].text);
    hears(&stage, "is done. 3 of 3 steps done").await;

    // The costs of these steps give the expected cost of the next mission.
    assert_eq!(mission.plan.unwrap().expected, None);
    hand_over(&stage).await;
    let next = async || {
        hasten(&stage).await;
        stage.store.list_missions(5).await.unwrap().into_iter().find(|other| other.id != mission.id && other.plan.is_some())
    };
    eventually("there is another plan", || async { next().await.is_some() }).await;
    let next = next().await.unwrap();
    let costs = command_text(&stage, "costs", &[("id", next.short_id())]).await;
    assert!(costs.contains("of $10.00 (expected: about $0.0"), "{costs}");
}
