//! Reviews of items, stored with the change of the item that follows from them.

use chrono::{DateTime, Utc};

use crate::features::backlog::model::{ExecutionKind, Finding, Judge, Review, Scores};
use crate::features::backlog::store::persons::ItemJudgement;
use crate::features::backlog::store::transitions::ItemRecord;
use crate::features::relationships::{Cause, Move};
use crate::store::Store;
use kernel::db::{Document, Result, Transaction, document, plain, sql};
use kernel::ids::{PersonaSlug, WorkItemId};

#[derive(sqlx::FromRow)]
struct ReviewColumns {
    #[sqlx(try_from = "i64")]
    number: u32,
    #[sqlx(try_from = "i64")]
    run: u32,
    author: Option<String>,
    reviewer: String,
    reviewer_name: Option<String>,
    accepted: bool,
    note: String,
    #[sqlx(try_from = "String")]
    findings: Document<Vec<Finding>>,
    depth: Option<i64>,
    accuracy: Option<i64>,
    actionability: Option<i64>,
    completeness: Option<i64>,
    at: DateTime<Utc>,
}

impl From<ReviewColumns> for Review {
    fn from(row: ReviewColumns) -> Self {
        let score = |stored: Option<i64>| stored.and_then(|score| u8::try_from(score).ok());
        let scores = [row.depth, row.accuracy, row.actionability, row.completeness].map(score);
        let scores = match scores {
            [Some(depth), Some(accuracy), Some(actionability), Some(completeness)] => {
                Some(Scores { depth, accuracy, actionability, completeness })
            }
            _ => None,
        };
        let by = match row.reviewer.split_once(':') {
            Some(("persona", slug)) => Judge::Persona(slug.into()),
            _ => Judge::Person(row.reviewer_name.unwrap_or_default()),
        };
        Self {
            number: row.number,
            run: row.run,
            author: row.author.map(PersonaSlug::new),
            by,
            accepted: row.accepted,
            note: row.note,
            findings: row.findings.0,
            scores,
            at: row.at,
        }
    }
}

/// Stores a judgement of the item's current run. The item is as it was before.
pub(super) async fn insert_review(transaction: &mut Transaction, record: &ItemRecord, judgement: &ItemJudgement<'_>) -> Result<()> {
    let item = &record.item;
    let (reviewer, name) = match (judgement.by, judgement.account) {
        (Judge::Persona(slug), _) => (format!("persona:{slug}"), None),
        (Judge::Person(name), Some(account)) => (format!("person:{account}"), Some(name)),
        (Judge::Person(name), None) => ("person:".to_owned(), Some(name)),
    };
    let scores = judgement.scores;
    sql!(
        transaction.on(),
        execute,
        "INSERT INTO reviews (item, number, run, author, skill, reviewer, reviewer_name, accepted, note, findings, depth, accuracy,
             actionability, completeness, at)
         VALUES ($1, (SELECT COALESCE(MAX(number), 0) + 1 FROM reviews WHERE item = $1), $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)",
        item.id.as_str(),
        i64::from(item.run),
        item.persona.as_ref().map(PersonaSlug::as_str),
        skill_of(record, judgement).map(ExecutionKind::as_str),
        reviewer,
        name.map(|name| plain(name)),
        judgement.accepted,
        plain(judgement.note),
        document(&judgement.findings),
        scores.map(|scores| i64::from(scores.depth)),
        scores.map(|scores| i64::from(scores.accuracy)),
        scores.map(|scores| i64::from(scores.actionability)),
        scores.map(|scores| i64::from(scores.completeness)),
        judgement.at
    )?;
    Ok(())
}

/// The kind of work about which a rejection teaches the author something. None if no criterion was found unmet that the author could have met, the item has parts or needs no model,
/// or it is private.
pub(super) fn skill_of(record: &ItemRecord, judgement: &ItemJudgement<'_>) -> Option<ExecutionKind> {
    let item = &record.item;
    let kind = item.execution.as_ref()?.kind();
    let is_for_all = item.private_to.is_none() && !record.has_parts && kind.needs_model();
    (is_for_all && !judgement.accepted && judgement.findings.iter().any(|finding| !finding.met && !finding.needs_person)).then_some(kind)
}

/// How a judgement of a persona moves its relationship with the author. A rejection without a reason, or for what the author cannot do, moves nothing.
pub(super) fn move_of(record: &ItemRecord, judgement: &ItemJudgement<'_>) -> Option<Move> {
    let item = &record.item;
    let Judge::Persona(by) = judgement.by else { return None };
    let cause = if judgement.accepted { Cause::Accepted } else { Cause::Rejected };
    if cause == Cause::Rejected && (judgement.needs_person || judgement.note.trim().is_empty()) {
        return None;
    }
    let about = item.private_to.is_none().then(|| item.what.clone());
    Some(Move { cause, by: by.clone(), with: item.persona.clone()?, about })
}

/// The notes of the last rejections of an item, oldest first.
pub(super) async fn list_rejections(transaction: &mut Transaction, item: &WorkItemId, times: u32) -> Result<Vec<String>> {
    let rows: Vec<(String,)> = sql!(
        transaction.on(),
        fetch_all,
        "SELECT note FROM reviews WHERE item = $1 AND NOT accepted ORDER BY number DESC LIMIT $2",
        item.as_str(),
        i64::from(times)
    )?;
    Ok(rows.into_iter().rev().map(|(note,)| note).collect())
}

impl Store {
    /// The reviews of an item, oldest first.
    pub async fn list_reviews(&self, item: &WorkItemId) -> Result<Vec<Review>> {
        let rows: Vec<ReviewColumns> = sql!(
            self.db().read(),
            fetch_all,
            "SELECT number, run, author, reviewer, reviewer_name, accepted, note, findings, depth, accuracy, actionability, completeness, at
             FROM reviews WHERE item = $1 ORDER BY number",
            item.as_str()
        )?;
        Ok(rows.into_iter().map(Review::from).collect())
    }
}
