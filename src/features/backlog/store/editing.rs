//! Edits of items. Work that has begun goes on with the change, as long as it stays the same work of the same owner: its run continues from its journal,
//! where the change is told to the model. Otherwise the item is planned again.

use chrono::{DateTime, Utc};

use crate::features::backlog::model::{DueChange, Execution, JournalEntry, Owner, Urgency, Wait, WorkItem, WorkStatus};
use crate::features::backlog::store::run::{has_journal, insert_entry};
use crate::features::backlog::store::subjects;
use crate::features::backlog::store::transitions::ItemRecord;
use crate::store::Store;
use kernel::db::{Result, Transaction, plain};
use kernel::ids::WorkItemId;

/// An edit. None leaves a field unchanged.
#[derive(Debug, Default, Clone, Copy)]
pub struct ItemEdit<'a> {
    pub what: Option<&'a str>,
    pub how: Option<&'a str>,
    pub why: Option<&'a str>,
    pub owner: Option<&'a Owner>,
    pub urgency: Option<Urgency>,
    pub criteria: Option<&'a [String]>,
    pub due: Option<DueChange>,
    pub reviewer: Option<&'a Owner>,
    /// How an item of a chosen kind is carried out with the new values. Otherwise the planner decides again.
    pub execution: Option<&'a Execution>,
    /// The kind of `execution` is chosen now.
    pub chooses_kind: bool,
}

impl Store {
    /// Edits an item. It is planned again unless work on it goes on, or only the urgency or the due date changes. A chosen kind is kept. False if it is
    /// over or nothing changes.
    pub async fn edit_item(&self, item: &WorkItemId, edit: &ItemEdit<'_>, by: &str, at: DateTime<Utc>) -> Result<bool> {
        let mut transaction = self.db().begin().await?;
        let is_edited = edit_in(&mut transaction, item, edit, (by, ""), at).await?;
        transaction.commit().await?;
        Ok(is_edited)
    }
}

/// As [`Store::edit_item`], in a transaction. `why` may be empty.
pub(super) async fn edit_in(
    transaction: &mut Transaction,
    item: &WorkItemId,
    edit: &ItemEdit<'_>,
    (by, why): (&str, &str),
    at: DateTime<Utc>,
) -> Result<bool> {
    let Some(mut record) = ItemRecord::find(transaction, item).await? else { return Ok(false) };
    if record.item.status.is_over() {
        return Ok(false);
    }
    let before = record.item.clone();
    edit.apply(&mut record.item);
    let kind = |execution: Option<&Execution>| execution.map(Execution::kind);
    let is_other_kind = edit.chooses_kind && kind(edit.execution) != kind(before.execution.as_ref());
    if record.item == before && !is_other_kind {
        return Ok(false);
    }
    record.is_kind_chosen |= edit.chooses_kind;
    if record.item.what != before.what {
        subjects::replace(transaction, &record.item).await?;
    }
    drop_old_criteria(&mut record, &before, edit);
    let note = if why.is_empty() { format!("changed by {by}") } else { format!("changed by {by}: {why}") };
    if !is_other_kind && is_same_work(&before, &record.item) {
        record.save(transaction, at).await?;
        record.remark(transaction, &note, at).await?;
        return Ok(true);
    }
    if !is_other_kind && can_run_go_on(&before, &record.item) && has_journal(transaction, &before).await? {
        tell_run(transaction, record, &before, (by, &note), at).await?;
        return Ok(true);
    }
    record.item.execution = edit.execution.filter(|_| record.is_kind_chosen).cloned();
    if before.status == WorkStatus::New {
        record.save(transaction, at).await?;
        record.remark(transaction, &note, at).await?;
    } else {
        record.restart_run();
        record.forgive();
        record.item.persona = None;
        record.go(transaction, WorkStatus::New, Some(&note), at).await?;
    }
    Ok(true)
}

/// Drafted criteria belong to the old task, so the planner drafts new ones for another task.
fn drop_old_criteria(record: &mut ItemRecord, before: &WorkItem, edit: &ItemEdit<'_>) {
    let new = &record.item;
    let is_another_task = (&before.what, &before.how, &before.why) != (&new.what, &new.how, &new.why);
    if record.has_drafted_criteria && (edit.criteria.is_some() || is_another_task) {
        record.has_drafted_criteria = false;
        if edit.criteria.is_none() {
            record.item.criteria.clear();
        }
    }
}

/// Whether the work stays as it is: only its time or its reviewer changes.
fn is_same_work(before: &WorkItem, after: &WorkItem) -> bool {
    let WorkItem { urgency, due, reviewer, .. } = before.clone();
    *before == WorkItem { urgency, due, reviewer, ..after.clone() }
}

/// The run goes on from its journal, where the change is told to the model.
async fn tell_run(
    transaction: &mut Transaction,
    mut record: ItemRecord,
    before: &WorkItem,
    (by, note): (&str, &str),
    at: DateTime<Utc>,
) -> Result<()> {
    let entry = JournalEntry::Told { text: describe_change(before, &record.item, by) };
    record.forgive();
    record.product = None;
    let needs_criteria = record.item.criteria.is_empty() && !before.criteria.is_empty();
    if needs_criteria && before.status != WorkStatus::New {
        // The planner drafts new ones. The kind of work stays, so that the run goes on.
        record.go(transaction, WorkStatus::New, Some(note), at).await?;
    } else if before.status == WorkStatus::InProgress {
        record.go(transaction, WorkStatus::Ready, Some(note), at).await?;
    } else {
        record.save(transaction, at).await?;
        record.remark(transaction, note, at).await?;
    }
    // The job of the run is cancelled now, so the run writes no more entries.
    insert_entry(transaction, &record.item, &entry, at).await
}

/// Whether the item's run can go on after an edit. One that waits for something outside of the work continues when that is there.
fn can_run_go_on(before: &WorkItem, after: &WorkItem) -> bool {
    let is_by_model = matches!(before.execution, Some(Execution::Research | Execution::Write | Execution::Build));
    let can_continue = match before.status {
        WorkStatus::New | WorkStatus::Ready | WorkStatus::InProgress => true,
        WorkStatus::Waiting => matches!(before.wait, Some(Wait::Paused | Wait::Approval { .. } | Wait::Budget { .. } | Wait::Model)),
        _ => false,
    };
    is_by_model && can_continue && before.owner == after.owner
}

/// What is new about an item, for the model that works on it.
fn describe_change(before: &WorkItem, after: &WorkItem, by: &str) -> String {
    let mut text = format!(
        "The work item was changed while you work on it (by {by}). What you have made and found out stays. Keep what still fits, change what this \
         touches, and hand in all of it."
    );
    let mut add = |part: String| {
        text.push_str("\n\n");
        text.push_str(&part);
    };
    if after.what != before.what {
        add(format!("To be done now: {}", after.what));
    }
    if after.how != before.how {
        add(match find_added(&before.how, &after.how) {
            Some(added) => format!("Added to the instructions:\n{added}"),
            None => format!("The instructions are now:\n{}", after.how),
        });
    }
    if after.why != before.why {
        add(format!("The reason is now: {}", after.why));
    }
    if after.criteria != before.criteria && !after.criteria.is_empty() {
        add(list_criteria(after));
    }
    text
}

/// Tells a run that goes on by which criteria its work is judged now.
pub(super) async fn tell_criteria(transaction: &mut Transaction, item: &WorkItem, at: DateTime<Utc>) -> Result<()> {
    if has_journal(transaction, item).await? {
        insert_entry(transaction, item, &JournalEntry::Told { text: list_criteria(item) }, at).await?;
    }
    Ok(())
}

fn list_criteria(item: &WorkItem) -> String {
    let criteria: Vec<String> = item.criteria.iter().map(|criterion| format!("- {criterion}")).collect();
    format!("The criteria are now:\n{}", criteria.join("\n"))
}

/// The lines that were added in one place. None if anything else changed.
fn find_added(before: &str, after: &str) -> Option<String> {
    let (before, after): (Vec<&str>, Vec<&str>) = (before.lines().collect(), after.lines().collect());
    let same = before.iter().zip(&after).take_while(|(old, new)| old == new).count();
    let added = after.len().checked_sub(before.len())?;
    (before[same..] == after[same + added..]).then(|| after[same..same + added].join("\n").trim().to_owned())
}

impl ItemEdit<'_> {
    fn apply(&self, item: &mut WorkItem) {
        let texts = [(self.what, &mut item.what), (self.how, &mut item.how), (self.why, &mut item.why)];
        for (new, text) in texts {
            if let Some(new) = new {
                *text = plain(new).into_owned();
            }
        }
        if let Some(owner) = self.owner {
            item.owner = owner.clone();
        }
        if let Some(urgency) = self.urgency {
            item.urgency = urgency;
        }
        if let Some(due) = self.due {
            item.due = match due {
                DueChange::Set(at) => Some(at),
                DueChange::Remove => None,
            };
        }
        if let Some(reviewer) = self.reviewer {
            item.reviewer = Some(reviewer.clone());
        }
        if let Some(criteria) = self.criteria {
            item.criteria = criteria.to_vec();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::find_added;

    #[test]
    fn added_lines_are_found_wherever_they_are() {
        assert_eq!(find_added("One", "One\n\nTwo").as_deref(), Some("Two"));
        assert_eq!(find_added("One\n\nLast", "One\n\nTwo\n\nLast").as_deref(), Some("Two"));
        assert_eq!(find_added("Last", "One\nLast").as_deref(), Some("One"));
        assert_eq!(find_added("", "One").as_deref(), Some("One"));
        for (before, after) in [("One", "Two"), ("One\nTwo", "One"), ("One\nLast", "Two\nLast\nMore"), ("One\nTwo", "Two\nOne\nThree")] {
            assert_eq!(find_added(before, after), None, "{before:?} → {after:?}");
        }
    }
}
