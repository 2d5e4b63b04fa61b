//! Changes by people: cancel, retry, answer, judge, wake and prioritise. Reviewing personas judge here too.

use async_trait::async_trait;
use chrono::{DateTime, Utc};

use crate::features::backlog::learning::amendment::store::begin_if_due;
use crate::features::backlog::model::{Evidence, Finding, Judge, Scores, Urgency, Wait, WorkItem, WorkStatus};
use crate::features::backlog::store::jobs::priority_of;
use crate::features::backlog::store::planning::order_of;
use crate::features::backlog::store::reopening::reopen_parts;
use crate::features::backlog::store::restoring::{keep_ended, note_before};
use crate::features::backlog::store::reviews::{insert_review, list_rejections, move_of, skill_of};
use crate::features::backlog::store::transitions::{Ended, ItemRecord, Readiness};
use crate::features::relationships::move_relationships;
use crate::store::Store;
use kernel::chat::outbound::OutboundMessage;
use kernel::chat::outbox::store::insert_outbound;
use kernel::db::{Applied, Effect, Result, Transaction, sql};
use kernel::ids::{UserId, WorkItemId};
use kernel::jobs::{self, JobContext};
use kernel::memory::Memory;
use kernel::memory::store::insert_memories;

/// A person's answer to an item that waits for one.
#[derive(Debug, Clone, Copy)]
pub struct ItemAnswer<'a> {
    /// The person's name.
    pub by: &'a str,
    /// True: it is done. False: it is not needed.
    pub done: bool,
    pub text: &'a str,
    pub memory: Option<&'a Memory>,
    pub outbox: &'a [OutboundMessage],
    pub at: DateTime<Utc>,
}

/// What somebody says about an item who may not change it, for its history.
#[derive(Debug, Clone)]
pub struct Remark {
    pub item: WorkItemId,
    pub note: String,
}

#[async_trait]
impl Effect for Remark {
    async fn apply(&self, transaction: &mut Transaction, at: DateTime<Utc>) -> Result<Applied> {
        if let Some(record) = ItemRecord::find(transaction, &self.item).await? {
            record.remark(transaction, &self.note, at).await?;
        }
        Ok(Applied::Done)
    }
}

/// A judgement by somebody other than the author.
#[derive(Clone, Copy)]
pub struct ItemJudgement<'a> {
    pub by: &'a Judge,
    /// The account of a person who judges.
    pub account: Option<&'a UserId>,
    /// The job of a persona's review, which ends with it. None: a person judges.
    pub job: Option<&'a JobContext>,
    pub accepted: bool,
    /// All that is not met needs a person, so one decides about the result as it is. The author can do no more.
    pub needs_person: bool,
    /// The reason, also for the next run. A line for each criterion that is not met.
    pub note: &'a str,
    /// The findings about each criterion, for the row of the review.
    pub findings: &'a [Finding],
    pub scores: Option<Scores>,
    /// How the criteria were shown. Stored if the result is accepted.
    pub evidence: &'a [Evidence],
    /// Whether an amendment of the author's prompt is drafted from its rejections, once there are enough.
    pub amends: bool,
    /// After this many rejections a person decides about the item.
    pub most_rejections: u32,
    /// Stored if the result is accepted.
    pub memories: &'a [Memory],
    /// The messages for the item's new state: done, to be tried again, or waiting for a decision.
    pub post: &'a (dyn Fn(&WorkItem) -> Vec<OutboundMessage> + Send + Sync),
    pub at: DateTime<Utc>,
}

impl Store {
    /// Cancels an item and its job, which ends its run. Items that need it fail. All of that can be taken back for a while. None if it is over or does
    /// not exist.
    pub async fn cancel_item(&self, item: &WorkItemId, by: &str, outbox: &[OutboundMessage], at: DateTime<Utc>) -> Result<Option<Ended>> {
        let mut transaction = self.db().begin().await?;
        let Some(record) = ItemRecord::find(&mut transaction, item).await? else { return Ok(None) };
        if !record.may_go(WorkStatus::Cancelled) {
            return Ok(None);
        }
        insert_outbound(&mut transaction, outbox, record.cause(), at).await?;
        note_before(&mut transaction, item, at).await?;
        let ended = record.end(&mut transaction, WorkStatus::Cancelled, &format!("cancelled by {by}"), at).await?;
        keep_ended(&mut transaction, item).await?;
        transaction.commit().await?;
        Ok(Some(ended))
    }

    /// Restarts an item that failed, was cancelled or waits. Items that failed with it stay failed. A whole that was not accepted goes back to the
    /// authors of its parts. False if its status does not allow it, or if it would fail again because an item it needs, or a child, failed or was
    /// cancelled.
    pub async fn retry_item(&self, item: &WorkItemId, by: &str, at: DateTime<Utc>) -> Result<bool> {
        let mut transaction = self.db().begin().await?;
        let Some(mut record) = ItemRecord::find(&mut transaction, item).await? else { return Ok(false) };
        if !matches!(record.item.status, WorkStatus::Failed | WorkStatus::Cancelled | WorkStatus::Waiting) {
            return Ok(false);
        }
        if let Readiness::Lost(_) | Readiness::PartsFailed(_) = Readiness::find(&mut transaction, item).await? {
            return Ok(false);
        }
        let was_rejected = record.has_parts && matches!(record.item.wait, Some(Wait::Decision { .. }));
        record.restart_run();
        record.forgive();
        if let Some(execution) = &mut record.item.execution {
            execution.start_over();
        }
        record.item.outcome = None;
        if was_rejected {
            Box::pin(reopen_parts(&mut transaction, &record.item, at)).await?;
        }
        record.resume(&mut transaction, &format!("to be tried again, says {by}"), at).await?;
        transaction.commit().await?;
        Ok(true)
    }

    /// Stores a person's answer. None if the item waits for no answer.
    pub async fn answer_item(&self, item: &WorkItemId, answer: &ItemAnswer<'_>) -> Result<Option<Ended>> {
        let mut transaction = self.db().begin().await?;
        let ended = answer_in(&mut transaction, item, answer).await?;
        transaction.commit().await?;
        Ok(ended)
    }

    /// Records that a person does not know what an item asks, so that somebody decides about the item. False if it does not wait for an answer.
    pub async fn hand_back(&self, item: &WorkItemId, by: &str, at: DateTime<Utc>) -> Result<bool> {
        let mut transaction = self.db().begin().await?;
        let Some(mut record) = ItemRecord::find(&mut transaction, item).await? else { return Ok(false) };
        if !matches!(record.item.wait, Some(Wait::Answer { .. } | Wait::Help { .. })) {
            return Ok(false);
        }
        record.item.wait = Some(Wait::Decision { why: format!("{by} was asked, and does not know") });
        record.go_or_stay(&mut transaction, WorkStatus::Waiting, None, at).await?;
        record.remark(&mut transaction, &format!("{by} does not know"), at).await?;
        transaction.commit().await?;
        Ok(true)
    }

    /// Stores a judgement. An accepted item is done. A rejected one is tried again or waits for a person's decision. None if it is not in
    /// review, if the author judges, if an item waiting for a decision is rejected again, or if the job is lost.
    pub async fn judge_item(&self, item: &WorkItemId, judgement: &ItemJudgement<'_>) -> Result<Option<Ended>> {
        let mut transaction = self.db().begin().await?;
        let Some(ended) = judge_in(&mut transaction, item, judgement).await? else { return Ok(None) };
        let is_stored = match judgement.job {
            Some(job) => job.finish_with(transaction).await?,
            None => transaction.commit().await.map(|()| true)?,
        };
        Ok(is_stored.then_some(ended))
    }

    /// Ends an item's wait, so that its run can continue. `by`: who says so, if a person does. False if it does not wait.
    pub async fn wake_item(&self, item: &WorkItemId, by: Option<&str>, at: DateTime<Utc>) -> Result<bool> {
        let mut transaction = self.db().begin().await?;
        let Some(record) = ItemRecord::find(&mut transaction, item).await? else { return Ok(false) };
        if record.item.status != WorkStatus::Waiting {
            return Ok(false);
        }
        let who = by.map_or(String::new(), |by| format!(", says {by}"));
        record.resume(&mut transaction, &format!("it need not wait any more{who}"), at).await?;
        transaction.commit().await?;
        Ok(true)
    }

    /// Ends a step for which there is no other plan. Steps that need it fail. False if it does not wait for a plan.
    pub async fn give_step_up(&self, item: &WorkItemId, why: &str, at: DateTime<Utc>) -> Result<bool> {
        let mut transaction = self.db().begin().await?;
        let Some(record) = ItemRecord::find(&mut transaction, item).await? else { return Ok(false) };
        if !matches!(record.item.wait, Some(Wait::Replan { .. })) {
            return Ok(false);
        }
        record.end(&mut transaction, WorkStatus::Failed, why, at).await?;
        transaction.commit().await?;
        Ok(true)
    }

    /// Makes a step wait until its mission is resumed. A run in progress ends, and later continues from its journal. False if the step is neither
    /// ready nor in progress.
    pub async fn pause_step(&self, item: &WorkItemId, at: DateTime<Utc>) -> Result<bool> {
        let mut transaction = self.db().begin().await?;
        let Some(mut record) = ItemRecord::find(&mut transaction, item).await? else { return Ok(false) };
        if !matches!(record.item.status, WorkStatus::Ready | WorkStatus::InProgress) {
            return Ok(false);
        }
        record.item.wait = Some(Wait::Paused);
        record.go(&mut transaction, WorkStatus::Waiting, Some("its mission is paused"), at).await?;
        transaction.commit().await?;
        Ok(true)
    }

    /// Puts an item first among those of equal urgency and ignores its start time. Dependencies still apply. False if it is over or does
    /// not exist.
    pub async fn run_item(&self, item: &WorkItemId, by: &str, at: DateTime<Utc>) -> Result<bool> {
        let mut transaction = self.db().begin().await?;
        let Some(mut record) = ItemRecord::find(&mut transaction, item).await? else { return Ok(false) };
        if record.item.status.is_over() {
            return Ok(false);
        }
        record.item.urgency = Urgency::Now;
        record.item.not_before = None;
        record.save(&mut transaction, at).await?;
        record.remark(&mut transaction, &format!("to be done next, says {by}"), at).await?;
        let rank = format!("{}{}", order_of(Urgency::Now), record.rank.get(1..).unwrap_or_default());
        sql!(transaction.on(), execute, "UPDATE work_items SET rank = $2 WHERE id = $1", item.as_str(), rank.as_str())?;
        if let Some(job) = record.job {
            jobs::set_priority(&mut transaction, job, &priority_of(item.as_str(), &rank)).await?;
            jobs::wake_at(&mut transaction, job, DateTime::UNIX_EPOCH).await?;
        }
        transaction.commit().await?;
        Ok(true)
    }
}

/// As [`Store::judge_item`], in a transaction that the caller ends, together with the job.
pub(crate) async fn judge_in(transaction: &mut Transaction, item: &WorkItemId, judgement: &ItemJudgement<'_>) -> Result<Option<Ended>> {
    let (by, at) = (judgement.by, judgement.at);
    let found = match judgement.job {
        Some(job) => ItemRecord::hold(transaction, job).await?,
        None => ItemRecord::find(transaction, item).await?,
    };
    let Some(mut record) = found else { return Ok(None) };
    let may_judge = match record.item.status {
        WorkStatus::InReview => true,
        WorkStatus::Waiting => judgement.accepted && matches!(record.item.wait, Some(Wait::Decision { .. })),
        _ => false,
    };
    let is_author = matches!(by, Judge::Persona(persona) if record.item.is_made_by(persona));
    if !may_judge || is_author {
        return Ok(None);
    }
    let cause = record.cause().cloned();
    let before = if judgement.accepted { Vec::new() } else { list_rejections(transaction, item, record.rejections).await? };
    insert_review(transaction, &record, judgement).await?;
    move_relationships(transaction, move_of(&record, judgement).into_iter().collect(), at).await?;
    if let (true, Some(author), Some(skill)) = (judgement.amends, &record.item.persona, skill_of(&record, judgement)) {
        begin_if_due(transaction, author, skill, at).await?;
    }
    let ended = if judgement.accepted {
        insert_memories(transaction, judgement.memories).await?;
        record.add_evidence(judgement.evidence);
        record.add_evidence(&[Evidence::Review { by: by.clone(), note: judgement.note.to_owned(), at }]);
        let outcome = record.product.as_ref().map_or_else(|| judgement.note.to_owned(), |product| product.summary.clone());
        if let Judge::Person(name) = by {
            record.remark(transaction, &format!("accepted by {name}"), at).await?;
        }
        record.end(transaction, WorkStatus::Done, &outcome, at).await?
    } else if judgement.needs_person {
        record.item.wait = Some(Wait::Decision { why: judgement.note.to_owned() });
        record.go(transaction, WorkStatus::Waiting, Some(judgement.note), at).await?;
        Ended::alone(record.item)
    } else {
        record.rejections += 1;
        // A person decides whether its parts are done again, or something is added.
        let is_whole = record.has_parts;
        let next = if record.rejections < judgement.most_rejections && !is_whole { WorkStatus::Ready } else { WorkStatus::Waiting };
        if is_whole {
            // The whole is judged again after another part is added.
            record.restart_run();
        }
        if next == WorkStatus::Ready {
            record.restart_run();
        } else {
            // The result is kept, because a person may still accept it.
            let why = if is_whole {
                let short = record.item.short_id();
                format!(
                    "its parts do not give all of it. \"Try again\" sends it back to their authors; what is missing can be added as another part of #{short}\n{}",
                    judgement.note
                )
            } else {
                describe_rejections(&before, judgement.note, record.rejections)
            };
            record.item.wait = Some(Wait::Decision { why });
        }
        record.go(transaction, next, Some(judgement.note), at).await?;
        Ended::alone(record.item)
    };
    insert_outbound(transaction, &(judgement.post)(&ended.item), cause.as_ref(), at).await?;
    Ok(Some(ended))
}

/// As [`Store::answer_item`], in a transaction.
pub(crate) async fn answer_in(transaction: &mut Transaction, item: &WorkItemId, answer: &ItemAnswer<'_>) -> Result<Option<Ended>> {
    let (by, at) = (answer.by, answer.at);
    let Some(mut record) = ItemRecord::find(transaction, item).await? else { return Ok(None) };
    if !matches!(record.item.wait, Some(Wait::Answer { .. } | Wait::Help { .. })) {
        return Ok(None);
    }
    insert_outbound(transaction, answer.outbox, record.cause(), at).await?;
    insert_memories(transaction, answer.memory.map(std::slice::from_ref).unwrap_or_default()).await?;
    let (status, outcome) = if answer.done {
        record.add_delivery(transaction).await?;
        record.add_evidence(&[Evidence::Answer { by: by.to_owned(), text: answer.text.to_owned(), at }]);
        (WorkStatus::Done, format!("{by}: {}", answer.text))
    } else {
        note_before(transaction, item, at).await?;
        (WorkStatus::Cancelled, format!("not needed, says {by}: {}", answer.text))
    };
    let ended = record.end(transaction, status, &outcome, at).await?;
    keep_ended(transaction, item).await?;
    Ok(Some(ended))
}

/// The history of a result that was rejected too often: what was missing each time. Rejections from before reviews were stored are left out.
fn describe_rejections(before: &[String], last: &str, times: u32) -> String {
    let first = times.saturating_sub(u32::try_from(before.len()).unwrap_or(u32::MAX));
    let notes = (first..).zip(before.iter().map(String::as_str).chain([last]));
    let told = notes.map(|(time, note)| format!("{time}: {}", note.lines().collect::<Vec<_>>().join("; ")));
    format!("it was rejected {times} times\n{}", told.collect::<Vec<_>>().join("\n"))
}
