//! Work in a repository: on a branch of its own, with the tests as they were before, posted as a patch.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use kernel::repository::RepositorySettings;
use kernel::time::Clock as _;
use kernel::tools::command::run_confined;
use serde_json::json;
use teamroom::features::backlog::model::{Evidence, Execution, Wait, WorkItem, WorkStatus};
use tokio_util::sync::CancellationToken;

use super::part::{Part, Play};
use super::stage::{Setting, Stage};
use crate::support::git::{BUG, count_worktrees, git, make_shop};
use crate::support::model::Script;
use crate::support::skip;
use crate::support::team::{Backing, eventually, on_one_store};

on_one_store!(
    a_bug_is_mended_on_a_branch_and_edited_tests_mend_nothing,
    a_cancelled_item_leaves_nothing_in_the_repository,
    what_another_item_did_is_there_and_missed_if_its_branch_is_gone,
    work_on_top_of_a_branch_that_the_text_names_starts_there,
);

fn settings(repository: &Path) -> RepositorySettings {
    let test_command = ["sh", "tests/total.sh"].map(str::to_owned).into();
    RepositorySettings { name: "shop".into(), path: repository.into(), test_command, tests: Vec::new() }
}

async fn open(backing: Backing, repository: &Path) -> Stage {
    let settings = settings(repository);
    Setting::on(backing).with_model().configure(move |config| config.repositories = vec![settings.clone()]).open().await
}

fn tool(name: &str, arguments: serde_json::Value) -> Script {
    Script::call(name, arguments)
}

fn finish() -> Script {
    tool("finish", json!({"summary": "The discount is 10 % now."}))
}

async fn a_bug_is_mended_on_a_branch_and_edited_tests_mend_nothing(backing: Backing) {
    let seeded = tempfile::tempdir().unwrap();
    make_shop(seeded.path());
    let repository = seeded.path();
    let (command, limit) = (["true".to_owned()], Duration::from_secs(9));
    if let Err(error) = run_confined(&command, repository, limit, &CancellationToken::new()).await {
        return skip::missing("landlock", &error.to_string());
    }
    let stage = open(backing, repository).await;
    let mend = json!({"path": "src/total.sh", "old": "80 / 100", "new": "90 / 100"});
    let cheat = tool("repo_write", json!({"path": "tests/total.sh", "text": "exit 0\n"}));
    Play::of(vec![
        Part::new(
            "honest",
            vec![
                finish(),
                tool("repo_search", json!({"text": "100"})),
                tool("repo_write", json!({"path": ".git/hooks/pre-commit", "text": "exit 1\n"})),
                tool("repo_read", json!({"path": "src/total.sh"})),
                tool("repo_edit", mend),
                tool("repo_test", json!({})),
                finish(),
            ],
        ),
        Part::new("cheating", vec![cheat, tool("repo_test", json!({})), finish()]),
        Part::new("idle", vec![Script::say("I looked at it and all is well.")]),
    ])
    .perform(&stage.team.model);
    let item = |how: &str| stage.item(&format!("Mend the total, {how}"), "The test in tests/total.sh fails.", Execution::Build);
    let (honest, cheating, idle) = (item("honest"), item("cheating"), item("idle"));
    stage.put(&[&honest, &cheating, &idle]).await;

    let done = stage.comes_to(&honest.id, WorkStatus::Done).await;
    let branch = format!("teamroom/{}", honest.short_id());
    assert_eq!(done.repository.as_deref(), Some("shop"), "the only repository is meant");
    let tested = |found: &Evidence| matches!(found, Evidence::Test { exit_code: 0, .. });
    let changed = |found: &Evidence| matches!(found, Evidence::Branch { branch: of, tests, .. } if *of == branch && tests.is_empty());
    let reviewed = |found: &Evidence| matches!(found, Evidence::Review { .. });
    assert!(done.evidence.iter().any(tested) && done.evidence.iter().any(changed) && done.evidence.iter().any(reviewed), "{done:#?}");
    let refusals = stage.refusals(&honest.id).await;
    assert!(refusals[0].contains("nothing in the repository was changed") && refusals[1].contains(".git"), "{refusals:?}");
    assert!(git(repository, &["show", &format!("{branch}:src/total.sh")]).contains("90 / 100"));
    let commit = git(repository, &["log", "-1", "--format=%an <%ae>%n%B", &branch]);
    assert!(
        commit.starts_with("Eliza <eliza@teamroom>\nThe discount is 10 % now\n\nAsked for: Mend the total, honest")
            && commit.contains(&format!("#{}", honest.short_id())),
        "{commit}"
    );

    let announced = stage.hears("✔ Eliza: Mend the total, honest").await;
    for wanted in ["src/total.sh | 2 +-", "1 file changed", &format!("git merge {branch}")] {
        assert!(announced.text.contains(wanted), "{wanted} in {}", announced.text);
    }
    let patch = format!("{}.patch", honest.short_id());
    assert_eq!(announced.raw["attachments"][0]["filename"], patch.as_str());
    let kept = stage.store.read_artefacts(&honest.id).await.unwrap();
    assert!(kept[0].text().unwrap().contains("+echo $(( $1 * 90 / 100 ))"), "{kept:?}");

    let failed = stage.comes_to(&cheating.id, WorkStatus::Failed).await;
    let why = failed.outcome.as_deref().unwrap();
    assert!(why.contains("with the tests as they were before") && why.contains("is not 180"), "{why}");
    assert!(
        stage.asked_about("cheating").iter().any(|asked| asked.prompt().contains("ended with 0")),
        "it passed before the worker's eyes"
    );
    let failed = stage.comes_to(&idle.id, WorkStatus::Failed).await;
    assert!(failed.outcome.as_deref().unwrap().contains("nothing in the repository was changed"), "{failed:?}");

    // People's files and branch are as they were, and all worktrees are gone.
    eventually("no worktree is left", || async { count_worktrees(repository) == 0 }).await;
    assert_eq!(git(repository, &["status", "--porcelain", "--branch"]), "## main\n");
    assert_eq!(git(repository, &["log", "--format=%s"]), "Begin\n");
    assert_eq!(std::fs::read_to_string(repository.join("src/total.sh")).unwrap(), BUG);
    git(repository, &["merge", "--quiet", &branch]);
    assert!(Command::new("sh").arg("tests/total.sh").current_dir(repository).status().unwrap().success(), "merged, the test passes");
}

async fn a_cancelled_item_leaves_nothing_in_the_repository(backing: Backing) {
    let seeded = tempfile::tempdir().unwrap();
    make_shop(seeded.path());
    let repository = seeded.path();
    let stage = open(backing, repository).await;
    let edit = tool("repo_edit", json!({"path": "src/total.sh", "old": "80", "new": "90"}));
    Play::of(vec![Part::new("total", vec![edit, Script::Hang])]).perform(&stage.team.model);
    let item = WorkItem { repository: Some("shop".into()), ..stage.item("Mend the total", "", Execution::Build) };
    stage.put(&[&item]).await;
    eventually("it is being worked on", || async { stage.journal(&item.id).await.len() >= 3 }).await;
    let branch = format!("teamroom/{}", item.short_id());
    assert!(git(repository, &["branch", "--list", &branch]).contains(&branch));
    assert!(stage.team.config.data.join("worktrees").join(item.id.as_str()).exists());
    stage.store.cancel_item(&item.id, "Ada", &[], stage.clock.now()).await.unwrap().expect("it was open");
    stage.pass(Duration::from_mins(50)).await;
    assert!(git(repository, &["branch", "--list", &branch]).contains(&branch), "it may still be taken back");
    stage.pass(Duration::from_mins(20)).await;
    eventually("nothing is left", || async {
        git(repository, &["branch", "--list", "teamroom/*"]).is_empty()
            && count_worktrees(repository) == 0
            && !stage.team.config.data.join("worktrees").join(item.id.as_str()).exists()
    })
    .await;
    assert_eq!(git(repository, &["status", "--porcelain"]), "");
}

async fn what_another_item_did_is_there_and_missed_if_its_branch_is_gone(backing: Backing) {
    let seeded = tempfile::tempdir().unwrap();
    make_shop(seeded.path());
    let repository = seeded.path();
    let stage = open(backing, repository).await;
    let edit = |old: &str, new: &str| tool("repo_edit", json!({"path": "src/total.sh", "old": old, "new": new}));
    Play::of(vec![
        Part::new("Mend", vec![edit("80 / 100", "90 / 100"), finish()]),
        Part::new("Comment", vec![finish(), edit("# The total with 10 % off.", "# The total with the discount."), finish()]),
    ])
    .perform(&stage.team.model);
    let mended = stage.item("Mend the total", "", Execution::Build);
    stage.put(&[&mended]).await;
    stage.comes_to(&mended.id, WorkStatus::Done).await;
    let branch = format!("teamroom/{}", mended.short_id());
    eventually("its worktree is gone", || async { count_worktrees(repository) == 0 }).await;
    let commit = git(repository, &["rev-parse", &branch]).trim().to_owned();
    git(repository, &["branch", "--quiet", "-D", &branch]);

    // The item between both does not work in the repository.
    let looked = WorkItem { depends_on: vec![mended.id.clone()], ..stage.glance("Look at the shop") };
    let comment = WorkItem { depends_on: vec![looked.id.clone()], ..stage.item("Comment the total", "", Execution::Build) };
    stage.put(&[&looked, &comment]).await;
    let waits = stage.until(&comment.id, "waits", |item| matches!(item.wait, Some(Wait::Decision { .. }))).await;
    let Some(Wait::Decision { why }) = waits.wait else { unreachable!("it was waited for") };
    assert!(why.contains(&format!("the branch {branch} of \"Mend the total\" is gone")) && why.contains(&commit[..12]), "{why}");
    assert!(stage.asked_about("Comment").is_empty(), "nothing is begun without it");

    git(repository, &["branch", &branch, &commit]);
    stage.backlog("retry", &[("id", comment.short_id())]).await;
    let done = stage.comes_to(&comment.id, WorkStatus::Done).await;
    let refusals = stage.refusals(&comment.id).await;
    assert!(refusals[0].contains("nothing in the repository was changed"), "what others did is no change: {refusals:?}");
    let own = format!("teamroom/{}", comment.short_id());
    assert_eq!(git(repository, &["log", "--format=%s", &own]), "The discount is 10 % now\nThe discount is 10 % now\nBegin\n");
    let diffstat = done.evidence.iter().find_map(|found| match found {
        Evidence::Branch { diffstat, .. } => Some(diffstat.as_str()),
        _ => None,
    });
    assert!(diffstat.is_some_and(|diffstat| diffstat.contains("src/total.sh | 4 ++--")), "the whole change: {diffstat:?}");
    git(repository, &["branch", "--quiet", "-D", &branch]);
    git(repository, &["merge", "--quiet", &own]);
    assert!(Command::new("sh").arg("tests/total.sh").current_dir(repository).status().unwrap().success(), "one branch has all of it");
}

async fn work_on_top_of_a_branch_that_the_text_names_starts_there(backing: Backing) {
    let seeded = tempfile::tempdir().unwrap();
    make_shop(seeded.path());
    let repository = seeded.path();
    let stage = open(backing, repository).await;
    let edit = |old: &str, new: &str| tool("repo_edit", json!({"path": "src/total.sh", "old": old, "new": new}));
    Play::of(vec![
        Part::new("Mend", vec![edit("80 / 100", "90 / 100"), finish()]),
        Part::new("Comment", vec![edit("# The total with 10 % off.", "# The total with the discount."), finish()]),
    ])
    .perform(&stage.team.model);
    let mended = stage.item("Mend the total", "", Execution::Build);
    stage.put(&[&mended]).await;
    stage.comes_to(&mended.id, WorkStatus::Done).await;
    let how = format!("On top of the branch teamroom/{}.", mended.short_id());
    let comment = stage.item("Comment the total", &how, Execution::Build);
    stage.put(&[&comment]).await;
    stage.comes_to(&comment.id, WorkStatus::Done).await;
    let own = format!("teamroom/{}", comment.short_id());
    assert_eq!(git(repository, &["log", "--format=%s", &own]), "The discount is 10 % now\nThe discount is 10 % now\nBegin\n");
}
