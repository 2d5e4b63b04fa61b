//! Verifies a change of a repository: the commit, its patch, that no conflict is left, and that the tests from before the change pass.

use std::collections::BTreeSet;

use anyhow::Context;
use tokio_util::sync::CancellationToken;

use crate::features::backlog::executor::agent_run::patch_name;
use crate::features::backlog::model::{Claim, Evidence};
use crate::features::backlog::repositories::list_needed;
use crate::features::backlog::verifier::test::tail;
use crate::features::backlog::verifier::{Findings, Submitted, VerifierDeps, sha256_of};
use kernel::repository::{TestRun, Version, Worktree};
use kernel::tools::command::CommandError;
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

/// The tests from before the change must pass. If only the changed tests pass, the change is refused if the tests failed before it, because it had to
/// make them pass, or if it fails the tests of the items that it builds on, because those were accepted. Otherwise a reviewer judges the changed
/// tests.
async fn check_tests(
    deps: &VerifierDeps,
    submitted: &Submitted<'_>,
    worktree: &Worktree,
    tests_changed: bool,
    found: &mut Findings,
    cancel: &CancellationToken,
) -> anyhow::Result<()> {
    let test = async |version| {
        let ran = worktree.test(version, deps.settings.run_timeout, cancel).await.context("cannot copy the repository to test it")?;
        anyhow::ensure!(!cancel.is_cancelled(), "cancelled while the test command ran");
        anyhow::Ok(ran)
    };
    let command = format!("{}, with the tests as they were before", worktree.settings.test_command.join(" "));
    let passes = |ran: &Option<TestRun>| matches!(ran, Some(Ok(ended)) if ended.exit_code == 0);
    match test(Version::WithTestsOfBase).await? {
        None => return Ok(()),
        Some(Ok(ended)) if ended.exit_code == 0 => {
            found.prove(Evidence::Test { command, exit_code: 0, at: submitted.now });
            return Ok(());
        }
        // The failure is not about the work, so another attempt is useless.
        Some(Err(error @ (CommandError::NotConfined(_) | CommandError::NotStarted(_)))) => {
            found.leave_open(error.to_string());
            return Ok(());
        }
        Some(Err(error)) => found.refuse(error.to_string()),
        Some(Ok(ended)) if !tests_changed => {
            found.refuse(format!("the test command ended with {}: {}", ended.exit_code, tail(&ended.output)));
        }
        Some(Ok(ended)) => {
            let others = if worktree.builds_on_others() { Version::WithTestsOfOthers } else { Version::Current };
            if passes(&test(Version::Current).await?) && passes(&test(Version::Base).await?) && passes(&test(others).await?) {
                found.leave_open("the test command passes only with the tests as they were changed");
            } else {
                let (code, output) = (ended.exit_code, tail(&ended.output));
                found.refuse(format!("with the tests as they were before, the test command ended with {code}: {output}"));
            }
        }
    }
    Ok(())
}
