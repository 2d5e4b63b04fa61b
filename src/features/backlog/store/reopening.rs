//! Work that was done and is to be done again, by the same persona and with what was wrong. Each change is one transaction.

use std::collections::{BTreeSet, HashSet, VecDeque};

use chrono::{DateTime, Utc};

use crate::features::backlog::model::{Finding, WorkItem, WorkStatus, short_id};
use crate::features::backlog::store::transitions::ItemRecord;
use crate::store::Store;
use kernel::db::{Document, Result, Transaction, plain, sql};
use kernel::ids::{PersonaSlug, WorkItemId};
use kernel::tools::workspace::INPUTS;

/// Why work is done again, and who says so.
struct SentBack<'a> {
    why: &'a str,
    /// As in the table of reviews.
    reviewer: &'a str,
    reviewer_name: Option<&'a str>,
}

impl<'a> SentBack<'a> {
    fn by_person(name: &'a str, why: &'a str) -> Self {
        Self { why, reviewer: "person:", reviewer_name: Some(name) }
    }
}

/// Reopens items whose result is there, and all that builds on them. Returns what was reopened. `whole`: the item that consists of them, which the caller reopens itself.
async fn reopen(
    transaction: &mut Transaction,
    items: &[WorkItemId],
    sent: &SentBack<'_>,
    whole: Option<&WorkItemId>,
    at: DateTime<Utc>,
) -> Result<Vec<WorkItemId>> {
    let mut queue: VecDeque<(WorkItemId, Option<String>)> = items.iter().map(|item| (item.clone(), None)).collect();
    if let Some(whole) = whole {
        let above = "what it builds on is done again".to_owned();
        queue.extend(list_dependents(transaction, whole).await?.into_iter().map(|item| (item, Some(above.clone()))));
    }
    let mut seen: HashSet<WorkItemId> = queue.iter().map(|(item, _)| item.clone()).collect();
    let (mut opened, mut wholes) = (Vec::new(), BTreeSet::new());
    while let Some((id, above)) = queue.pop_front() {
        let Some(mut record) = ItemRecord::find(transaction, &id).await? else { continue };
        let Some(next) = status_of_reopened(&record) else { continue };
        if let Some(parent) = record.item.parent.clone().filter(|parent| Some(parent) != whole) {
            let parent = ItemRecord::find(transaction, &parent).await?;
            match parent.map(|parent| (parent.item.id, parent.item.status)) {
                // A part of something else that is over is left as it is.
                Some((_, status)) if status.is_over() => continue,
                Some((id, WorkStatus::InReview | WorkStatus::Waiting)) => _ = wholes.insert(id),
                _ => {}
            }
        }
        let told = format!("what it builds on is done again: {}", record.item.what);
        for dependent in list_dependents(transaction, &id).await? {
            if seen.insert(dependent.clone()) {
                queue.push_back((dependent, Some(told.clone())));
            }
        }
        if above.is_none() {
            insert_sent_back(transaction, &record, sent, at).await?;
        }
        if record.item.status == WorkStatus::Done || above.is_none() {
            record.forgive();
            record.item.outcome = None;
            if let Some(execution) = &mut record.item.execution {
                execution.start_over();
            }
        }
        if record.item.status != WorkStatus::Ready {
            record.restart_run();
        }
        record.go(transaction, next, Some(above.as_deref().unwrap_or(sent.why)), at).await?;
        opened.push(id);
    }
    // Only now is it known what each of them waits for.
    for id in &opened {
        if let Some(record) = ItemRecord::find(transaction, id).await?.filter(|record| record.item.status != WorkStatus::New) {
            record.place(transaction, None, at).await?;
        }
    }
    for id in wholes {
        if let Some(mut record) = ItemRecord::find(transaction, &id).await? {
            record.restart_run();
            record.resume(transaction, "one of its parts is done again", at).await?;
        }
    }
    Ok(opened)
}

/// The first status of an item that is reopened, or whose run uses a result that is. None: nothing has to be done about it.
fn status_of_reopened(record: &ItemRecord) -> Option<WorkStatus> {
    let is_planned = record.item.execution.is_some() && record.item.persona.is_some();
    match record.item.status {
        WorkStatus::Done if !is_planned && !record.has_parts => Some(WorkStatus::New),
        WorkStatus::Done | WorkStatus::Ready | WorkStatus::InReview => Some(WorkStatus::Blocked),
        WorkStatus::Waiting if is_planned => Some(WorkStatus::Blocked),
        // Its run ends.
        WorkStatus::InProgress => Some(WorkStatus::Ready),
        _ => None,
    }
}

/// Notes that the result was sent back, so that the same one is not judged again.
async fn insert_sent_back(transaction: &mut Transaction, record: &ItemRecord, sent: &SentBack<'_>, at: DateTime<Utc>) -> Result<()> {
    let item = &record.item;
    sql!(
        transaction.on(),
        execute,
        "INSERT INTO reviews (item, number, run, author, reviewer, reviewer_name, accepted, note, findings, at)
         VALUES ($1, (SELECT COALESCE(MAX(number), 0) + 1 FROM reviews WHERE item = $1), $2, $3, $4, $5, $6, $7, '[]', $8)",
        item.id.as_str(),
        i64::from(item.run),
        item.persona.as_ref().map(PersonaSlug::as_str),
        sent.reviewer,
        sent.reviewer_name,
        false,
        plain(sent.why),
        at
    )?;
    Ok(())
}

/// Reopens the parts of a whole that the last reviewer found at fault: those whose files it names. If it names none, those on which no other part
/// builds. Nothing if not all parts are done, or if all that is missing needs a person.
pub(super) async fn reopen_parts(transaction: &mut Transaction, whole: &WorkItem, at: DateTime<Utc>) -> Result<()> {
    let parts = list_parts(transaction, &whole.id).await?;
    if parts.iter().any(|part| !part.is_done) {
        return Ok(());
    }
    let row: Option<(String, String, String, Option<String>)> = sql!(
        transaction.on(),
        fetch_optional,
        "SELECT note, findings, reviewer, reviewer_name FROM reviews WHERE item = $1 AND NOT accepted ORDER BY number DESC LIMIT 1",
        whole.id.as_str()
    )?;
    let Some((note, findings, reviewer, name)) = row else { return Ok(()) };
    let chosen = choose_parts(&parts, &Document::<Vec<Finding>>::read(findings)?);
    let why = format!("the whole was not accepted: {note}");
    let sent = SentBack { why: &why, reviewer: &reviewer, reviewer_name: name.as_deref() };
    Box::pin(reopen(transaction, &chosen, &sent, Some(&whole.id), at)).await.map(|_| ())
}

/// Reopens a whole that was accepted: the parts whose files or titles `why` names, or else those that come last. Returns how many there are; 0 if it
/// is not done.
pub async fn reopen_whole(transaction: &mut Transaction, whole: &WorkItemId, (by, why): (&str, &str), at: DateTime<Utc>) -> Result<usize> {
    match ItemRecord::find(transaction, whole).await?.filter(|record| record.item.status == WorkStatus::Done) {
        Some(record) => send_whole_back(transaction, record, (by, why), at).await,
        None => Ok(0),
    }
}

/// Returns how many parts are sent back; 0 if not all of them are done.
async fn send_whole_back(
    transaction: &mut Transaction,
    mut record: ItemRecord,
    (by, why): (&str, &str),
    at: DateTime<Utc>,
) -> Result<usize> {
    let whole = &record.item.id.clone();
    let parts = list_parts(transaction, whole).await?;
    if parts.is_empty() || parts.iter().any(|part| !part.is_done) {
        return Ok(0);
    }
    let names = list_names(transaction, whole).await?;
    let mut chosen: Vec<WorkItemId> = parts.iter().map(|part| &part.id).filter(|part| is_named(part, &names, why)).cloned().collect();
    if chosen.is_empty() {
        chosen = choose_parts(&parts, &[]);
    }
    Box::pin(reopen(transaction, &chosen, &SentBack::by_person(by, why), Some(whole), at)).await?;
    record.restart_run();
    record.forgive();
    record.item.outcome = None;
    record.resume(transaction, why, at).await?;
    Ok(chosen.len())
}

/// Reopens a done part of a whole that is not over, and what builds on it. False if it is not done.
pub(super) async fn reopen_part(
    transaction: &mut Transaction,
    part: &WorkItemId,
    (by, why): (&str, &str),
    at: DateTime<Utc>,
) -> Result<bool> {
    if ItemRecord::find(transaction, part).await?.is_none_or(|record| record.item.status != WorkStatus::Done) {
        return Ok(false);
    }
    Box::pin(reopen(transaction, std::slice::from_ref(part), &SentBack::by_person(by, why), None, at)).await?;
    Ok(true)
}

/// Reopens a done item, or its parts, and what builds on it. False if it is not done, or part of something that is over.
pub(in crate::features::backlog) async fn reopen_item_in(
    transaction: &mut Transaction,
    item: &WorkItemId,
    (by, why): (&str, &str),
    at: DateTime<Utc>,
) -> Result<bool> {
    let Some(record) = ItemRecord::find(transaction, item).await? else { return Ok(false) };
    if record.item.status != WorkStatus::Done {
        return Ok(false);
    }
    if record.has_parts {
        return Ok(Box::pin(reopen_whole(transaction, item, (by, why), at)).await? > 0);
    }
    let whole = match &record.item.parent {
        Some(parent) => ItemRecord::find(transaction, parent).await?,
        None => None,
    };
    if whole.is_some_and(|whole| whole.item.status.is_over()) {
        return Ok(false);
    }
    Box::pin(reopen_part(transaction, item, (by, why), at)).await
}

/// Whether an item is in this run. A result of an earlier one is not judged any more.
pub(in crate::features::backlog) async fn is_in_run(transaction: &mut Transaction, item: &WorkItemId, run: u32) -> Result<bool> {
    Ok(ItemRecord::find(transaction, item).await?.is_some_and(|record| record.item.run == run))
}

/// Sends back the result of an item about which a person is asked to decide, or its parts, and what builds on it. False if nobody is, or if it cannot
/// be done again.
pub(in crate::features::backlog) async fn send_back_in(
    transaction: &mut Transaction,
    item: &WorkItemId,
    said: (&str, &str),
    at: DateTime<Utc>,
) -> Result<bool> {
    let Some(record) = ItemRecord::find(transaction, item).await? else { return Ok(false) };
    if !record.item.is_up_to_people() {
        return Ok(false);
    }
    if record.has_parts {
        return Ok(Box::pin(send_whole_back(transaction, record, said, at)).await? > 0);
    }
    let opened = Box::pin(reopen(transaction, std::slice::from_ref(item), &SentBack::by_person(said.0, said.1), None, at)).await?;
    Ok(opened.contains(item))
}

impl Store {
    /// As [`reopen_item_in`], in a transaction of its own.
    pub async fn reopen_item(&self, item: &WorkItemId, (by, why): (&str, &str), at: DateTime<Utc>) -> Result<bool> {
        let mut transaction = self.db().begin().await?;
        let is_reopened = Box::pin(reopen_item_in(&mut transaction, item, (by, why), at)).await?;
        transaction.commit().await?;
        Ok(is_reopened)
    }
}

#[derive(Debug)]
struct Part {
    id: WorkItemId,
    is_done: bool,
    /// Another part builds on it.
    is_needed: bool,
}

fn choose_parts(parts: &[Part], findings: &[Finding]) -> Vec<WorkItemId> {
    let unmet: Vec<&Finding> = findings.iter().filter(|finding| !finding.met && !finding.needs_person).collect();
    if unmet.is_empty() && !findings.is_empty() {
        // Only a person can add what is missing.
        return Vec::new();
    }
    let is_at_fault = |part: &Part| unmet.iter().any(|finding| is_placed_in(finding, part));
    // What is missing altogether is in no file.
    let is_all_placed = !unmet.is_empty() && unmet.iter().all(|finding| parts.iter().any(|part| is_placed_in(finding, part)));
    parts.iter().filter(|part| is_at_fault(part) || (!is_all_placed && !part.is_needed)).map(|part| part.id.clone()).collect()
}

fn is_placed_in(finding: &Finding, part: &Part) -> bool {
    finding.place.as_ref().is_some_and(|place| is_file_of(&place.file, &part.id))
}

/// Whether a file in the workspace of a whole is that of this part.
fn is_file_of(path: &str, part: &WorkItemId) -> bool {
    let folder = path.strip_prefix(INPUTS).and_then(|path| path.strip_prefix('/')).and_then(|path| path.split('/').next());
    folder.is_some_and(|folder| folder == short_id(part) || folder == part.as_str())
}

async fn list_parts(transaction: &mut Transaction, whole: &WorkItemId) -> Result<Vec<Part>> {
    let rows: Vec<(String, String, bool)> = sql!(
        transaction.on(),
        fetch_all,
        "SELECT id, status, EXISTS (
             SELECT 1 FROM work_dependencies JOIN work_items other ON other.id = work_dependencies.item
             WHERE work_dependencies.needs = part.id AND other.parent = $1)
         FROM work_items part WHERE parent = $1 AND status <> 'cancelled' ORDER BY created_at, id",
        whole.as_str()
    )?;
    let part =
        |(id, status, is_needed): (String, String, bool)| Part { id: id.into(), is_done: status == WorkStatus::Done.as_str(), is_needed };
    Ok(rows.into_iter().map(part).collect())
}

/// The titles and the file names of parts.
async fn list_names(transaction: &mut Transaction, whole: &WorkItemId) -> Result<Vec<(WorkItemId, String)>> {
    let rows: Vec<(String, String)> = sql!(
        transaction.on(),
        fetch_all,
        "SELECT id, what FROM work_items WHERE parent = $1
         UNION ALL SELECT artefacts.item, artefacts.name FROM artefacts JOIN work_items ON work_items.id = artefacts.item WHERE parent = $1",
        whole.as_str()
    )?;
    Ok(rows.into_iter().map(|(id, name)| (id.into(), name)).collect())
}

fn is_named(part: &WorkItemId, names: &[(WorkItemId, String)], text: &str) -> bool {
    let text = text.to_lowercase();
    names.iter().any(|(id, name)| id == part && !name.trim().is_empty() && text.contains(&name.to_lowercase()))
}

async fn list_dependents(transaction: &mut Transaction, item: &WorkItemId) -> Result<Vec<WorkItemId>> {
    let rows: Vec<(String,)> =
        sql!(transaction.on(), fetch_all, "SELECT item FROM work_dependencies WHERE needs = $1 ORDER BY item", item.as_str())?;
    Ok(rows.into_iter().map(|(item,)| item.into()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::features::backlog::model::FilePlace;

    const PLAN: &str = "0193c0de4f2a1c";
    const TEXT: &str = "0193c0de4f2a2d";
    const COSTS: &str = "0193c0de4f2a3e";

    fn parts() -> Vec<Part> {
        [(PLAN, true), (TEXT, false), (COSTS, false)].map(|(id, is_needed)| Part { id: id.into(), is_done: true, is_needed }).into()
    }

    fn unmet(file: Option<&str>) -> Finding {
        let place = file.map(|file| FilePlace { file: file.to_owned(), line: 1 });
        Finding { criterion: "Agrees".into(), met: false, text: "It does not.".into(), place, needs_person: false }
    }

    #[test]
    fn the_parts_whose_files_are_at_fault_are_done_again() {
        assert_eq!(choose_parts(&parts(), &[unmet(Some("inputs/4f2a1c/plan.md"))]), [PLAN.into()]);
        assert_eq!(
            choose_parts(&parts(), &[unmet(Some("inputs/4f2a3e/c.csv")), unmet(Some("inputs/4f2a2d/t.md"))]),
            [TEXT.into(), COSTS.into()]
        );
    }

    #[test]
    fn a_part_is_named_by_its_title_or_a_file() {
        let names = [(PLAN.into(), "Plan the year".to_owned()), (PLAN.into(), "plan.md".to_owned()), (TEXT.into(), "text.md".to_owned())];
        assert!(is_named(&PLAN.into(), &names, "In Plan.md the budget is wrong") && !is_named(&TEXT.into(), &names, "In Plan.md"));
        assert!(is_named(&PLAN.into(), &names, "\"plan the year\" lacks May") && !is_named(&COSTS.into(), &names, "plan.md text.md"));
    }

    #[test]
    fn what_is_missing_is_for_the_parts_that_come_last() {
        let last: [WorkItemId; 2] = [TEXT.into(), COSTS.into()];
        assert_eq!(choose_parts(&parts(), &[unmet(None)]), last);
        assert_eq!(choose_parts(&parts(), &[]), last);
        assert_eq!(choose_parts(&parts(), &[unmet(Some("summary.md"))]), last, "a file of no part");
        assert_eq!(choose_parts(&parts(), &[unmet(None), unmet(Some("inputs/4f2a1c/plan.md"))]), [PLAN.into(), TEXT.into(), COSTS.into()]);
        let for_person = Finding { needs_person: true, ..unmet(None) };
        assert!(choose_parts(&parts(), &[for_person]).is_empty());
        let met = Finding { met: true, ..unmet(Some("inputs/4f2a1c/plan.md")) };
        assert_eq!(choose_parts(&parts(), &[met, unmet(Some("inputs/4f2a2d/t.md"))]), [TEXT.into()]);
    }
}
