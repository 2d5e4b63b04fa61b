//! Any wording in any language, criteria before work starts, parents that are judged, and a watch that ends without what it waited for.

use chrono::TimeDelta;
use kernel::feeds::condition::{Comparison, SettlingRule};
use kernel::time::Clock as _;
use serde_json::json;
use teamroom::features::backlog::model::{Evidence, Execution, Owner, Wait, WatchTerms, WorkItem, WorkStatus};

use super::part::{MORE, fetch, finish, is_work, write};
use super::stage::{Setting, Stage};
use crate::support::grading::{all_met, is_grading, not_met};
use crate::support::model::{Asked, Script};
use crate::support::team::{Backing, on_one_store};

on_one_store!(
    what_nobody_can_tell_is_asked_with_buttons,
    without_a_model_what_needs_one_waits_for_it,
    a_model_says_whether_work_needs_sources_unless_a_person_did,
    an_item_is_held_against_criteria_that_were_drafted_before,
    a_parent_is_done_by_what_its_parts_give,
    a_watch_that_ends_without_it_says_what_was_seen_last,
);

const CONTRACT: &str = "Den Vertrag mit dem Rechenzentrum verlängern";

async fn what_nobody_can_tell_is_asked_with_buttons(backing: Backing) {
    let stage = Setting::on(backing).with_model().open().await;
    stage.team.model.on(|_| Script::Json(json!({"execution": null, "criteria": []})));
    let added = stage.backlog("add", &[("what", CONTRACT), ("owner", "Vince")]).await;
    assert!(added.contains(CONTRACT), "{added}");
    let item = stage.find(CONTRACT).await;
    let person = Owner::Person { id: stage.team.person_id(0), name: stage.team.sandbox().people()[0].name.clone() };
    let waiting = stage.comes_to(&item.id, WorkStatus::Waiting).await;
    assert_eq!(waiting.wait, Some(Wait::Kind { of: Some(person.clone()) }));
    let asked = stage.hears("how should the team go about").await;
    assert!(asked.text.contains(CONTRACT), "{}", asked.text);
    let answer = stage.press_on(&asked, "Remind me").await;
    assert!(answer.contains("Remind me"), "{answer}");
    let told = stage.until(&item.id, "told", |item| matches!(item.wait, Some(Wait::Answer { .. }))).await;
    assert_eq!((told.execution, told.criteria.len()), (Some(Execution::Remind { whom: Some(person) }), 2));
    stage.press("Reminder for", "Done").await;
    assert_eq!(stage.read(&item.id).await.status, WorkStatus::Done);
}

async fn without_a_model_what_needs_one_waits_for_it(backing: Backing) {
    let stage = Setting::on(backing).open().await;
    for what in [CONTRACT, "renew the certificate", "please patch the server"] {
        stage.backlog("add", &[("what", what), ("owner", "Vince")]).await;
        let item = stage.find(what).await;
        let waiting = stage.comes_to(&item.id, WorkStatus::Waiting).await;
        assert_eq!(waiting.wait, Some(Wait::Model), "{what}");
    }
    let list = stage.backlog("list", &[]).await;
    assert_eq!(list.matches("waits for a model").count(), 3, "{list}");
    assert!(!list.contains("decision"), "nobody has to do anything: {list}");
}

async fn a_model_says_whether_work_needs_sources_unless_a_person_did(backing: Backing) {
    let stage = Setting::on(backing).with_model().open().await;
    stage.team.model.on(|asked| match asked.schema {
        Some(_) => Script::Json(json!({"execution": "write", "criteria": ["Both prices stand there", "The difference stands there"]})),
        None => Script::Hang,
    });
    let what = "compare the prices of Hetzner (4.35 EUR) and Infomaniak (3.00 EUR)";
    let planned = async |what: &str| {
        let item = stage.find(what).await;
        stage.until(&item.id, "planned", |item| item.execution.is_some()).await.execution
    };
    stage.backlog("add", &[("what", what), ("owner", "Vince")]).await;
    assert_eq!(planned(what).await, Some(Execution::Write));
    let known = "compare the two offers that I gave you";
    stage.backlog("add", &[("what", known), ("owner", "Vince"), ("criteria", "It names the cheaper one")]).await;
    assert_eq!(planned(known).await, Some(Execution::Write), "also with criteria of a person");
    assert_eq!(stage.find(known).await.criteria, ["It names the cheaper one"]);
    stage.backlog("add", &[("what", "compare the opening hours"), ("owner", "Eliza"), ("kind", "research")]).await;
    assert_eq!(planned("compare the opening hours").await, Some(Execution::Research));
}

/// Drafts criteria in the language of the task, works honestly, and grades as the item says.
fn play(asked: &Asked, prices: &str) -> Script {
    let prompt = asked.prompt();
    if is_grading(asked) {
        let too_early = prompt.contains("Hälfte") || (prompt.contains("Reise") && !prompt.contains("Zwei Angebote"));
        return Script::Json(if too_early { not_met(asked, "Es fehlt der Preis von Shop B.") } else { all_met(asked) });
    }
    if asked.schema.is_some() {
        return Script::Json(
            json!({"execution": "research", "criteria": ["Zwei Shops mit Preisen", "Zu jedem Preis die Seite"], "verdict": "answers"}),
        );
    }
    if is_work(asked) {
        let text = format!("# Preise\n\nShop A verlangt $9 im Monat ({prices}).\n\n{MORE}\n");
        return [fetch(prices), write("preise.md", &text), finish("preise.md")][asked.tool_results().min(2)].clone();
    }
    Script::say("Forty orders a day.")
}

async fn with_model(backing: Backing) -> Stage {
    let stage = Setting::on(backing).with_model().open().await;
    let prices = stage.web.url("prices");
    stage.team.model.on(move |asked| play(asked, &prices));
    stage
}

async fn an_item_is_held_against_criteria_that_were_drafted_before(backing: Backing) {
    let stage = with_model(backing).await;
    let drafted = ["Zwei Shops mit Preisen", "Zu jedem Preis die Seite"];
    stage.backlog("add", &[("what", "Preise für Server vergleichen"), ("owner", "Eliza")]).await;
    let item = stage.find("Preise für Server").await;
    let done = stage.comes_to(&item.id, WorkStatus::Done).await;
    assert_eq!((done.execution.clone(), done.criteria.as_slice()), (Some(Execution::Research), &drafted.map(str::to_owned)[..]));
    let shown = done.evidence.iter().filter_map(|found| match found {
        Evidence::Criterion { criterion, shown, .. } => Some((criterion.as_str(), shown.contains("Shop A verlangt $9"))),
        _ => None,
    });
    assert_eq!(shown.collect::<Vec<_>>(), drafted.map(|criterion| (criterion, true)), "{:?}", done.evidence);
    stage.shows(&done, &["Done when: Zwei Shops mit Preisen", "Zu jedem Preis die Seite — ", "found: \"Shop A verlangt $9"]).await;

    // Exactly the lines that are missing go back to the author. After three times a person gets the history.
    stage.backlog("add", &[("what", "Nur die Hälfte der Preise vergleichen"), ("owner", "Eliza")]).await;
    let half = stage.find("Nur die Hälfte").await;
    let waiting = stage.comes_to(&half.id, WorkStatus::Waiting).await;
    let Some(Wait::Decision { why }) = &waiting.wait else { panic!("{waiting:#?}") };
    let missing = "1 of 2 criteria not met; 1. Zwei Shops mit Preisen: Es fehlt der Preis von Shop B.";
    assert_eq!(*why, format!("it was rejected 3 times\n1: {missing}\n2: {missing}\n3: {missing}"));
    let told = stage.asked_about("Hälfte");
    assert!(told.iter().any(|asked| asked.prompt().contains("1. Zwei Shops mit Preisen: Es fehlt der Preis von Shop B.")));
    let asked = stage.hears("it was rejected 3 times").await;
    assert!(asked.text.contains("- 2: 1 of 2 criteria not met"), "{}", asked.text);

    // Another task gets other criteria, those of a person stay.
    stage.backlog("edit", &[("id", half.short_id()), ("criteria", "Alle Preise; Je Preis die Seite")]).await;
    stage.backlog("edit", &[("id", half.short_id()), ("how", "Ganz.")]).await;
    assert_eq!(stage.read(&half.id).await.criteria, ["Alle Preise", "Je Preis die Seite"]);
}

async fn a_parent_is_done_by_what_its_parts_give(backing: Backing) {
    let stage = with_model(backing).await;
    let trip = stage.item("Reise vorbereiten", "", Execution::Write);
    let part = |what: &str| WorkItem { parent: Some(trip.id.clone()), ..stage.glance(what) };
    let first = part("Ein Angebot holen");
    stage.put(&[&trip, &first]).await;
    // The end of its part does not complete it.
    let waiting = stage.comes_to(&trip.id, WorkStatus::Waiting).await;
    assert!(
        matches!(&waiting.wait, Some(Wait::Decision { why }) if why.contains("do not give all of it") && why.contains("Shop B")),
        "{waiting:#?}"
    );
    assert_eq!(waiting.criteria.len(), 2);
    let asked = stage.hears("its parts do not give all of it").await;
    assert!(asked.text.contains("Es fehlt der Preis von Shop B."), "{}", asked.text);

    // Another part completes it.
    stage.put(&[&part("Zwei Angebote holen")]).await;
    let done = stage.comes_to(&trip.id, WorkStatus::Done).await;
    assert_eq!(done.outcome.as_deref(), Some("all 2 criteria are met"));
    assert_eq!(done.evidence.iter().filter(|found| matches!(found, Evidence::Criterion { .. })).count(), 2, "{:?}", done.evidence);
}

async fn a_watch_that_ends_without_it_says_what_was_seen_last(backing: Backing) {
    let stage = Setting::on(backing).open().await;
    let until = stage.clock.now() + TimeDelta::minutes(30);
    let rule =
        SettlingRule { feed: "shop".into(), value: "latency".into(), unit: "ms".into(), comparison: Comparison::Below, threshold: 400.0 };
    let watch = Execution::Watch(WatchTerms { feed: "shop".into(), rule: Some(rule), until });
    let item = stage.item("Watch the latency", "", watch);
    stage.put(&[&item]).await;
    // If time passes during a look, the feed counts as silent.
    stage.until(&item.id, "looked at once", |item| item.not_before.is_some()).await;
    stage.pass(std::time::Duration::from_mins(40)).await;
    let done = stage.comes_to(&item.id, WorkStatus::Done).await;
    let missed = format!("shop latency did not go below 400 ms by {}; last seen: 412", until.format("%a %-d %b, %H:%M"));
    assert!(done.outcome.as_deref().is_some_and(|outcome| outcome.starts_with(&missed)), "{missed}: {done:#?}");
    assert!(matches!(done.evidence.as_slice(), [Evidence::NotMet { value, .. }] if (value - 412.0).abs() < 0.1), "{:?}", done.evidence);
    stage.hears("did not go below 400 ms").await;
}
