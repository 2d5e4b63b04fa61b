//! Decides how items are executed, by whom, and in which order (WORK-3, WORK-6).
//!
//! Rules determine the kind of execution where the words are plain, otherwise a model, otherwise a person with buttons. What was asked for may
//! stand in any words and language. Each item gets criteria before it starts.

mod draft;
mod offer;
mod rule;

pub(crate) use rule::asked_in;

use std::sync::{MutexGuard, PoisonError};

use chrono::{DateTime, Utc};

use crate::features::backlog::Work;
use crate::features::backlog::model::{Execution, ExecutionKind, Origin, Owner, Wait, WorkItem, WorkStatus, criteria};
use crate::features::backlog::store::{ItemEdit, Planned};
use draft::Draft;
use kernel::db::StoreError;
use kernel::ids::{PersonaSlug, WorkItemId};
use kernel::jobs::{JobContext, JobError};
use kernel::money::Refused;
use kernel::people::{Directory, NotFound};
use kernel::persona::roster::Roster;
use kernel::text::fold_name;

/// The most items read at once.
const AT_ONCE: u32 = 200;
/// Reading everything is faster than following what more items than this are connected with.
const RANKED_ALONE: usize = 500;
/// The most items about which a model is asked at once.
const ASKED_AT_ONCE: usize = 8;

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
        // Ranks depend on other items, so many new items are ranked together after the last of them.
        let planned = self.plan_new(job).await?;
        if whole || planned.len() > RANKED_ALONE {
            deps.store.rank_all().await?;
        } else if !planned.is_empty() {
            deps.store.rank_items(&planned).await?;
        }
        if whole {
            *self.last_round() = Some(now);
        }
        Err(JobError::Sleep(self.next_round(last.filter(|_| !whole).unwrap_or(now))))
    }

    /// Returns the items that were new.
    async fn plan_new(&self, job: &JobContext) -> Result<Vec<WorkItemId>, JobError> {
        let mut seen = Vec::new();
        loop {
            let new = self.deps().store.list_unplanned(AT_ONCE).await?;
            if new.is_empty() {
                return Ok(seen);
            }
            seen.extend(new.iter().map(|item| item.id.clone()));
            let people = self.deps().people.directory().await?;
            let mut is_planned = false;
            for items in new.chunks(self.planned_together()) {
                job.check()?;
                let plans = futures_util::future::join_all(items.iter().map(|item| self.decide(item, &people, job))).await;
                let mut decided = Vec::with_capacity(plans.len());
                for (item, plan) in items.iter().zip(plans) {
                    match plan {
                        Ok(plan) => decided.push((item.id.clone(), plan)),
                        Err(JobError::Retry { why, .. } | JobError::Fail(why)) => cannot_plan(&item.id, &why),
                        Err(error) => return Err(error),
                    }
                }
                is_planned |= self.store_plans(&decided).await?;
            }
            // Items that cannot be planned now are tried again in the next round.
            if !is_planned || new.len() < AT_ONCE as usize {
                return Ok(seen);
            }
        }
    }

    fn last_round(&self) -> MutexGuard<'_, Option<DateTime<Utc>>> {
        self.inner.last_round.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Only plans that ask a model take time. Without a model, many plans are stored together.
    fn planned_together(&self) -> usize {
        if self.deps().agents.is_offline() { AT_ONCE as usize } else { ASKED_AT_ONCE }
    }

    /// Stores plans together. If that fails, one by one, so that one item that cannot be planned does not keep the others.
    async fn store_plans(&self, plans: &[(WorkItemId, Planned<'_>)]) -> Result<bool, JobError> {
        let (store, now) = (&self.deps().store, self.deps().clock.now());
        match store.plan_items(plans, now).await {
            Ok(planned) => return Ok(planned > 0),
            Err(error) if plans.len() < 2 || error.is_retryable() => return Err(error.into()),
            Err(error) => tracing::warn!(%error, "items cannot be planned together"),
        }
        let mut is_planned = false;
        for (item, plan) in plans {
            match store.plan_item(item, plan, now).await {
                Ok(planned) => is_planned |= planned,
                Err(error) if error.is_retryable() => return Err(error.into()),
                Err(error) => cannot_plan(item, &error.to_string()),
            }
        }
        Ok(is_planned)
    }

    /// Decides how an item is carried out, by whom, and by which criteria it is done.
    async fn decide(&self, item: &WorkItem, people: &Directory, job: &JobContext) -> Result<Planned<'static>, JobError> {
        let deps = self.deps();
        let given = match &item.execution {
            // A reminder does not do the work. For a persona's own item, the rule overrides a reminder that agents proposed.
            Some(Execution::Remind { whom: None }) if !item.origin.is_of_a_person() && matches!(item.owner, Owner::Persona(_)) => None,
            given => given.clone(),
        };
        let is_given = given.is_some();
        let mut execution = given.or_else(|| rule::find_execution(item, &deps.roster));
        // "Tell me when p95 is above 400" reminds nobody: it watches a feed.
        let reminds = matches!((&execution, &item.owner), (Some(Execution::Remind { .. }), Owner::Persona(_)));
        let by_rule = if reminds && !is_given && !deps.agents.is_offline() && self.names_a_value(item) { execution.take() } else { None };
        let kind = execution.as_ref().map(Execution::kind);
        let mut drafted = Draft::default();
        // Only research has to name sources. Whether work needs them is for the model: "compare the prices that I gave you" does not.
        let is_in_doubt = kind.is_none() || (kind == Some(ExecutionKind::Research) && !is_given);
        let needs_criteria = item.criteria.is_empty() && kind.is_some_and(ExecutionKind::needs_model);
        if !deps.agents.is_offline() && (is_in_doubt || needs_criteria) {
            let known = kind.filter(|kind| is_given || !kind.needs_model());
            drafted = self.draft(item, known, job.cancelled()).await;
            // An interrupted call does not mean that the model has no answer.
            job.check()?;
        }
        let is_other_work = |drafted: &Execution| !is_given && drafted.kind().needs_model() && kind.is_some_and(ExecutionKind::needs_model);
        execution = drafted.execution.take_if(|drafted| is_other_work(drafted)).or(execution).or(drafted.execution.take()).or(by_rule);
        if let Some(Execution::Remind { whom: whom @ None }) = &mut execution
            && matches!(item.owner, Owner::Persona(_))
        {
            *whom = self.find_reminded(item, people).await?;
        }
        let execution = match self.address(item, execution, people) {
            Ok(execution) => execution,
            // Does not guess who is meant.
            Err(unclear) => {
                let why = format!("{unclear}. Edit the item with `/backlog edit`");
                let persona = Some(self.find_executor(item));
                let wait = Some(Wait::Decision { why });
                return Ok(Planned {
                    status: WorkStatus::Waiting,
                    wait,
                    execution: None,
                    persona,
                    criteria: Vec::new(),
                    note: None,
                    not_before: None,
                });
            }
        };
        let wait = match &execution {
            None if !deps.agents.is_offline() => Some(Wait::Kind { of: self.find_person_among(item, people).await? }),
            Some(execution) if !(execution.kind().needs_model() && deps.agents.is_offline()) => None,
            _ => Some(Wait::Model),
        };
        // An item of unknown kind gets its criteria when the kind is known.
        let criteria = if item.criteria.is_empty() && execution.is_some() {
            let by_kind = || criteria::by_kind(&WorkItem { execution: execution.clone(), ..item.clone() });
            drafted.criteria.unwrap_or_else(by_kind)
        } else {
            Vec::new()
        };
        let status = if wait.is_some() { WorkStatus::Waiting } else { WorkStatus::Ready };
        let not_before = drafted.start;
        Ok(Planned { status, wait, execution, persona: Some(self.find_executor(item)), criteria, note: None, not_before })
    }

    /// Whether an item names a value of a feed, and a number.
    fn names_a_value(&self, item: &WorkItem) -> bool {
        let text = item.describe_request();
        let words: Vec<String> = text.split(|c: char| !c.is_alphanumeric() && c != '_').map(str::to_lowercase).collect();
        let known = self.deps().agents.readings.list_values();
        text.contains(|c: char| c.is_ascii_digit())
            && known.iter().flat_map(|of| &of.values).any(|(name, _)| words.contains(&name.to_lowercase()))
    }

    /// The person to remind for a persona's item that is a reminder: the person named in its title, or the one responsible for it. A persona is not
    /// reminded of its own work.
    async fn find_reminded(&self, item: &WorkItem, people: &Directory) -> Result<Option<Owner>, StoreError> {
        match people.find_in(&item.what) {
            Ok(Some((_, named))) => Ok(Some(Owner::Person { id: named.id, name: named.name })),
            _ => self.find_person_among(item, people).await,
        }
    }

    /// Decides who is asked a question: its author ("Ask me …"), or the person whom the item names before any persona.
    fn address(&self, item: &WorkItem, execution: Option<Execution>, people: &Directory) -> Result<Option<Execution>, NotFound> {
        let Some(Execution::Ask { whom: Owner::Persona(askee), question, unanswered }) = execution else { return Ok(execution) };
        let named = people.find_in(&item.what)?;
        let first_persona = find_persona_in(&item.what, &self.deps().roster);
        let asks_author = item.what.split_whitespace().nth(1).is_some_and(|word| fold_name(word) == "me");
        let whom = match named {
            _ if asks_author => match &item.origin {
                Origin::Person { id, name, .. } => Owner::Person { id: id.clone(), name: name.clone() },
                _ => Owner::Persona(askee),
            },
            Some((at, person)) if unanswered.is_empty() && first_persona.is_none_or(|persona| at < persona) => {
                Owner::Person { id: person.id, name: person.name }
            }
            _ => Owner::Persona(askee),
        };
        Ok(Some(Execution::Ask { whom, question, unanswered }))
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
                let edit = ItemEdit { owner: Some(&coordinator), execution: item.execution.as_ref(), ..ItemEdit::default() };
                deps.store.edit_item(&item.id, &edit, &format!("{slug} is no longer on the team"), deps.clock.now()).await?;
            }
        }
        Ok(())
    }

    /// Ends waits without a person: a new day's budget has begun, or the limit was raised. Offers to start what waited for a model.
    async fn end_waits(&self) -> Result<(), StoreError> {
        let deps = self.deps();
        let now = deps.clock.now();
        let waiting = deps.store.list_waiting().await?;
        for item in &waiting {
            let over = match &item.wait {
                Some(Wait::Budget { refused, day }) => day.is_some_and(|day| day < now.date_naive()) || self.was_raised(refused).await?,
                _ => false,
            };
            if over {
                deps.store.wake_item(&item.id, None, now).await?;
            }
        }
        self.offer_waiting(&waiting).await
    }

    async fn was_raised(&self, refused: &Refused) -> Result<bool, StoreError> {
        let deps = self.deps();
        let allowed = deps.store.find_allowed(&refused.limit, &deps.budgets, deps.clock.now()).await?;
        Ok(allowed.is_none_or(|allowed| allowed > refused.allowed))
    }
}

/// The position of the first persona's name in a text.
fn find_persona_in(text: &str, roster: &Roster) -> Option<usize> {
    let start = text.as_ptr() as usize;
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.filter(|word| roster.find_named(word).is_some()).map(|word| word.as_ptr() as usize - start).next()
}

fn cannot_plan(item: &WorkItemId, why: &str) {
    tracing::error!(%item, error = why, "cannot plan an item; the others continue");
}
