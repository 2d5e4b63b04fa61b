//! Items that work in a repository: chooses the repository, lists the commits that an item builds on, and removes worktrees that are not needed any
//! more.

use std::collections::{HashSet, VecDeque};

use crate::features::backlog::Work;
use crate::features::backlog::executor::Outcome;
use crate::features::backlog::model::{Evidence, Execution, Wait, WorkItem, WorkStatus};
use crate::features::backlog::named::find_by_id;
use crate::features::backlog::store::Claimed;
use crate::store::Store;
use kernel::db::StoreError;
use kernel::ids::WorkItemId;
use kernel::jobs::JobError;
use kernel::memory::Scope;
use kernel::repository::{BRANCHES, Needed, Worktree};

/// The verified commits that an item in a repository builds on: those of the branches that its text names, of the items that it needs and of its
/// parts, in order. A needed item without a commit is replaced by its own needs and parts. The needs of an item with a commit are not followed, because the commit contains them.
pub(super) async fn list_needed(store: &Store, item: &WorkItem) -> Result<Vec<Needed>, StoreError> {
    let Some(repository) = item.repository.as_deref() else { return Ok(Vec::new()) };
    let (mut needed, mut seen) = (Vec::new(), HashSet::from([item.id.clone()]));
    let mut open = list_named_branches(store, item).await?;
    open.extend(item.depends_on.iter().cloned());
    open.extend(store.list_parts(&item.id).await?.into_iter().map(|part| part.id));
    while let Some(id) = open.pop_front() {
        if !seen.insert(id.clone()) {
            continue;
        }
        let Some(other) = store.find_item(&id).await?.filter(|other| other.status == WorkStatus::Done) else { continue };
        if let Some(done) = find_branch(&other, repository) {
            needed.push(done);
            continue;
        }
        open.extend(store.list_parts(&id).await?.into_iter().map(|part| part.id));
        open.extend(other.depends_on);
    }
    Ok(needed)
}

/// The items whose branches the text of an item names: "on top of teamroom/a1b2c3".
async fn list_named_branches(store: &Store, item: &WorkItem) -> Result<VecDeque<WorkItemId>, StoreError> {
    let (text, scope) = (item.describe_request(), Scope::private(item.private_to.clone()));
    let mut named = VecDeque::new();
    for rest in text.split(BRANCHES).skip(1) {
        let id: String = rest.chars().take_while(char::is_ascii_alphanumeric).collect();
        named.extend(find_by_id(store, &id, &scope).await?.map(|other| other.id));
    }
    Ok(named)
}

/// The branch and commit of a finished item in a repository.
fn find_branch(item: &WorkItem, repository: &str) -> Option<Needed> {
    item.evidence.iter().rev().find_map(|found| match found {
        Evidence::Branch { repository: of, branch, commit, .. } if of == repository => {
            Some(Needed { title: item.what.clone(), branch: branch.clone(), commit: commit.clone() })
        }
        _ => None,
    })
}

impl Work {
    /// Chooses the only configured repository for an item of kind `build` that names none. The choice is recorded, because settings change.
    pub(super) async fn choose_repository(&self, claimed: Claimed) -> Result<Claimed, JobError> {
        let is_open = claimed.item.repository.is_none() && claimed.item.execution == Some(Execution::Build);
        let Some(only) = self.deps().repositories.find_only().filter(|_| is_open) else { return Ok(claimed) };
        // A run that began without a repository ends without one.
        if !self.deps().store.list_journal(&claimed.item.id, claimed.item.run).await?.is_empty() {
            return Ok(claimed);
        }
        if !self.deps().store.record_repository(&claimed.job, &only.name, self.deps().clock.now()).await? {
            return Err(JobError::LostLease);
        }
        let item = WorkItem { repository: Some(only.name.clone()), ..claimed.item };
        Ok(Claimed { item, ..claimed })
    }

    /// The worktree of an item, if it works in a repository. Or why it cannot.
    pub(super) async fn open_worktree(&self, item: &WorkItem, needs: &[Needed]) -> Result<Option<Worktree>, Outcome> {
        let Some(name) = item.repository.as_deref().filter(|_| item.execution == Some(Execution::Build)) else { return Ok(None) };
        let repositories = &self.deps().repositories;
        let decide = |why: String| Outcome::Waits(Wait::Decision { why });
        let Some(settings) = repositories.find(name) else {
            return Err(decide(format!(
                "the repository {name} is not configured. Add [repositories.{name}] to teamroom.toml, or cancel the item"
            )));
        };
        let opened = repositories.open(settings, &item.id, item.short_id(), needs).await;
        opened.map(Some).map_err(|error| decide(format!("the repository {name} cannot be worked in: {error}")))
    }

    /// Removes the worktrees of items that are over. The branch of a cancelled item goes with it, once the cancellation cannot be taken back any more.
    /// What fails is tried again in the next round.
    pub(super) async fn remove_worktrees(&self) {
        let repositories = &self.deps().repositories;
        for id in repositories.list() {
            let can_be_restored = self.deps().store.can_be_restored(&id, self.deps().clock.now()).await;
            let status = match self.deps().store.find_item(&id).await {
                Ok(Some(item)) if item.status.is_over() && can_be_restored.is_ok_and(|can| !can) => item.status,
                // The item is still open, or belongs to another database.
                Ok(_) => continue,
                Err(error) => return tracing::warn!(%error, "cannot see which worktrees are still needed"),
            };
            if let Err(error) = repositories.remove(&id, status != WorkStatus::Cancelled).await {
                tracing::warn!(item = %id, %error, "a worktree was not removed");
            }
        }
    }
}
