//! Collects context for an agent run: outcomes of needed items, the last rejection, lessons, how something similar was done, and what reviews have
//! taught the persona.

use crate::features::backlog::Work;
use crate::features::backlog::executor::agent_run::{Background, Rejection, Site};
use crate::features::backlog::executor::{Assignment, Outcome};
use crate::features::backlog::inputs::{lay_out, lay_out_given, list_given, list_inputs};
use crate::features::backlog::model::{WorkItem, WorkStatus};
use crate::features::backlog::named::list_named;
use crate::features::backlog::repositories::list_needed;
use crate::features::backlog::store::ItemEvent;
use anyhow::Context as _;
use kernel::db::StoreError;
use kernel::ids::WorkItemId;
use kernel::memory::{Recall, Scope};

/// The most lessons in a prompt.
const LESSONS: usize = 5;

impl Work {
    /// Runs an item with a model.
    pub(super) async fn run_agent(&self, assignment: &Assignment<'_>) -> anyhow::Result<Outcome> {
        let (deps, item) = (self.deps(), assignment.item);
        let mut needs = Vec::new();
        for need in &item.depends_on {
            needs.extend(deps.store.find_item(need).await?);
        }
        let inputs = list_inputs(&deps.store, item).await?;
        lay_out(&deps.workspaces, item, &inputs).await.context("cannot put what the item builds on into its workspace")?;
        let given = list_given(&deps.store, item).await?;
        lay_out_given(&deps.workspaces, item, &given).await.context("cannot put the files of the message into its workspace")?;
        let worktree = match self.open_worktree(item, &list_needed(&deps.store, item).await?).await {
            Ok(worktree) => worktree,
            Err(outcome) => return Ok(outcome),
        };
        let site = worktree.as_ref().map(|worktree| Site { worktree, limit: deps.settings.run_timeout });
        let known: Vec<WorkItemId> = item.depends_on.iter().chain([&item.id]).cloned().collect();
        let private = Scope::private(item.private_to.clone());
        let named = list_named(&deps.store, &deps.roster, &item.describe_task(), &private, &known).await?;
        let rejected = self.find_rejection(item).await?;
        let subject = format!("{} {}", item.what, item.how);
        let scope = private;
        let asked = Recall::new(&subject, &scope, LESSONS).of(&assignment.persona.slug);
        let lessons = deps.store.recall_for_prompt(&asked).await?;
        let approaches = deps.store.recall_approaches(&subject, &scope, &assignment.persona.slug).await?;
        deps.store.record_used(&approaches, deps.clock.now()).await?;
        let amendment = match &item.execution {
            Some(execution) => deps.store.find_amendment_in_use(&assignment.persona.slug, execution.kind()).await?,
            None => None,
        };
        let spot = self.find_spot(item).await?;
        let more_tools = deps.item_tools.get().ok();
        let background = Background {
            needs: &needs,
            inputs: &inputs,
            given: &given,
            named: &named,
            site,
            rejected: rejected.as_ref(),
            lessons: &lessons,
            approaches: &approaches,
            amendment: amendment.as_ref().and_then(|amendment| amendment.text.as_deref()),
            spot: spot.as_ref(),
            more_tools: more_tools.as_deref().map(|tools| &*tools.0),
        };
        self.inner.agent_executor.execute(assignment, &background).await
    }

    /// Why the last run was rejected. None for the first run.
    pub(super) async fn find_rejection(&self, item: &WorkItem) -> Result<Option<Rejection>, StoreError> {
        let Some(before) = item.run.checked_sub(1) else { return Ok(None) };
        let store = &self.deps().store;
        let Some(why) = find_reason(&store.list_events(&item.id).await?) else { return Ok(None) };
        let outside = store.list_journal(&item.id, before).await?.iter().any(|(entry, _)| entry.is_outside());
        Ok(Some(Rejection { why, outside }))
    }
}

/// Why the last run ended and another one began. An interrupted run keeps its number.
fn find_reason(events: &[ItemEvent]) -> Option<String> {
    let is_sent_back = |event: &ItemEvent| match event.from {
        Some(WorkStatus::InProgress) => event.to == WorkStatus::Ready,
        // Also to wait for something that is done again, or to be planned again after an edit.
        Some(WorkStatus::InReview) => matches!(event.to, WorkStatus::Ready | WorkStatus::Blocked | WorkStatus::New),
        Some(WorkStatus::Done) => true,
        _ => false,
    };
    let begins_run = |before: &ItemEvent, event: &ItemEvent| event.run.is_none() || event.run != before.run;
    let mut steps = events.windows(2).rev();
    let sent_back = steps.find(|pair| is_sent_back(&pair[1]) && begins_run(&pair[0], &pair[1]))?;
    sent_back[1].note.clone()
}
