//! Verifies a change of a repository: the commit, its patch, that no conflict is left, and that the tests from before the change pass.

use std::collections::BTreeSet;
use std::time::Duration;

use anyhow::Context;
use async_trait::async_trait;
use tokio_util::sync::CancellationToken;

use crate::features::backlog::executor::agent_run::patch_name;
use crate::features::backlog::model::{Claim, Evidence};
use crate::features::backlog::repositories::list_needed;
use crate::features::backlog::verifier::failing::{self, Failing, Failures, RunTests};
use crate::features::backlog::verifier::test::tail;
use crate::features::backlog::verifier::{Findings, Submitted, VerifierDeps, sha256_of};
use kernel::repository::{TestRun, Version, Worktree};
use kernel::tools::command::{CommandError, CommandResult};
use kernel::tools::workspace::MOST_FILE_BYTES;

pub(super) async fn check(
    deps: &VerifierDeps,
    submitted: &Submitted<'_>,
    found: &mut Findings,
    cancel: &CancellationToken,
) -> anyhow::Result<()> {
    let Submitted { item, product, .. } = *submitted;
    let name = item.repository.as_deref().unwrap_or_default();
    let Some(settings) = deps.repositories.find(name) else {
        found.refuse(format!("the repository {name} is not configured any more"));
        return Ok(());
    };
    let claimed = product.claims.iter().find_map(|claim| match claim {
        Claim::Branch { repository, commit, .. } if repository == name => Some(commit),
        _ => None,
    });
    let Some(claimed) = claimed else {
        found.refuse(format!("no change of the repository {name} was claimed"));
        return Ok(());
    };
    let needs = list_needed(&deps.store, item).await?;
    let worktree = deps.repositories.open(settings, &item.id, item.short_id(), &needs).await.context("cannot open the worktree")?;
    let Some(change) = worktree.change().await.context("cannot read the change")? else {
        found.refuse(format!("nothing in the repository {name} was changed"));
        return Ok(());
    };
    if change.commit != *claimed {
        found.refuse(format!("the branch {} has another commit than the one that was claimed", change.branch));
        return Ok(());
    }
    let marks = worktree.list_marks(Some(&change.commit)).await.context("cannot look for conflict marks")?;
    if !marks.is_empty() {
        found.refuse(format!("git's conflict marks are left in {}", marks.join(", ")));
        return Ok(());
    }
    check_patch(deps, submitted, &worktree, found).await?;
    if !found.reasons.is_empty() {
        return Ok(());
    }
    let tests_changed = !change.tests.is_empty();
    found.prove(Evidence::Branch {
        repository: name.to_owned(),
        branch: change.branch,
        commit: change.commit,
        diffstat: change.diffstat,
        tests: change.tests,
    });
    check_tests(deps, submitted, &worktree, tests_changed, found, cancel).await?;
    found.leave_open("its diff is to be judged");
    let conflicts: BTreeSet<&str> = worktree.conflicts().iter().map(|conflict| conflict.path.as_str()).collect();
    if !conflicts.is_empty() {
        found.leave_open(format!("conflicts were resolved in {}", conflicts.into_iter().collect::<Vec<_>>().join(", ")));
    }
    Ok(())
}

/// The patch must be that of the branch, because it is what people read.
async fn check_patch(deps: &VerifierDeps, submitted: &Submitted<'_>, worktree: &Worktree, found: &mut Findings) -> anyhow::Result<()> {
    let Submitted { item, product, .. } = *submitted;
    let file = patch_name(item);
    if product.claims.iter().any(|claim| matches!(claim, Claim::File { path } if *path != file)) {
        found.refuse("files beside the patch count for nothing here");
    }
    let workspace = deps.workspaces.open(&item.id).await.context("cannot open the workspace to verify the patch")?;
    let (saved, patch) = (workspace.read(&file, MOST_FILE_BYTES).await, worktree.patch().await?);
    match saved {
        Ok(saved) if saved.head == patch => {
            let form = format!("patch, {} lines", String::from_utf8_lossy(&patch).lines().count());
            found.prove(Evidence::File { path: file, sha256: sha256_of(&patch), bytes: patch.len() as u64, form });
        }
        Ok(_) => found.refuse("the patch is not that of the branch"),
        Err(error) => found.refuse(format!("there is no patch: {error}")),
    }
    Ok(())
}

/// The tests from before the change must pass, as far as the base passes them and they do not fail by chance. If only the changed tests pass, the
/// change is refused if the tests failed before it, because it had to make them pass, or if it fails the tests of the items that it builds on,
/// because those were accepted. Otherwise a reviewer judges the changed tests.
async fn check_tests(
    deps: &VerifierDeps,
    submitted: &Submitted<'_>,
    worktree: &Worktree,
    tests_changed: bool,
    found: &mut Findings,
    cancel: &CancellationToken,
) -> anyhow::Result<()> {
    let tests = TestsOf { worktree, limit: deps.settings.run_timeout, cancel };
    match tests.run(Version::WithTestsOfBase).await? {
        None => {}
        Some(Ok(ended)) if ended.exit_code == 0 => {
            let command = format!("{}, with the tests as they were before", worktree.settings.test_command.join(" "));
            found.prove(Evidence::Test { command, exit_code: 0, at: submitted.now });
        }
        // The failure is not about the work, so another attempt is useless.
        Some(Err(error @ (CommandError::NotConfined(_) | CommandError::NotStarted(_)))) => found.leave_open(error.to_string()),
        Some(Err(error)) => found.refuse(error.to_string()),
        Some(Ok(ended)) => {
            let others = if worktree.builds_on_others() { Version::WithTestsOfOthers } else { Version::Current };
            judge_failure(ended, tests_changed.then_some(others), &tests, found).await?;
        }
    }
    Ok(())
}

struct TestsOf<'a> {
    worktree: &'a Worktree,
    limit: Duration,
    cancel: &'a CancellationToken,
}

#[async_trait]
impl RunTests for TestsOf<'_> {
    async fn run(&self, version: Version) -> anyhow::Result<Option<TestRun>> {
        let ran = self.worktree.test(version, self.limit, self.cancel).await.context("cannot copy the repository to test it")?;
        anyhow::ensure!(!self.cancel.is_cancelled(), "cancelled while the test command ran");
        Ok(ran)
    }
}

/// Judges a change that does not pass the tests of its base. `others`: if it changed tests, the version with the tests of the items that it builds on.
async fn judge_failure(ended: CommandResult, others: Option<Version>, tests: &dyn RunTests, found: &mut Findings) -> anyhow::Result<()> {
    let (code, output) = (ended.exit_code, tail(&ended.output).to_owned());
    let Failures { held, on_base, unsteady, base_passed } = failing::sort(&Ok(ended), tests).await?;
    let is_held = match others {
        None => !held.is_empty(),
        Some(others) => {
            let current = Failing::of(tests.run(Version::Current).await?.as_ref());
            if !held.is_empty() && base_passed && current.passed() && Failing::of(tests.run(others).await?.as_ref()).passed() {
                found.leave_open("the test command passes only with the tests as they were changed");
                return Ok(());
            }
            !held.is_empty() || on_base.iter().any(|test| !current.has(test))
        }
    };
    if is_held {
        let how = if others.is_some() { "with the tests as they were before, the test command" } else { "the test command" };
        found.refuse(format!("{how} ended with {code}: {output}"));
    }
    for (names, on_base) in [(on_base, true), (unsteady, false)] {
        if !names.is_empty() {
            let not_held = Evidence::NotHeld { tests: names.into_iter().collect(), on_base };
            found.leave_open(not_held.describe_not_held().unwrap_or_default());
            found.prove(not_held);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::features::backlog::verifier::Verdict;

    fn ended(output: &str) -> CommandResult {
        CommandResult { exit_code: i32::from(!output.is_empty()), output: output.into() }
    }

    /// What each version prints.
    struct Prints<F>(F);

    #[async_trait]
    impl<F: Fn(Version) -> &'static str + Sync> RunTests for Prints<F> {
        async fn run(&self, version: Version) -> anyhow::Result<Option<TestRun>> {
            Ok(Some(Ok(ended((self.0)(version)))))
        }
    }

    /// The verdict on a change that fails with `first`.
    async fn verdict(first: &str, changed: bool, of: impl Fn(Version) -> &'static str + Sync) -> Verdict {
        let mut found = Findings::default();
        judge_failure(ended(first), changed.then_some(Version::Current), &Prints(of), &mut found).await.expect("all runs end");
        found.conclude()
    }

    #[tokio::test]
    async fn a_change_on_a_red_base_is_judged_by_what_the_base_passed() {
        let red = "--- FAIL: Mail";
        let Verdict::ForReview { why, evidence } = verdict(red, false, |_| red).await else { panic!("it is held against the change") };
        assert_eq!(why, "these tests fail without the change, too, and are not held against it: Mail");
        assert_eq!(evidence, [Evidence::NotHeld { tests: vec!["Mail".into()], on_base: true }]);
        let both = "--- FAIL: Mail\n--- FAIL: Total";
        let broken = verdict(both, false, |version| if version == Version::Base { red } else { both }).await;
        assert!(matches!(&broken, Verdict::Unproven { reasons, .. } if reasons[0].contains("ended with 1")), "{broken:?}");
        assert_eq!(broken.evidence(), [Evidence::NotHeld { tests: vec!["Mail".into()], on_base: true }]);
        // A change that edits the failing test makes nothing pass.
        let hidden = verdict(red, true, |version| if version == Version::Current { "" } else { red }).await;
        assert!(matches!(&hidden, Verdict::Unproven { reasons, .. } if reasons[0].starts_with("with the tests as they were before")));
        let both_fail = verdict(red, true, |_| red).await;
        assert!(matches!(both_fail, Verdict::ForReview { .. }), "{both_fail:?}");
    }

    #[tokio::test]
    async fn a_test_that_fails_now_and_then_is_named() {
        let found = verdict("--- FAIL: Slow", false, |_| "").await;
        let named = "these tests failed once and passed when they were run again, so they are not held against the change: Slow";
        assert!(matches!(&found, Verdict::ForReview { why, .. } if why == named), "{found:?}");
    }
}
