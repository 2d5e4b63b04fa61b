//! What is to be carried out how, by whom, and in which order (WORK-3, WORK-6).
//!
//! The kind of execution is found by rule; a model is asked only where the words say nothing. What comes first is a pure matter of the items.

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

/// How many items are planned at a time, so that ten thousand new ones keep nobody from anything else.
const AT_ONCE: u32 = 200;

/// Whoever has become free meanwhile waits for no more than these to be planned.
const IN_A_ROW: usize = 10;

/// When what was looked at last.
#[derive(Debug, Default)]
pub(super) struct Rounds {
    /// The last time that everything was looked through; none before the first.
    whole: Option<DateTime<Utc>>,
    /// Something was planned since the last time that places were set.
    unranked: bool,
}

impl Rounds {
    fn is_due(&self, now: DateTime<Utc>, every: Duration) -> bool {
        // A clock that was set back makes it due.
        self.whole.is_none_or(|last| (now - last).to_std().is_ok_and(|age| age >= every) || now < last)
    }
}

impl Work {
    /// Plans what is new; every few minutes also what waits for something that may have come. Says whether everything was looked through.
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
                self.take_up().await?;
            }
            match self.plan_one(item).await {
                Err(error) if !error.is_retryable() => {
                    tracing::error!(item = %item.id, %error, "an item cannot be planned; the others are");
                }
                planned => is_planned |= planned?,
            }
        }
        // Ranks are those of all that is open, so that many new items are ranked together, behind the last of them.
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
        // To be taken up at once, and the rest planned.
        if is_planned {
            parts.wake.notify_one();
        }
        Ok(whole)
    }

    async fn plan_one(&self, item: &WorkItem) -> Result<bool, StoreError> {
        let parts = self.parts();
        let execution = match &item.execution {
            // Whoever is told of what it has to do has not done it: of a persona's own work, rule knows better than what agents proposed.
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

    /// By rule first, by model second; what nobody can tell is brought to its owner's mind.
    async fn find_execution(&self, item: &WorkItem) -> Execution {
        if let Some(execution) = rule::find_execution(item, &self.parts().roster) {
            return execution;
        }
        self.classify(item).await.unwrap_or(Execution::Remind { answer: true })
    }

    /// Whoever carries it out: the persona that owns it, for a person's item the coordinator.
    fn find_executor(&self, item: &WorkItem) -> PersonaSlug {
        match &item.owner {
            Owner::Persona(slug) => slug.clone(),
            Owner::Person { .. } => self.parts().roster.coordinator().slug.clone(),
        }
    }

    /// The items of personas that have left the team go to the coordinator.
    async fn take_over_from_strangers(&self) -> Result<(), StoreError> {
        let parts = self.parts();
        let coordinator = Owner::Persona(parts.roster.coordinator().slug.clone());
        for item in parts.store.list_open_items().await? {
            if let Owner::Persona(slug) = &item.owner
                && parts.roster.find(slug).is_none()
            {
                tracing::warn!(item = %item.id, persona = %slug, "the owner of an item is no longer on the team; the coordinator takes it over");
                let edit = ItemEdit { owner: Some(&coordinator), ..ItemEdit::default() };
                parts.store.edit_item(&item.id, &edit, &format!("{slug} is no longer on the team"), parts.clock.now()).await?;
            }
        }
        Ok(())
    }

    /// Ends waits that nobody has to end: a model is there now, the day whose budget was used up is over, or a limit is higher by now, whoever
    /// raised it on whichever occasion.
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
