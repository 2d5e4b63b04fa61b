//! Changes of existing items.

use crate::features::backlog::action;
use crate::features::backlog::action::{WHAT, execution_of, question_of};
use crate::features::backlog::model::{DueChange, Execution, ExecutionKind, ItemChanges, Owner, Urgency, WorkItem, WorkKind, WorkStatus};
use crate::features::backlog::planner::asked_in;
use crate::features::backlog::service::adding::{check_criteria, check_kind_of, clean, clean_prose};
use crate::features::backlog::service::{Asker, Backlog, BacklogError, refused};
use crate::features::backlog::store::ItemEdit;

struct CheckedChanges {
    what: Option<String>,
    how: Option<String>,
    why: Option<String>,
    owner: Option<Owner>,
    urgency: Option<Urgency>,
    criteria: Option<Vec<String>>,
    due: Option<DueChange>,
}

impl Backlog {
    /// Puts an item first among those of its persona.
    ///
    /// # Errors
    /// It is over, in progress, or waits for something other than its turn.
    pub async fn run(&self, id: &str, asker: &Asker) -> Result<WorkItem, BacklogError> {
        let item = self.get_own(id, asker).await?;
        match item.status {
            WorkStatus::Done | WorkStatus::Failed | WorkStatus::Cancelled => return Err(refused(over(&item))),
            WorkStatus::InProgress => return Err(refused(format!("{} is already in progress", named(&item)))),
            WorkStatus::InReview => return Err(refused(format!("{} is done and waits for its review", named(&item)))),
            WorkStatus::New | WorkStatus::Ready | WorkStatus::Blocked | WorkStatus::Waiting => {}
        }
        if !self.deps.store.run_item(&item.id, asker.name(), self.deps.clock.now()).await? {
            return Err(moved(&self.read(&item).await?));
        }
        self.read(&item).await
    }

    /// Tries an item again from the beginning. One that is done is reopened with `why`, which its persona is told.
    ///
    /// # Errors
    /// It has not ended and does not wait, or it is part of something that is over.
    pub async fn retry(&self, id: &str, why: Option<&str>, asker: &Asker) -> Result<WorkItem, BacklogError> {
        let item = self.get_own(id, asker).await?;
        if item.status != WorkStatus::Done {
            return self.retry_item(&item, asker).await;
        }
        if item.kind == WorkKind::Mission {
            return Err(refused(format!("{} is a mission. `/mission retry` takes it up again", named(&item))));
        }
        let why = match why.map(|why| clean_prose("why", why)).transpose().map_err(refused)? {
            Some(why) if !why.is_empty() => format!("{} says: {why}", asker.name()),
            _ => format!("{} wants it done again", asker.name()),
        };
        if !Box::pin(self.deps.store.reopen_item(&item.id, (asker.name(), &why), self.deps.clock.now())).await? {
            return Err(refused(format!("{} cannot be reopened, because what it was a part of is over", named(&item))));
        }
        self.read(&item).await
    }

    pub(super) async fn retry_item(&self, item: &WorkItem, asker: &Asker) -> Result<WorkItem, BacklogError> {
        if !matches!(item.status, WorkStatus::Failed | WorkStatus::Cancelled | WorkStatus::Waiting) {
            let status = item.status.as_str().replace('_', " ");
            return Err(refused(format!("{} is {status}. Only items that are over or wait can be retried", named(item))));
        }
        if !self.deps.store.retry_item(&item.id, asker.name(), self.deps.clock.now()).await? {
            let now = self.read(item).await?;
            return Err(if now.status == item.status {
                refused(format!(
                    "{} would fail again, because an item it depends on failed or was cancelled. Retry that one first",
                    named(item)
                ))
            } else {
                moved(&now)
            });
        }
        self.read(item).await
    }

    /// Edits an item. Work in progress goes on with the change, or is planned again if it is other work or another owner's.
    ///
    /// # Errors
    /// It is over, or the change is not allowed.
    pub async fn edit(&self, id: &str, changes: &ItemChanges, asker: &Asker) -> Result<WorkItem, BacklogError> {
        let item = self.get_own(id, asker).await?;
        if *changes == ItemChanges::default() {
            return Err(refused("there is nothing to change. Give at least one new value"));
        }
        if item.status.is_over() {
            return Err(refused(over(&item)));
        }
        let checked = self.check_changes(changes, asker).await?;
        let execution = self.execution_after(&item, &checked, changes.kind)?;
        let edit = ItemEdit {
            what: checked.what.as_deref(),
            how: checked.how.as_deref(),
            why: checked.why.as_deref(),
            owner: checked.owner.as_ref(),
            urgency: checked.urgency,
            criteria: checked.criteria.as_deref(),
            due: checked.due,
            execution: execution.as_ref(),
            chooses_kind: changes.kind.is_some(),
            ..ItemEdit::default()
        };
        if !self.deps.store.edit_item(&item.id, &edit, asker.name(), self.deps.clock.now()).await? {
            let now = self.read(&item).await?;
            return Err(refused(if now.status.is_over() { over(&now) } else { format!("{} already has these values", named(&now)) }));
        }
        self.read(&item).await
    }

    async fn check_changes(&self, changes: &ItemChanges, asker: &Asker) -> Result<CheckedChanges, BacklogError> {
        let it = |reason: String| refused(format!("the item {reason}"));
        let what = changes.what.as_deref().map(|what| clean("what", what, WHAT)).transpose().map_err(it)?;
        if let Some(what) = &what {
            action::check_what(what).map_err(it)?;
        }
        Ok(CheckedChanges {
            what,
            how: changes.how.as_deref().map(|how| clean_prose("how", how)).transpose().map_err(it)?,
            why: changes.why.as_deref().map(|why| clean_prose("why", why)).transpose().map_err(it)?,
            owner: match changes.owner.as_deref() {
                Some(owner) => Some(self.resolve_owner(owner, &self.list_people(&[owner], asker.person()).await?, asker.person())?),
                None => None,
            },
            urgency: changes.urgency,
            criteria: changes.criteria.as_deref().map(check_criteria).transpose().map_err(it)?,
            due: match changes.due.as_deref().map(str::trim) {
                None => None,
                Some(none) if none.eq_ignore_ascii_case("none") => Some(DueChange::Remove),
                Some(due) => Some(DueChange::Set(self.parse_due(due).map_err(it)?)),
            },
        })
    }

    /// How an item is carried out with the new values, if its kind stays or is `chosen`. None if the kind does not fit the owner any more.
    fn execution_after(
        &self,
        item: &WorkItem,
        checked: &CheckedChanges,
        chosen: Option<ExecutionKind>,
    ) -> Result<Option<Execution>, BacklogError> {
        let what = checked.what.as_deref().unwrap_or(&item.what);
        let how = checked.how.as_deref().unwrap_or(&item.how);
        let owner = checked.owner.as_ref().unwrap_or(&item.owner);
        if let Some(kind) = chosen {
            check_kind_of(kind, owner).map_err(|reason| refused(format!("the item {reason}")))?;
        }
        match (chosen.or(item.execution.as_ref().map(Execution::kind)), &item.execution) {
            (Some(kind), _) if check_kind_of(kind, owner).is_err() => Ok(None),
            (Some(ExecutionKind::Ask), _) => Ok(Some(Execution::ask(asked_in(what, owner, &self.deps.roster), question_of(what, how)))),
            // Keeps the terms of a watch, and the person who is reminded.
            (Some(kind), Some(before)) if kind == before.kind() && (checked.owner.is_none() || kind == ExecutionKind::Watch) => {
                Ok(Some(before.clone()))
            }
            (Some(kind), _) => Ok(execution_of(kind, None, owner, what, how)),
            (None, _) => Ok(None),
        }
    }

    /// The item, if the caller may change it.
    pub(super) async fn get_own(&self, id: &str, asker: &Asker) -> Result<WorkItem, BacklogError> {
        let item = self.get(id, asker).await?;
        self.check_may_change(&item, asker).await?;
        Ok(item)
    }

    /// Checks the one rule of [`Asker::check_right`]. Who asked for a mission has asked for its steps.
    pub(in crate::features::backlog) async fn check_may_change(&self, item: &WorkItem, asker: &Asker) -> Result<(), BacklogError> {
        let by = self.deps.store.find_author(item).await?;
        let checked = asker.check_right(by.as_ref().map(|(id, name)| (id, name.as_str())), Some(&item.owner));
        checked.map_err(|who| refused(format!("only {who} may change {}", named(item))))
    }

    /// The item's current state.
    pub(super) async fn read(&self, item: &WorkItem) -> Result<WorkItem, BacklogError> {
        Ok(self.deps.store.find_item(&item.id).await?.unwrap_or_else(|| item.clone()))
    }
}

/// The error if somebody else changed the item first.
pub(super) fn moved(now: &WorkItem) -> BacklogError {
    refused(if now.status.is_over() {
        over(now)
    } else {
        format!("{} has just changed to {}. Please check again", named(now), now.status.as_str().replace('_', " "))
    })
}

/// An item in a sentence.
pub(in crate::features::backlog) fn named(item: &WorkItem) -> String {
    format!("\"{}\" (#{})", item.what, item.short_id())
}

/// The error if an item is over, with what can be done.
pub(super) fn over(item: &WorkItem) -> String {
    match item.status {
        WorkStatus::Done => format!("{} is already done. `/backlog retry` reopens it", named(item)),
        WorkStatus::Cancelled => {
            format!("{} was cancelled. You can retry it, or take that back with `/backlog restore` for an hour", named(item))
        }
        _ => format!("{} has failed. You can retry it", named(item)),
    }
}
