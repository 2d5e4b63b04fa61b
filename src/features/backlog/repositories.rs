//! Items that work in a repository: which one it is, and that nothing of it is left when they are over.

use crate::features::backlog::Work;
use crate::features::backlog::executor::Outcome;
use crate::features::backlog::model::{Execution, Wait, WorkItem, WorkStatus};
use crate::features::backlog::store::Claimed;
use kernel::jobs::JobError;
use kernel::repository::Worktree;

impl Work {
    /// Where exactly one repository is configured, files are built there unless the item says otherwise. It is recorded, because settings change.
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
    pub(super) async fn open_worktree(&self, item: &WorkItem) -> Result<Option<Worktree>, Outcome> {
        let Some(name) = item.repository.as_deref().filter(|_| item.execution == Some(Execution::Build)) else { return Ok(None) };
        let repositories = &self.deps().repositories;
        let decide = |why: String| Outcome::Waits(Wait::Decision { why });
        let Some(settings) = repositories.find(name) else {
            return Err(decide(format!(
                "the repository {name} is not configured. Add [repositories.{name}] to teamroom.toml, or cancel the item"
            )));
        };
        let opened = repositories.open(settings, &item.id, item.short_id()).await;
        opened.map(Some).map_err(|error| decide(format!("the repository {name} cannot be worked in: {error}")))
    }

    /// Removes the worktrees of items that are over. The branch of a cancelled item goes with it. What fails is tried again in the next round.
    pub(super) async fn remove_worktrees(&self) {
        let repositories = &self.deps().repositories;
        for id in repositories.list() {
            let status = match self.deps().store.find_item(&id).await {
                Ok(Some(item)) if item.status.is_over() => item.status,
                // Still needed, or of another database.
                Ok(_) => continue,
                Err(error) => return tracing::warn!(%error, "cannot see which worktrees are still needed"),
            };
            if let Err(error) = repositories.remove(&id, status != WorkStatus::Cancelled).await {
                tracing::warn!(item = %id, %error, "a worktree was not removed");
            }
        }
    }
}
