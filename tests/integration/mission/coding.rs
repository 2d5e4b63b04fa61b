//! A mission that changes a repository: steps side by side, and one that needs both starts from their branches, joined.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use kernel::repository::RepositorySettings;
use kernel::tools::command::run_confined;
use serde_json::{Value as Json, json};
use teamroom::features::backlog::model::{Evidence, Judge, WorkItem, WorkStatus};
use teamroom::features::mission::model::MissionStatus;
use tokio_util::sync::CancellationToken;

use super::stage::{Play, comes_to, files_of, hand_over, hears, is_planning, plan, step, steps, title_of};
use crate::backlog::part::is_work;
use crate::backlog::stage::{Setting, Stage};
use crate::support::git::{count_worktrees, git};
use crate::support::grading::is_critique;
use crate::support::model::{Asked, Script};
use crate::support::skip;
use crate::support::team::{Backing, eventually, on_one_store};

on_one_store!(two_steps_side_by_side_are_joined_tested_and_delivered, a_conflict_is_resolved_by_the_step_that_joins,);

const PRICES: &str =
    "# All in cents.\nprice() { echo 1000; }\n\n# What is taken off.\ndiscount() { echo 0; }\n\n# What is added.\nshipping() { echo 0; }\n";

/// A repository whose tests are the scripts in `tests`.
fn make_shop(home: &Path) {
    let run = "for test in tests/*_test.sh; do sh $test || { echo \"$test failed\"; exit 1; }; done\n";
    let price = ". src/prices.sh\n[ \"$(price)\" = 1000 ]\n";
    for (path, text) in [("src/prices.sh", PRICES), ("tests/run.sh", run), ("tests/price_test.sh", price)] {
        let path = home.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    git(home, &["init", "--quiet", "--initial-branch=main"]);
    git(home, &["add", "."]);
    git(home, &["commit", "--quiet", "-m", "Begin"]);
}

/// A test in which a price is right.
fn expects(name: &str, cents: u32) -> String {
    format!(". src/prices.sh\n[ \"$({name})\" = {cents} ]\n")
}

fn edit(path: &str, old: &str, new: &str) -> Script {
    Script::call("repo_edit", json!({"path": path, "old": old, "new": new}))
}

fn write(path: &str, text: &str) -> Script {
    Script::call("repo_write", json!({"path": path, "text": text}))
}

fn finish(summary: &str) -> Script {
    Script::call("finish", json!({"summary": summary}))
}

/// The replies for each step: in the first run, and in the run after a rejection.
struct Steps(Vec<(&'static str, Vec<Script>, Vec<Script>)>);

impl Steps {
    fn answer(&self, asked: &Asked) -> Script {
        let title = title_of(asked);
        let (_, first, again) = self.0.iter().find(|(step, ..)| title == *step).unwrap_or_else(|| panic!("nobody does {title}"));
        let replies = if asked.messages[0].text.contains("why the last try was not accepted") { again } else { first };
        replies[asked.tool_results().min(replies.len() - 1)].clone()
    }
}

fn coding(id: &str, title: &str, owner: &str, needs: &[&str], serves: &[&str]) -> Json {
    let mut step = step(id, title, owner, needs, serves);
    step["kind"] = json!("build");
    step
}

/// None where tests cannot be confined.
async fn open(backing: Backing, repository: &Path, work: Steps) -> Option<Stage> {
    make_shop(repository);
    let (command, limit) = (["true".to_owned()], Duration::from_secs(9));
    if let Err(error) = run_confined(&command, repository, limit, &CancellationToken::new()).await {
        skip::missing("landlock", &error.to_string());
        return None;
    }
    let test_command = ["sh", "tests/run.sh"].map(str::to_owned).into();
    let settings = RepositorySettings { name: "shop".into(), path: repository.into(), test_command, tests: Vec::new() };
    let stage = Setting::on(backing).with_model().configure(move |config| config.repositories = vec![settings.clone()]).open().await;
    let steps = [
        coding("discount", "Take the discount off", "eliza", &[], &["3"]),
        coding("shipping", "Add the shipping", "vince", &[], &["6"]),
        coding("total", "Print the total", "echo", &["discount", "shipping"], &["1", "2"]),
    ];
    let play = Play { plans: vec![plan(&steps)], ..Play::default() };
    stage.team.model.on(move |asked| if is_work(asked) { work.answer(asked) } else { play.answer(asked) });
    Some(stage)
}

fn find<'a>(items: &'a [WorkItem], title: &str) -> &'a WorkItem {
    items.iter().find(|item| item.what == title).unwrap_or_else(|| panic!("no {title}"))
}

fn branch_of(item: &WorkItem) -> (&str, &str, &str, &[String]) {
    let branch = item.evidence.iter().find_map(|found| match found {
        Evidence::Branch { branch, commit, diffstat, tests, .. } => Some((&**branch, &**commit, &**diffstat, &**tests)),
        _ => None,
    });
    branch.unwrap_or_else(|| panic!("no branch: {item:#?}"))
}

/// Applies the patch that was delivered to a copy of the repository.
async fn apply_delivered(stage: &Stage, item: &WorkItem, repository: &Path, copy: &Path) -> PathBuf {
    let delivery = hears(stage, "is done. 3 of 3 steps done").await;
    let merge = format!("git merge teamroom/{}", item.short_id());
    assert!(delivery.text.contains(&merge) && delivery.text.matches("git merge").count() == 1, "{}", delivery.text);
    let patch = format!("{}.patch", item.short_id());
    assert_eq!(files_of(&delivery)[1], patch, "the last step's file comes first, behind the coverage");
    let url = delivery.raw["attachments"][1]["url"].as_str().expect("an address");
    let patch = reqwest::get(url).await.expect("the file").bytes().await.expect("bytes");
    std::fs::write(copy.join("change.patch"), &patch).unwrap();
    git(copy, &["clone", "--quiet", &repository.display().to_string(), "shop"]);
    git(&copy.join("shop"), &["apply", "../change.patch"]);
    copy.join("shop")
}

fn run_tests(folder: &Path) -> bool {
    Command::new("sh").arg("tests/run.sh").current_dir(folder).status().unwrap().success()
}

async fn two_steps_side_by_side_are_joined_tested_and_delivered(backing: Backing) {
    let (seeded, copy) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let repository = seeded.path();
    let prices = "src/prices.sh";
    let total = write("src/total.sh", ". src/prices.sh\ntotal() { echo $(( $(price) - $(discount) + $(shipping) )); }\n");
    let test_total = write("tests/total_test.sh", ". src/total.sh\n[ \"$(total)\" = 1390 ]\n");
    let work = Steps(vec![
        (
            "Take the discount off",
            vec![
                edit(prices, "discount() { echo 0; }", "discount() { echo 100; }"),
                write("tests/discount_test.sh", &expects("discount", 100)),
                finish("10 % off."),
            ],
            Vec::new(),
        ),
        (
            "Add the shipping",
            vec![
                edit(prices, "shipping() { echo 0; }", "shipping() { echo 490; }"),
                write("tests/shipping_test.sh", &expects("shipping", 490)),
                finish("It costs 4.90."),
            ],
            Vec::new(),
        ),
        (
            "Print the total",
            // Undoes what a sibling did, and changes the sibling's test to fit.
            vec![
                edit(prices, "echo 100;", "echo 0;"),
                write("tests/discount_test.sh", &expects("discount", 0)),
                Script::call("repo_test", json!({})),
                finish("The total is there."),
            ],
            vec![
                edit(prices, "discount() { echo 0; }", "discount() { echo 100; }"),
                write("tests/discount_test.sh", &expects("discount", 100)),
                total,
                test_total,
                Script::call("repo_test", json!({})),
                finish("The total is there."),
            ],
        ),
    ]);
    let Some(stage) = open(backing, repository, work).await else { return };
    hand_over(&stage).await;
    let mission = comes_to(&stage, MissionStatus::Done).await;

    let planned = stage.team.model.requests().into_iter().find(|asked| is_planning(asked, "left_out")).expect("a plan was asked for");
    assert!(planned.prompt().contains("files of the repository shop, each step on a branch of its own"), "{}", planned.prompt());
    let items = steps(&stage, &mission).await;
    let (discount, shipping, total) =
        (find(&items, "Take the discount off"), find(&items, "Add the shipping"), find(&items, "Print the total"));
    assert!(items.iter().all(|item| item.status == WorkStatus::Done), "{items:#?}");

    // Each author looked at the whole change and at the output of the tests, and a colleague reviewed it all the same.
    let looked: Vec<String> = stage.team.model.requests().iter().filter(|asked| is_critique(asked)).map(Asked::prompt).collect();
    for (change, tests) in [("+discount() { echo 100; }", "ended with 0."), ("+shipping() { echo 490; }", "ended with 0.")] {
        let has = |prompt: &&String| prompt.contains("| file change.patch>>") && prompt.contains(change) && prompt.contains(tests);
        assert!(looked.iter().any(|prompt| has(&prompt)), "{change}: {looked:#?}");
    }
    let reviewed = |item: &WorkItem| {
        item.evidence
            .iter()
            .any(|found| matches!(found, Evidence::Criterion { by: Judge::Persona(by), .. } if Some(by) != item.persona.as_ref()))
    };
    assert!(items.iter().all(reviewed), "{items:#?}");

    // The last branch contains both other branches, and they contain nothing of it.
    let (branch, commit, diffstat, tests) = branch_of(total);
    for needed in [discount, shipping] {
        let (_, needed, ..) = branch_of(needed);
        assert_eq!(git(repository, &["merge-base", needed, commit]).trim(), needed);
    }
    assert!(!git(repository, &["show", &format!("{}:{prices}", branch_of(discount).0)]).contains("490"), "side by side");
    for path in [prices, "src/total.sh", "tests/discount_test.sh", "tests/shipping_test.sh", "tests/total_test.sh", "5 files changed"] {
        assert!(diffstat.contains(path), "{path} in {diffstat}");
    }
    assert_eq!(tests, ["tests/total_test.sh (added)"], "the others were judged with their steps");
    let passed = |found: &Evidence| matches!(found, Evidence::Test { exit_code: 0, .. });
    assert!(items.iter().all(|item| item.evidence.iter().any(passed)), "{items:#?}");

    // A step may not change the tests of a sibling.
    let notes: Vec<String> = stage.store.list_events(&total.id).await.unwrap().into_iter().filter_map(|event| event.note).collect();
    let refused = |note: &String| note.contains("with the tests as they were before") && note.contains("tests/discount_test.sh failed");
    assert!(notes.iter().any(refused), "{notes:#?}");
    let asked = stage.asked_about("Print the total").remove(0).prompt();
    assert!(
        asked.contains("has the changes of the items that this one needed already") && !asked.contains("conflicts to resolve"),
        "{asked}"
    );

    let applied = apply_delivered(&stage, total, repository, copy.path()).await;
    assert!(run_tests(&applied) && applied.join("tests/total_test.sh").exists());
    eventually("no worktree is left", || async { count_worktrees(repository) == 0 }).await;
    assert_eq!(git(repository, &["status", "--porcelain", "--branch"]), "## main\n");
    git(repository, &["merge", "--quiet", branch]);
    assert!(run_tests(repository), "merged, the tests pass");
}

async fn a_conflict_is_resolved_by_the_step_that_joins(backing: Backing) {
    let (seeded, copy) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let repository = seeded.path();
    let prices = "src/prices.sh";
    let joined = PRICES.replace("echo 1000", "echo $(( 1000 - $(discount) + $(shipping) ))");
    let work = Steps(vec![
        ("Take the discount off", vec![edit(prices, "echo 1000", "echo $(( 1000 - $(discount) ))"), finish("10 % off.")], Vec::new()),
        ("Add the shipping", vec![edit(prices, "echo 1000", "echo $(( 1000 + $(shipping) ))"), finish("It costs 4.90.")], Vec::new()),
        (
            "Print the total",
            // It does not finish, and what it left is committed.
            vec![finish("It is joined."), Script::say("It is joined.")],
            vec![finish("It is joined."), write(prices, &joined), finish("Both count.")],
        ),
    ]);
    let Some(stage) = open(backing, repository, work).await else { return };
    hand_over(&stage).await;
    let mission = comes_to(&stage, MissionStatus::Done).await;
    let items = steps(&stage, &mission).await;
    let total = find(&items, "Print the total");

    let asked = stage.asked_about("Print the total").remove(0).prompt();
    let told = "- src/prices.sh: \"Take the discount off\" (above the line =======) and \"Add the shipping\" (below it)";
    assert!(asked.contains("| conflicts to resolve first>>") && asked.contains(told), "{asked}");
    let refusals = stage.refusals(&total.id).await;
    assert_eq!(refusals.len(), 2, "{refusals:?}");
    let marks = "conflict marks are left in src/prices.sh:2, src/prices.sh:4, src/prices.sh:6";
    assert!(refusals.iter().all(|refusal| refusal.starts_with("Not finished") && refusal.contains(marks)), "{refusals:?}");
    let notes: Vec<String> = stage.store.list_events(&total.id).await.unwrap().into_iter().filter_map(|event| event.note).collect();
    assert!(notes.iter().any(|note| note.starts_with("git's conflict marks are left in src/prices.sh:2")), "{notes:#?}");

    let (branch, ..) = branch_of(total);
    assert_eq!(git(repository, &["show", &format!("{branch}:{prices}")]), joined);
    let applied = apply_delivered(&stage, total, repository, copy.path()).await;
    assert_eq!(std::fs::read_to_string(applied.join(prices)).unwrap(), joined);
    assert!(run_tests(&applied));
}
