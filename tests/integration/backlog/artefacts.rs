//! What an item made: posted, kept, shown, and given to what builds on it.

use serde_json::json;
use teamroom::features::backlog::model::{Evidence, Execution, WorkItem, WorkStatus};

use super::part::{DOCUMENT, Part, Play, finish, write};
use super::stage::{HERE, Setting};
use crate::support::command::{invoke, sub_command};
use crate::support::grading::{all_met, is_grading};
use crate::support::model::Script;
use crate::support::team::{Backing, Shown, on_one_store};

on_one_store!(files_are_posted_kept_and_given_to_what_builds_on_them, a_file_of_another_item_is_no_result,);

const REPORT: &str =
    "# Report\n\nShop A is the one to take until spring, because it asks the least and has never gone down in three years.\n";

fn attachments(shown: &Shown) -> Vec<&str> {
    shown.raw["attachments"].as_array().into_iter().flatten().filter_map(|file| file["filename"].as_str()).collect()
}

async fn files_are_posted_kept_and_given_to_what_builds_on_them(backing: Backing) {
    let stage = Setting::on(backing).with_model().open().await;
    let prices = stage.item("Write up alpha prices", "", Execution::Write);
    let report = stage.item("Write up beta report", "", Execution::Write);
    let report = WorkItem { depends_on: vec![prices.id.clone()], ..report };
    let input = format!("inputs/{}/docs/prices.md", prices.short_id());
    Play::of(vec![
        Part::new("alpha", vec![write("docs/prices.md", DOCUMENT), finish("docs/prices.md")]),
        Part::new(
            "beta",
            vec![
                Script::call("workspace_read", json!({"path": input})),
                write(&input, "# Mine\n"),
                write("Inputs/mine.md", "# Mine\n"),
                write("report.md", REPORT),
                finish("report.md"),
            ],
        ),
    ])
    .perform(&stage.team.model);
    stage.put(&[&prices, &report]).await;
    stage.comes_to(&prices.id, WorkStatus::Done).await;
    let announced = stage.hears("✔ Eliza: Write up alpha prices").await;
    assert_eq!(attachments(&announced), ["docs-prices.md"]);

    let kept = stage.store.read_artefacts(&prices.id).await.unwrap();
    let [file] = &kept[..] else { panic!("one file: {kept:?}") };
    assert_eq!(
        (file.facts.name.as_str(), file.facts.media_type.as_str(), file.text()),
        ("docs/prices.md", "text/markdown", Some(DOCUMENT))
    );
    stage.shows(&prices, &["**Files**", "docs/prices.md (", &format!("/backlog files id:{}", prices.short_id())]).await;
    let posted = invoke(&stage.team, HERE, "backlog", sub_command("files", &[("id", prices.short_id())])).await;
    assert_eq!(posted["attachments"][0]["filename"], "docs-prices.md", "{posted}");

    // An item that builds on it reads it, and cannot change it.
    let done = stage.comes_to(&report.id, WorkStatus::Done).await;
    let asked = stage.asked_about("beta").remove(0).prompt();
    assert!(asked.contains(&format!("{input} (")) && asked.contains("made by Eliza for: Write up alpha prices"), "{asked}");
    let refusals = stage.refusals(&report.id).await;
    assert!(refusals.len() == 2 && refusals.iter().all(|why| why.contains("holds what others made")), "{refusals:?}");
    let files: Vec<_> = done.evidence.iter().filter(|found| matches!(found, Evidence::File { .. })).collect();
    assert!(matches!(files[..], [Evidence::File { path, .. }] if path == "report.md"), "{files:?}");
    let nothing = stage.backlog("files", &[("id", stage.glance("Look").short_id())]).await;
    assert!(nothing.contains("There is no item"), "{nothing}");
}

async fn a_file_of_another_item_is_no_result(backing: Backing) {
    let stage = Setting::on(backing).with_model().open().await;
    let prices = stage.item("Write up alpha prices", "", Execution::Write);
    let needs = |what: &str| WorkItem { depends_on: vec![prices.id.clone()], ..stage.item(what, "", Execution::Write) };
    let (claims, copies, changes) = (needs("Write up claiming"), needs("Write up copying"), needs("Write up changing"));
    let input = format!("inputs/{}/prices.md", prices.short_id());
    let honest = vec![write("report.md", REPORT), finish("report.md")];
    Play::of(vec![
        Part::new("alpha", vec![write("prices.md", DOCUMENT), finish("prices.md")]),
        Part::new("claiming", vec![finish(&input)]).again(honest.clone()),
        Part::new("copying", vec![write("copy.md", DOCUMENT), finish("copy.md")]).again(honest.clone()),
        Part::new("changing", honest),
    ])
    .perform(&stage.team.model);
    stage.put(&[&prices, &claims, &copies]).await;
    for (item, why) in [(&claims, "was made by somebody else"), (&copies, "copies of what it was to build on")] {
        let done = stage.comes_to(&item.id, WorkStatus::Done).await;
        assert_eq!(done.run, 1, "{why}");
        let again = stage.store.list_events(&item.id).await.unwrap().into_iter().find(|event| event.from == Some(WorkStatus::InProgress));
        assert!(again.and_then(|event| event.note).is_some_and(|note| note.contains(why)), "{why}");
    }
    // Another program changes the file on the disk: the hash shows it, and the file is restored.
    let place = stage.team.config.data.join("workspaces").join(changes.id.as_str()).join(&input);
    let asked_before = stage.team.model.requests().len();
    let target = place.clone();
    stage.team.model.on(move |asked| {
        if asked.schema.is_some() {
            return Script::Json(if is_grading(asked) { all_met(asked) } else { json!({"verdict": "answers", "execution": "write"}) });
        }
        if asked.tool_results() == 0 && !asked.prompt().contains("why the last try was not accepted") {
            std::fs::write(&target, "# Other prices\n").unwrap();
        }
        if asked.tool_results() == 0 { write("report.md", REPORT) } else { finish("report.md") }
    });
    stage.put(&[&changes]).await;
    let done = stage.comes_to(&changes.id, WorkStatus::Done).await;
    assert!(stage.team.model.requests().len() > asked_before);
    assert_eq!((done.run, std::fs::read_to_string(place).unwrap().as_str()), (1, DOCUMENT));
}
