//! Personas at work on an item are told how a similar one was done.

use std::sync::atomic::{AtomicBool, Ordering};

use kernel::memory::{Memory, Scope};
use serde_json::json;
use teamroom::features::backlog::model::{Execution, Owner, WorkItem, WorkStatus};

use super::part::{MORE, fetch, finish, is_work, write};
use super::stage::{HERE, Setting, Stage};
use crate::support::command::{invoke, sub_command, text as text_of};
use crate::support::grading::{all_met, is_grading, not_met};
use crate::support::model::{Asked, Script};
use crate::support::team::{Backing, on_one_store};

on_one_store!(what_was_accepted_is_told_with_a_similar_item, what_failed_leaves_no_approach);

const BLOCK: &str = "| how something similar was done before>>";

/// The approaches that Eliza finds where the whole team reads.
async fn approaches(stage: &Stage) -> Vec<Memory> {
    stage.store.recall_approaches("Compare the prices of hosting", &Scope::TEAM, &"eliza".into()).await.unwrap()
}

fn research(stage: &Stage, what: &str) -> WorkItem {
    WorkItem { criteria: vec!["Each price has a date.".into()], ..stage.item(what, "", Execution::Research) }
}

/// The blocks with approaches in the first prompts about an item with this word.
fn told(stage: &Stage, word: &str) -> Vec<String> {
    let prompts = stage.asked_about(word).into_iter().filter(|asked| asked.tool_results() == 0);
    prompts.filter_map(|asked| Some(asked.prompt().split_once(BLOCK)?.1.split("<<end").next()?.to_owned())).collect()
}

async fn what_was_accepted_is_told_with_a_similar_item(backing: Backing) {
    let stage = Setting::on(backing).with_model().open().await;
    let prices = stage.web.url("prices");
    let is_first = AtomicBool::new(true);
    stage.team.model.on(move |asked: &Asked| match (is_grading(asked), asked.tool_results()) {
        (true, _) if is_first.swap(false, Ordering::SeqCst) => Script::Json(not_met(asked, "The page of shop A has none.")),
        (true, _) => Script::Json(all_met(asked)),
        (false, _) if !is_work(asked) => Script::Json(json!({"execution": "research", "verdict": "answers"})),
        (false, 0) => fetch(&prices),
        (false, 1) => write("prices.md", &format!("# Prices\n\nShop A asks $9 a month ({prices}).{MORE}\n")),
        (false, _) => finish("prices.md"),
    });

    let first = research(&stage, "Compare the prices of hosting in Madrid");
    stage.put(&[&first]).await;
    stage.comes_to(&first.id, WorkStatus::Done).await;
    let text = "Compare the prices of hosting in Madrid. Pages cited: 127.0.0.1. Criticised before it was accepted: not met: Each price has a date.";
    let found = approaches(&stage).await;
    assert_eq!(found.iter().map(|approach| (approach.text.as_str(), approach.held)).collect::<Vec<_>>(), [(text, false)]);
    let shown = invoke(&stage.team, HERE, "memory", sub_command("search", &[("words", "prices of hosting")])).await;
    assert!(text_of(&shown).contains("Pages cited: 127.0.0.1."), "people find it, too: {shown}");

    // A similar item of the same persona, one of another persona, and a different item.
    let again = research(&stage, "Compare the prices of hosting in Lisbon");
    let by_vince = WorkItem { owner: Owner::Persona("vince".into()), ..research(&stage, "Compare the prices of hosting in Oslo") };
    let other = research(&stage, "Collect recipes for the summer party");
    for item in [&again, &by_vince, &other] {
        stage.put(&[item]).await;
        stage.comes_to(&item.id, WorkStatus::Done).await;
    }
    assert_eq!(told(&stage, "Madrid"), Vec::<String>::new(), "its second run came before it was accepted");
    assert_eq!(told(&stage, "Lisbon"), [format!("\n- {text}\n")]);
    let oslo = told(&stage, "Oslo");
    assert!(oslo.len() == 1 && oslo[0].contains(text) && oslo[0].contains("hosting in Lisbon"), "{oslo:?}");
    assert_eq!(told(&stage, "recipes"), Vec::<String>::new());
}

async fn what_failed_leaves_no_approach(backing: Backing) {
    let stage = Setting::on(backing).with_model().open().await;
    let prices = stage.web.url("prices");
    stage.team.model.on(move |asked: &Asked| match asked.tool_results() {
        _ if !is_work(asked) => Script::Json(json!({"execution": "research", "verdict": "answers"})),
        0 => fetch(&prices),
        1 => write("prices.md", &format!("# Prices\n\nShop A asks $9, B asks $1 (https://elsewhere.example/b).{MORE}\n")),
        _ => finish("prices.md"),
    });
    let item = research(&stage, "Compare the prices of hosting in Madrid");
    stage.put(&[&item]).await;
    stage.comes_to(&item.id, WorkStatus::Failed).await;
    assert_eq!(approaches(&stage).await, []);
}
