//! Changes the parts of a whole while they are worked on: some are dropped, others are added, or need something else than before (OVER-9).

use chrono::{DateTime, Utc};

use crate::features::backlog::model::{WorkItem, WorkStatus};
use crate::features::backlog::store::editing::{ItemEdit, edit_in};
use crate::features::backlog::store::families;
use crate::features::backlog::store::insertion::{block_parent, insert_dependencies, insert_into};
use crate::features::backlog::store::reopening::reopen_part;
use crate::features::backlog::store::transitions::ItemRecord;
use kernel::db::{Result, Transaction, sql};
use kernel::ids::WorkItemId;

/// What becomes of the parts of a whole.
#[derive(Debug)]
pub struct Reshaping<'a> {
    pub whole: &'a WorkItemId,
    /// The new criteria of the whole.
    pub criteria: Option<&'a [String]>,
    /// Done parts that are done again, with the reasons.
    pub again: &'a [(WorkItemId, String)],
    /// They are cancelled. No part needs them afterwards.
    pub dropped: &'a [WorkItemId],
    pub added: &'a [WorkItem],
    /// Parts with their new needs.
    pub needs: &'a [WorkItem],
    pub edits: &'a [(WorkItemId, ItemEdit<'a>)],
    /// Who wants the change, and why. The reason may be empty if nothing is dropped.
    pub by: &'a str,
    pub why: &'a str,
}

impl<'a> Reshaping<'a> {
    /// Nothing yet.
    pub fn of(whole: &'a WorkItemId) -> Self {
        Self { whole, criteria: None, again: &[], dropped: &[], added: &[], needs: &[], edits: &[], by: "", why: "" }
    }
}

/// Changes all of it. False if a part is over already: the caller must then roll back.
pub async fn reshape(transaction: &mut Transaction, reshaping: &Reshaping<'_>, at: DateTime<Utc>) -> Result<bool> {
    let Some(mut whole) = ItemRecord::find(transaction, reshaping.whole).await? else { return Ok(false) };
    if let Some(criteria) = reshaping.criteria {
        whole.item.criteria = criteria.to_vec();
        whole.save(transaction, at).await?;
    }
    for (part, why) in reshaping.again {
        if !Box::pin(reopen_part(transaction, part, (reshaping.by, why), at)).await? {
            return Ok(false);
        }
    }
    let family = families::list(transaction, &[reshaping.whole.as_str()]).await?.into_iter().next();
    insert_into(transaction, reshaping.added, family.as_deref(), at).await?;
    if !reshaping.added.is_empty() {
        block_parent(transaction, reshaping.whole, at).await?;
    }
    for part in reshaping.needs {
        sql!(transaction.on(), execute, "DELETE FROM work_dependencies WHERE item = $1", part.id.as_str())?;
        insert_dependencies(transaction, part).await?;
    }
    for (part, edit) in reshaping.edits {
        if ItemRecord::find(transaction, part).await?.is_none_or(|record| record.item.status.is_over()) {
            return Ok(false);
        }
        edit_in(transaction, part, edit, (reshaping.by, reshaping.why), at).await?;
    }
    for part in reshaping.needs {
        let Some(record) = ItemRecord::find(transaction, &part.id).await? else { return Ok(false) };
        match record.item.status {
            WorkStatus::Ready | WorkStatus::Blocked => drop(record.place(transaction, Some("it needs something else"), at).await?),
            // Its status is set when it is planned, or when its wait ends.
            WorkStatus::New | WorkStatus::Waiting => {}
            _ => return Ok(false),
        }
    }
    for part in reshaping.dropped {
        let Some(record) = ItemRecord::find(transaction, part).await? else { return Ok(false) };
        if !record.may_go(WorkStatus::Cancelled) {
            return Ok(false);
        }
        record.end(transaction, WorkStatus::Cancelled, &format!("{}: {}", reshaping.by, reshaping.why), at).await?;
    }
    Ok(true)
}
