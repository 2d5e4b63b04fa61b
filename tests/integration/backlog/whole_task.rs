//! What people say and what the team has made reaches the prompt of its worker.

use serde_json::json;
use teamroom::features::backlog::model::{Execution, WorkStatus};

use super::part::{DOCUMENT, Part, Play, finish, write};
use super::stage::{HERE, Setting};
use crate::support::model::Script;
use crate::support::team::{Backing, on_one_store};

on_one_store!(a_long_message_and_its_file_reach_the_worker_whole, what_a_task_names_is_in_its_prompt_and_can_be_read,);

const ROWS: &str = "name,price_eur[2]\nshop_a,9\nshop_b,12\n";

async fn a_long_message_and_its_file_reach_the_worker_whole(backing: Backing) {
    let stage = Setting::on(backing).with_model().open().await;
    let text = format!(
        "write up the gamma prices of all shops that we have looked at so far, {} and put that into faq_v2.md under `## as_json`[2]",
        "with what each of them asks for a month and for a year, and since when, ".repeat(6)
    );
    let read = Script::call("workspace_read", json!({"path": "inputs/message/rows_1.csv"}));
    Play::of(vec![Part::new("gamma", vec![read, write("faq_v2.md", DOCUMENT), finish("faq_v2.md")])])
        .of_kind("write")
        .perform(&stage.team.model);
    let message = format!("add to the backlog for Eliza: {text}");
    stage.team.drop_file(HERE, "rows_1.csv", ROWS.into(), &message).await;
    let item = stage.find("write up the gamma prices").await;
    assert!(item.what.chars().count() <= 160 && item.what.ends_with('…'), "{}", item.what);
    assert_eq!(item.said, message);
    stage.comes_to(&item.id, WorkStatus::Done).await;
    let asked = stage.asked_about("gamma");
    let prompt = asked[0].prompt();
    for whole in [text.as_str(), ROWS.trim_end(), "inputs/message/rows_1.csv, which "] {
        assert!(prompt.contains(whole), "{whole} is missing in {prompt}");
    }
    assert!(asked[1].last().contains(ROWS.trim_end()), "{}", asked[1].last());
}

async fn what_a_task_names_is_in_its_prompt_and_can_be_read(backing: Backing) {
    let stage = Setting::on(backing).with_model().open().await;
    let faq = stage.item("Write up alpha faq", "", Execution::Write);
    let update =
        stage.item("Bring beta up to date", &format!("It is answer 3 of #{}; see faq_v2.md, too.", faq.short_id()), Execution::Write);
    let id = faq.short_id().to_owned();
    Play::of(vec![
        Part::new("alpha", vec![write("docs/faq_v2.md", DOCUMENT), finish("docs/faq_v2.md")]),
        Part::new(
            "beta",
            vec![
                Script::call("item_read", json!({"item": id})),
                Script::call("item_read", json!({"file": "faq_v2.md"})),
                write("new.md", DOCUMENT),
                finish("new.md"),
            ],
        ),
    ])
    .perform(&stage.team.model);
    stage.put(&[&faq]).await;
    stage.comes_to(&faq.id, WorkStatus::Done).await;
    stage.put(&[&update]).await;
    stage.comes_to(&update.id, WorkStatus::Done).await;
    let asked = stage.asked_about("beta");
    let prompt = asked[0].prompt();
    let label = format!("docs/faq_v2.md of #{} (", faq.short_id());
    assert!(prompt.contains(&label) && prompt.contains(DOCUMENT.trim_end()), "{prompt}");
    assert_eq!(prompt.matches(&label).count(), 1, "once, although it is named twice");
    let item = asked[1].last();
    assert!(
        item.contains("What: Write up alpha faq") && item.contains("Status: done") && item.contains("File: docs/faq_v2.md ("),
        "{item}"
    );
    assert!(asked[2].last().contains(DOCUMENT.trim_end()), "{}", asked[2].last());
}
