//! Work without budget, without a model, during a halt, and with endless rejections.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use kernel::llm::settings::ModelPrice;
use kernel::money::{Limit, Money};
use kernel::time::Clock;
use serde_json::json;
use teamroom::config::Config;
use teamroom::features::backlog::model::{Evidence, Execution, Judge, Wait, WorkItem, WorkStatus};

use super::part::{DOCUMENT, MORE, Part, Play, fetch, finish, is_work, write};
use super::stage::{HERE, Setting, Stage};
use crate::support::command::invoke;
use crate::support::model::Script;
use crate::support::team::{Backing, eventually, on_both_stores, on_one_store};

on_both_stores!(a_model_that_is_away_costs_no_attempt);
on_one_store!(
    an_item_whose_budget_is_used_up_goes_on_when_it_is_raised,
    the_budget_of_the_day_is_waited_for,
    a_limit_in_tokens_is_raised_in_tokens,
    people_are_told_once_of_a_model_that_refuses,
    what_waits_for_the_same_limit_goes_on_when_it_is_raised_elsewhere,
    a_halt_stops_work_and_resume_lets_it_go_on,
    the_same_files_are_not_judged_twice,
    what_was_rejected_three_times_a_person_decides,
);

pub(crate) fn priced(config: &mut Config) {
    config.models.prices.insert("scripted-1".into(), ModelPrice { input: 2.0, cached: 2.0, output: 2.0, minute: 0.0 });
}

fn is_short_of_money(item: &WorkItem) -> bool {
    matches!((item.status, &item.wait), (WorkStatus::Waiting, Some(Wait::Budget { .. })))
}

/// An item for which Eliza looks for this many files before she writes.
async fn research(stage: &Stage, looks: usize) -> WorkItem {
    let prices = stage.web.url("prices");
    let looking = (0..looks).map(|number| Script::call("workspace_read", json!({"path": format!("{number}.md")})));
    let honest = [fetch(&prices), write("prices.md", &format!("# Prices\n\nShop A asks $9 ({prices}).{MORE}\n")), finish("prices.md")];
    Play::of(vec![Part::new("hosting", looking.chain(honest).collect())]).perform(&stage.team.model);
    let item = stage.item("Compare the prices of hosting", "", Execution::Research);
    stage.put(&[&item]).await;
    item
}

async fn an_item_whose_budget_is_used_up_goes_on_when_it_is_raised(backing: Backing) {
    let stage = Setting::on(backing)
        .with_model()
        .configure(|config| {
            priced(config);
            // A reservation takes about two cents, a call half a cent.
            config.budgets.item = Some(Money::from_dollars(0.04));
        })
        .open()
        .await;
    let item = research(&stage, 12).await;
    let mut raises = 0;
    loop {
        let stands = stage.until(&item.id, "done or short", |item| is_short_of_money(item) || item.status == WorkStatus::Done).await;
        if stands.status == WorkStatus::Done {
            assert_eq!((stands.run, stands.attempts), (0, 0), "no try was used up");
            assert!(stands.cost > Money::from_dollars(0.02), "{}", stands.cost);
            break;
        }
        raises += 1;
        assert!(raises < 10, "a raise lets nothing go on");
        let told = async || {
            let said = stage.team.answers(HERE).await;
            said.into_iter().filter(|shown| shown.text.contains("On hold")).collect::<Vec<_>>()
        };
        eventually("people are asked", || async { told().await.len() == raises }).await;
        let asked = told().await.pop().expect("asked");
        let answer = stage.press_on(&asked, "Raise by $0.04").await;
        assert!(answer.contains("raised the budget by $0.04"), "{answer}");
    }
    assert!(raises > 0, "it never ran out");
    assert_eq!(stage.asked_about("hosting").len(), 15, "each reply was paid for once");
}

/// A day's budget that is too small, and an item that waits for the next day.
async fn short_day(backing: Backing) -> (Stage, WorkItem) {
    let configure = |config: &mut Config| {
        priced(config);
        config.budgets.day = Some(Money(1));
        config.budgets.item = None;
    };
    let stage = Setting::on(backing).with_model().configure(configure).open().await;
    let item = research(&stage, 0).await;
    let waits = stage.until(&item.id, "short", is_short_of_money).await;
    (stage, waits)
}

async fn the_budget_of_the_day_is_waited_for(backing: Backing) {
    let (stage, waits) = short_day(backing).await;
    assert!(matches!(&waits.wait, Some(Wait::Budget { day: Some(day), .. }) if *day == waits.updated_at.date_naive()), "{:?}", waits.wait);
    // The next day it is tried again and waits again.
    stage.pass(Duration::from_hours(24)).await;
    let tomorrow =
        |item: &WorkItem| matches!(&item.wait, Some(Wait::Budget { day: Some(day), .. }) if *day > waits.updated_at.date_naive());
    stage.until(&waits.id, "short tomorrow", tomorrow).await;
    assert_eq!(stage.asked_about("hosting").len(), 0, "nothing was asked for that nobody can pay");
    let answer = stage.press("It continues on", "Raise by $1.00").await;
    assert!(answer.contains("raised today's budget by $1.00"), "{answer}");
    let done = stage.comes_to(&waits.id, WorkStatus::Done).await;
    assert_eq!((done.run, done.attempts), (0, 0));
}

async fn a_limit_in_tokens_is_raised_in_tokens(backing: Backing) {
    let stage = Setting::on(backing)
        .with_model()
        .configure(|config| {
            config.budgets.day_tokens = Some(1);
            config.budgets.item_tokens = Some(1_000_000);
        })
        .open()
        .await;
    let item = research(&stage, 0).await;
    stage.until(&item.id, "short", is_short_of_money).await;
    let answer = stage.press("of its 1 tokens for today", "Raise by 1000000 tokens").await;
    assert!(answer.contains("raised today's budget by 1000000 tokens"), "{answer}");
    stage.comes_to(&item.id, WorkStatus::Done).await;
}

async fn what_waits_for_the_same_limit_goes_on_when_it_is_raised_elsewhere(backing: Backing) {
    let (stage, item) = short_day(backing).await;
    stage.store.raise_limit(&Limit::Day, 1_000_000, "Ada", stage.clock.now()).await.unwrap();
    stage.comes_to(&item.id, WorkStatus::Done).await;
}

async fn people_are_told_once_of_a_model_that_refuses(backing: Backing) {
    let stage = Setting::on(backing).with_model().open().await;
    stage.team.model.on(|_| Script::Status { code: 401, body: "no".into(), headers: Vec::new() });
    let item = stage.item("Compare the prices of hosting", "", Execution::Research);
    stage.put(&[&item]).await;
    stage.until(&item.id, "put before people", |item| matches!(item.wait, Some(Wait::Decision { .. }))).await;
    stage.hears("Decision needed").await;
    stage.pass(Duration::from_mins(30)).await;
    stage.team.settle().await;
    let said = stage.team.answers(HERE).await;
    let about: Vec<_> = said.iter().filter(|shown| shown.text.contains(item.short_id())).map(|shown| &shown.text).collect();
    assert!(matches!(about.as_slice(), [asked] if asked.contains("Decision needed")), "{about:?}");
}

async fn a_model_that_is_away_costs_no_attempt(backing: Backing) {
    let stage = Setting::on(backing).with_model().configure(|config| config.models.attempts = 1).open().await;
    stage.team.model.on(|_| Script::Status { code: 529, body: "overloaded".into(), headers: Vec::new() });
    let item = stage.item("Compare the prices of hosting", "", Execution::Research);
    stage.put(&[&item]).await;
    let away = stage.until(&item.id, "put off", |item| item.status == WorkStatus::Ready && item.not_before.is_some()).await;
    assert_eq!((away.run, away.attempts), (0, 0));
    let events = stage.store.list_events(&item.id).await.unwrap();
    let note = events.last().and_then(|event| event.note.clone()).unwrap_or_default();
    assert!(note.contains("scripted has too much to do right now"), "{note}");
    let prices = stage.web.url("prices");
    let replies = vec![fetch(&prices), write("prices.md", DOCUMENT), finish("prices.md")];
    Play::of(vec![Part::new("hosting", replies)]).perform(&stage.team.model);
    let done = stage.comes_to(&item.id, WorkStatus::Done).await;
    assert_eq!((done.run, done.attempts), (0, 0));
}

async fn a_halt_stops_work_and_resume_lets_it_go_on(backing: Backing) {
    let stage = Setting::on(backing).with_model().open().await;
    stage.team.model.on(|asked| if is_work(asked) { Script::Hang } else { Script::Json(json!({})) });
    let item = stage.item("Compare the prices of hosting", "", Execution::Research);
    stage.put(&[&item]).await;
    eventually("it is worked on", || async { !stage.asked_about("hosting").is_empty() }).await;
    invoke(&stage.team, HERE, "halt", json!([])).await;
    eventually("work stops", || async { stage.read(&item.id).await.status == WorkStatus::Ready }).await;
    let prices = stage.web.url("prices");
    let replies = vec![fetch(&prices), write("prices.md", DOCUMENT), finish("prices.md")];
    Play::of(vec![Part::new("hosting", replies)]).perform(&stage.team.model);
    stage.pass(Duration::from_mins(10)).await;
    assert_eq!((stage.read(&item.id).await.status, stage.asked_about("hosting").len()), (WorkStatus::Ready, 1), "nothing goes on");
    invoke(&stage.team, HERE, "resume", json!([])).await;
    let done = stage.comes_to(&item.id, WorkStatus::Done).await;
    assert_eq!((done.run, done.attempts), (0, 0));
}

async fn the_same_files_are_not_judged_twice(backing: Backing) {
    let stage = Setting::on(backing).with_model().open().await;
    let prices = stage.web.url("prices");
    let replies = vec![fetch(&prices), write("prices.md", DOCUMENT), finish("prices.md")];
    Play::of(vec![Part::new("hosting", replies)]).rejecting("It names one shop.").perform(&stage.team.model);
    let item = stage.item("Compare the prices of hosting", "", Execution::Research);
    stage.put(&[&item]).await;
    stage.until(&item.id, "has been tried twice", |item| item.attempts > 0).await;
    assert_eq!(stage.store.list_reviews(&item.id).await.unwrap().len(), 1);
    eventually("it is told why", || async {
        stage.asked_about("hosting").iter().any(|asked| asked.prompt().contains("exactly those that were not accepted before"))
    })
    .await;
}

async fn what_was_rejected_three_times_a_person_decides(backing: Backing) {
    let stage = Setting::on(backing).with_model().open().await;
    let prices = stage.web.url("prices");
    let replies = vec![fetch(&prices), write("prices.md", DOCUMENT), finish("prices.md")];
    let play = Play::of(vec![Part::new("hosting", replies)]).rejecting("It names one shop where three were wanted.");
    let drafts = AtomicUsize::new(0);
    stage.team.model.on(move |asked| match asked.tool_results() {
        1 if is_work(asked) => write("prices.md", &format!("{DOCUMENT}\nDraft {}.\n", drafts.fetch_add(1, Ordering::Relaxed))),
        _ => play.answer(asked),
    });
    let item = stage.item("Compare the prices of hosting", "", Execution::Research);
    stage.put(&[&item]).await;
    let waits = stage.comes_to(&item.id, WorkStatus::Waiting).await;
    assert!(matches!(waits.wait, Some(Wait::Decision { .. })), "{waits:?}");
    let tries = stage.asked_about("hosting");
    assert_eq!(tries.len(), 9, "three tries of three replies");
    assert!(tries[3].prompt().contains("It names one shop where three were wanted."), "{}", tries[3].prompt());
    let asked = stage.hears("Decision needed").await;
    assert!(asked.text.contains("Compare the prices of hosting"), "{}", asked.text);
    stage.press_on(&asked, "Accept as it is").await;
    let done = stage.comes_to(&item.id, WorkStatus::Done).await;
    let by_person = |found: &Evidence| matches!(found, Evidence::Review { by: Judge::Person(_), .. });
    assert!(done.evidence.iter().any(by_person), "{:?}", done.evidence);
}
