//! Decides how items are executed, by whom, and in which order (WORK-3, WORK-6).
//!
//! Rules determine the kind of execution. A model is asked only if no rule applies.

mod classify;
mod rule;

pub(crate) use rule::asked_in;

use std::time::Duration;

use chrono::{DateTime, Utc};

use crate::features::backlog::Work;
use crate::features::backlog::model::{Execution, Owner, Wait, WorkItem, WorkStatus, graph};
use crate::features::backlog::store::{ItemEdit, Planned};
use kernel::db::StoreError;
use kernel::ids::PersonaSlug;
use kernel::money::Refused;

/// The most items planned per round, so that thousands of new items do not block other work.
const AT_ONCE: u32 = 200;

/// A free persona waits at most for this many items to be planned.
const IN_A_ROW: usize = 10;

/// The progress of planning.
#[derive(Debug, Default)]
pub(super) struct Rounds {
    /// The last complete round. None before the first.
    whole: Option<DateTime<Utc>>,
    /// An item was planned after ranks were last computed.
    unranked: bool,
}

impl Rounds {
    fn is_due(&self, now: DateTime<Utc>, every: Duration) -> bool {
        // A clock that was set back also makes a round due.
        self.whole.is_none_or(|last| (now - last).to_std().is_ok_and(|age| age >= every) || now < last)
    }
}

impl Work {
    /// Plans new items, and every few minutes also items that wait. Returns whether everything was planned.
    pub(super) async fn plan(&self, rounds: &mut Rounds) -> Result<bool, StoreError> {
        let parts = self.parts();
        let now = parts.clock.now();
        let whole = rounds.is_due(now, parts.settings.every);
        if whole {
            self.take_over_from_strangers().await?;
            self.end_waits().await?;
        }
        let new = parts.store.list_unplanned(AT_ONCE).await?;
        let mut is_planned = false;
        for (place, item) in new.iter().enumerate() {
            if place > 0 && place.is_multiple_of(IN_A_ROW) {
                self.claim_ready().await?;
            }
            match self.plan_one(item).await {
                Err(error) if !error.is_retryable() => {
                    tracing::error!(item = %item.id, %error, "cannot plan an item; the others continue");
                }
                planned => is_planned |= planned?,
            }
        }
        // Ranks depend on all open items, so many new items are ranked together after the last of them.
        rounds.unranked |= !new.is_empty();
        let more = new.len() == AT_ONCE as usize;
        if whole || (rounds.unranked && !more) {
            let open = parts.store.list_open_items().await?;
            let ranks: Vec<_> = graph::ranks(&open).into_iter().collect();
            parts.store.set_ranks(&ranks).await?;
            rounds.unranked = false;
        }
        if whole {
            rounds.whole = Some(now);
        }
        // Claimed at once; the rest is planned later.
        if is_planned {
            parts.wake.notify_one();
        }
        Ok(whole)
    }

    async fn plan_one(&self, item: &WorkItem) -> Result<bool, StoreError> {
        let parts = self.parts();
        let execution = match &item.execution {
            // A reminder does not do the work. For a persona's own item, the rule overrides a reminder that agents proposed.
            Some(Execution::Remind { .. }) if !item.origin.is_of_a_person() && matches!(item.owner, Owner::Persona(_)) => {
                self.find_execution(item).await
            }
            Some(given) => given.clone(),
            None => self.find_execution(item).await,
        };
        let persona = self.find_executor(item);
        let no_model = execution.kind().needs_model() && parts.agents.is_offline();
        let planned = Planned {
            status: if no_model { WorkStatus::Waiting } else { WorkStatus::Ready },
            wait: no_model.then_some(Wait::Model),
            execution: Some(execution),
            persona: Some(persona),
            note: None,
        };
        parts.store.plan_item(&item.id, &planned, parts.clock.now()).await
    }

    /// Rules first, then a model. Falls back to reminding the owner.
    async fn find_execution(&self, item: &WorkItem) -> Execution {
        if let Some(execution) = rule::find_execution(item, &self.parts().roster) {
            return execution;
        }
        self.classify(item).await.unwrap_or(Execution::Remind { answer: true })
    }

    /// The persona that executes an item: the owner, or the coordinator for a person's item.
    fn find_executor(&self, item: &WorkItem) -> PersonaSlug {
        match &item.owner {
            Owner::Persona(slug) => slug.clone(),
            Owner::Person { .. } => self.parts().roster.coordinator().slug.clone(),
        }
    }

    /// Reassigns items of personas that have left to the coordinator.
    async fn take_over_from_strangers(&self) -> Result<(), StoreError> {
        let parts = self.parts();
        let coordinator = Owner::Persona(parts.roster.coordinator().slug.clone());
        for item in parts.store.list_open_items().await? {
            if let Owner::Persona(slug) = &item.owner
                && parts.roster.find(slug).is_none()
            {
                tracing::warn!(item = %item.id, persona = %slug, "the owner of an item has left the team; the coordinator takes over");
                let edit = ItemEdit { owner: Some(&coordinator), ..ItemEdit::default() };
                parts.store.edit_item(&item.id, &edit, &format!("{slug} is no longer on the team"), parts.clock.now()).await?;
            }
        }
        Ok(())
    }

    /// Ends waits without a person: a model is configured now, a new day's budget has begun, or the limit was raised.
    async fn end_waits(&self) -> Result<(), StoreError> {
        let parts = self.parts();
        let now = parts.clock.now();
        for item in parts.store.list_waiting().await? {
            let over = match &item.wait {
                Some(Wait::Model) => !parts.agents.is_offline(),
                Some(Wait::Budget { refused, day }) => day.is_some_and(|day| day < now.date_naive()) || self.was_raised(refused).await?,
                _ => false,
            };
            if over {
                parts.store.wake_item(&item.id, now).await?;
            }
        }
        Ok(())
    }

    async fn was_raised(&self, refused: &Refused) -> Result<bool, StoreError> {
        let parts = self.parts();
        let Some(budget) = parts.budgets.find(&refused.limit) else { return Ok(true) };
        let raised = parts.store.find_raise(&refused.limit, parts.clock.now()).await?;
        Ok(budget.saturating_add(raised) > refused.allowed)
    }
}
