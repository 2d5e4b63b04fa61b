//! Decides how items are executed, by whom, and in which order (WORK-3, WORK-6).
//!
//! Rules determine the kind of execution. A model is asked only if no rule applies.

mod classify;
mod rule;

pub(crate) use rule::asked_in;

use std::sync::{MutexGuard, PoisonError};

use chrono::{DateTime, Utc};

use crate::features::backlog::Work;
use crate::features::backlog::model::{Execution, Owner, Wait, WorkItem, WorkStatus, graph};
use crate::features::backlog::store::{ItemEdit, Planned};
use kernel::db::StoreError;
use kernel::ids::PersonaSlug;
use kernel::jobs::{JobContext, JobError};
use kernel::money::Refused;

/// The most items read at once.
const AT_ONCE: u32 = 200;

impl Work {
    /// Plans new items, and every few minutes also items that wait. Sleeps until the next round, or until it is woken for a new item.
    pub(super) async fn plan(&self, job: &JobContext) -> Result<(), JobError> {
        let deps = self.deps();
        let now = job.now();
        let last = *self.last_round();
        // A clock that was set back also makes a round due.
        let whole = last.is_none_or(|last| now >= self.next_round(last) || now < last);
        if whole {
            self.take_over_from_strangers().await?;
            self.end_waits().await?;
        }
        // Ranks depend on all open items, so many new items are ranked together after the last of them.
        if self.plan_new(job).await? || whole {
            let open = deps.store.list_open_items().await?;
            let ranks: Vec<_> = graph::ranks(&open).into_iter().collect();
            deps.store.set_ranks(&ranks).await?;
        }
        if whole {
            *self.last_round() = Some(now);
        }
        Err(JobError::Sleep(self.next_round(last.filter(|_| !whole).unwrap_or(now))))
    }

    /// Whether there were any.
    async fn plan_new(&self, job: &JobContext) -> Result<bool, JobError> {
        let mut were_any = false;
        loop {
            let new = self.deps().store.list_unplanned(AT_ONCE).await?;
            were_any |= !new.is_empty();
            let mut is_planned = false;
            for item in &new {
                job.check()?;
                match self.plan_one(item, job).await {
                    Err(JobError::Retry { why, .. } | JobError::Fail(why)) => {
                        tracing::error!(item = %item.id, error = why, "cannot plan an item; the others continue");
                    }
                    planned => is_planned |= planned?,
                }
            }
            // Those that cannot be planned now are tried again in the next round.
            if !is_planned || new.len() < AT_ONCE as usize {
                return Ok(were_any);
            }
        }
    }

    fn last_round(&self) -> MutexGuard<'_, Option<DateTime<Utc>>> {
        self.inner.last_round.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn plan_one(&self, item: &WorkItem, job: &JobContext) -> Result<bool, JobError> {
        let deps = self.deps();
        let execution = match &item.execution {
            // A reminder does not do the work. For a persona's own item, the rule overrides a reminder that agents proposed.
            Some(Execution::Remind { .. }) if !item.origin.is_of_a_person() && matches!(item.owner, Owner::Persona(_)) => {
                self.find_execution(item, job).await?
            }
            Some(given) => Some(given.clone()),
            None => self.find_execution(item, job).await?,
        };
        let execution = match execution {
            Some(Execution::Remind { whom: None }) if matches!(item.owner, Owner::Persona(_)) => Some(self.find_reminded(item).await?),
            other => other,
        };
        let persona = self.find_executor(item);
        let no_model = deps.agents.is_offline() && execution.as_ref().is_none_or(|execution| execution.kind().needs_model());
        let planned = Planned {
            status: if no_model { WorkStatus::Waiting } else { WorkStatus::Ready },
            wait: no_model.then_some(Wait::Model),
            execution,
            persona: Some(persona),
            note: None,
        };
        Ok(deps.store.plan_item(&item.id, &planned, deps.clock.now()).await?)
    }

    /// Rules first, then a model. Falls back to a person. None if it takes a model to tell, and there is none.
    async fn find_execution(&self, item: &WorkItem, job: &JobContext) -> Result<Option<Execution>, JobError> {
        if let Some(execution) = rule::find_execution(item, &self.deps().roster) {
            return Ok(Some(execution));
        }
        if self.deps().agents.is_offline() {
            return Ok(None);
        }
        let classified = self.classify(item, job.cancelled()).await;
        // A model that was interrupted has not given up.
        if classified.is_none() {
            job.check()?;
        }
        Ok(Some(classified.unwrap_or(Execution::Remind { whom: None })))
    }

    /// Whom a persona's item is for that only tells somebody, or that no persona can do: the person named in it, or the one responsible.
    /// A persona is not reminded of its own work.
    async fn find_reminded(&self, item: &WorkItem) -> Result<Execution, StoreError> {
        let named = self.find_named_person(&item.what);
        let whom = match named {
            Some(named) => Some(named),
            None => self.find_person(item).await?,
        };
        Ok(Execution::Remind { whom })
    }

    /// The persona that executes an item: the owner, or the coordinator for a person's item.
    fn find_executor(&self, item: &WorkItem) -> PersonaSlug {
        match &item.owner {
            Owner::Persona(slug) => slug.clone(),
            Owner::Person { .. } => self.deps().roster.coordinator().slug.clone(),
        }
    }

    /// Reassigns items of personas that have left to the coordinator.
    async fn take_over_from_strangers(&self) -> Result<(), StoreError> {
        let deps = self.deps();
        let coordinator = Owner::Persona(deps.roster.coordinator().slug.clone());
        for item in deps.store.list_open_items().await? {
            if let Owner::Persona(slug) = &item.owner
                && deps.roster.find(slug).is_none()
            {
                tracing::warn!(item = %item.id, persona = %slug, "the owner of an item has left the team; the coordinator takes over");
                let edit = ItemEdit { owner: Some(&coordinator), ..ItemEdit::default() };
                deps.store.edit_item(&item.id, &edit, &format!("{slug} is no longer on the team"), deps.clock.now()).await?;
            }
        }
        Ok(())
    }

    /// Ends waits without a person: a model is configured now, a new day's budget has begun, or the limit was raised.
    async fn end_waits(&self) -> Result<(), StoreError> {
        let deps = self.deps();
        let now = deps.clock.now();
        for item in deps.store.list_waiting().await? {
            let over = match &item.wait {
                Some(Wait::Model) => !deps.agents.is_offline(),
                Some(Wait::Budget { refused, day }) => day.is_some_and(|day| day < now.date_naive()) || self.was_raised(refused).await?,
                _ => false,
            };
            if over {
                deps.store.wake_item(&item.id, now).await?;
            }
        }
        Ok(())
    }

    async fn was_raised(&self, refused: &Refused) -> Result<bool, StoreError> {
        let deps = self.deps();
        let Some(budget) = deps.budgets.find(&refused.limit) else { return Ok(true) };
        let raised = deps.store.find_raise(&refused.limit, deps.clock.now()).await?;
        Ok(budget.saturating_add(raised) > refused.allowed)
    }
}
