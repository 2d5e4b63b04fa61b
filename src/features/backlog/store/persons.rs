//! What people do to items: they cancel, retry, answer, judge, wake, hurry and change them. A persona that reviews judges here too.

use chrono::{DateTime, Utc};

use crate::features::backlog::model::{Evidence, Judge, Owner, Urgency, Wait, WorkItem, WorkStatus};
use crate::features::backlog::store::planning::order_of;
use crate::features::backlog::store::standing::{Ended, Readiness, Standing};
use crate::store::Store;
use kernel::chat::outbound::OutboundMessage;
use kernel::chat::outbox::store::insert_outbound;
use kernel::db::{Result, plain, sql};
use kernel::ids::WorkItemId;
use kernel::memory::Memory;
use kernel::memory::store::insert_memories;

/// What a person says of an item that waits for an answer.
#[derive(Debug, Clone, Copy)]
pub struct ItemAnswer<'a> {
    /// The name of the person.
    pub by: &'a str,
    /// It is done; otherwise it need not be.
    pub done: bool,
    pub text: &'a str,
    pub memory: Option<&'a Memory>,
    pub outbox: &'a [OutboundMessage],
    pub at: DateTime<Utc>,
}

/// What somebody who is not the author thinks of what was made.
#[derive(Clone, Copy)]
pub struct ItemJudgement<'a> {
    pub by: &'a Judge,
    pub accepted: bool,
    /// Why; the next run is told.
    pub note: &'a str,
    /// After so many rejections a person decides what becomes of it.
    pub most_rejections: u32,
    /// Stored if it is accepted.
    pub memory: Option<&'a Memory>,
    /// What is to be posted, from the item as it is then: done, to be tried again, or waiting for a decision.
    pub post: &'a (dyn Fn(&WorkItem) -> Vec<OutboundMessage> + Send + Sync),
    pub at: DateTime<Utc>,
}

/// What a person changes of an item; none stays as it is.
#[derive(Debug, Default, Clone, Copy)]
pub struct ItemEdit<'a> {
    pub what: Option<&'a str>,
    pub how: Option<&'a str>,
    pub why: Option<&'a str>,
    pub owner: Option<&'a Owner>,
    pub urgency: Option<Urgency>,
    pub criteria: Option<&'a [String]>,
}

impl Store {
    /// Cancels an item; who works on it finds out at the next write. What needs it fails. None, and nothing is stored, when it is over, or there is
    /// none.
    pub async fn cancel_item(&self, item: &WorkItemId, by: &str, outbox: &[OutboundMessage], at: DateTime<Utc>) -> Result<Option<Ended>> {
        let mut transaction = self.db().begin().await?;
        let Some(standing) = Standing::find(&mut transaction, item).await? else { return Ok(None) };
        if !standing.may_go(WorkStatus::Cancelled) {
            return Ok(None);
        }
        insert_outbound(&mut transaction, outbox, standing.cause(), at).await?;
        let ended = standing.end(&mut transaction, WorkStatus::Cancelled, &format!("cancelled by {by}"), at).await?;
        transaction.commit().await?;
        Ok(Some(ended))
    }

    /// Has an item tried from the beginning that failed, was cancelled or waits. Others that failed with it stay failed. False, and nothing is
    /// stored, when it stands elsewhere, or would fail at once: what it needs, or a part of it, failed or was cancelled.
    pub async fn retry_item(&self, item: &WorkItemId, by: &str, at: DateTime<Utc>) -> Result<bool> {
        let mut transaction = self.db().begin().await?;
        let Some(mut standing) = Standing::find(&mut transaction, item).await? else { return Ok(false) };
        if !matches!(standing.item.status, WorkStatus::Failed | WorkStatus::Cancelled | WorkStatus::Waiting) {
            return Ok(false);
        }
        if let Readiness::Lost(_) | Readiness::PartsOver { status: WorkStatus::Failed, .. } =
            Readiness::find(&mut transaction, item).await?
        {
            return Ok(false);
        }
        standing.begin_anew();
        standing.forgive();
        standing.item.outcome = None;
        standing.resume(&mut transaction, &format!("to be tried again, says {by}"), at).await?;
        transaction.commit().await?;
        Ok(true)
    }

    /// Stores a person's answer to what an item reminded of or asked. None, and nothing is stored, when it waits for no answer.
    pub async fn answer_item(&self, item: &WorkItemId, answer: &ItemAnswer<'_>) -> Result<Option<Ended>> {
        let (by, at) = (answer.by, answer.at);
        let mut transaction = self.db().begin().await?;
        let Some(mut standing) = Standing::find(&mut transaction, item).await? else { return Ok(None) };
        if !matches!(standing.item.wait, Some(Wait::Answer { .. })) {
            return Ok(None);
        }
        insert_outbound(&mut transaction, answer.outbox, standing.cause(), at).await?;
        insert_memories(&mut transaction, answer.memory.map(std::slice::from_ref).unwrap_or_default()).await?;
        let (status, outcome) = if answer.done {
            standing.add_evidence(&[Evidence::Answer { by: by.to_owned(), text: answer.text.to_owned(), at }]);
            (WorkStatus::Done, format!("{by}: {}", answer.text))
        } else {
            (WorkStatus::Cancelled, format!("not needed, says {by}: {}", answer.text))
        };
        let ended = standing.end(&mut transaction, status, &outcome, at).await?;
        transaction.commit().await?;
        Ok(Some(ended))
    }

    /// Stores a judgement on what was made. Accepted, the item is done; rejected, it is tried again, or waits for a person's decision. None, and
    /// nothing is stored, when it is not in review, its own author judges, or what waits for a decision is rejected once more.
    pub async fn judge_item(&self, item: &WorkItemId, judgement: &ItemJudgement<'_>) -> Result<Option<Ended>> {
        let (by, at) = (judgement.by, judgement.at);
        let mut transaction = self.db().begin().await?;
        let Some(mut standing) = Standing::find(&mut transaction, item).await? else { return Ok(None) };
        let may_judge = match standing.item.status {
            WorkStatus::InReview => true,
            WorkStatus::Waiting => judgement.accepted && matches!(standing.item.wait, Some(Wait::Decision { .. })),
            _ => false,
        };
        let is_author = matches!(by, Judge::Persona(persona) if standing.item.persona.as_ref() == Some(persona));
        if !may_judge || is_author {
            return Ok(None);
        }
        let cause = standing.cause().cloned();
        let ended = if judgement.accepted {
            insert_memories(&mut transaction, judgement.memory.map(std::slice::from_ref).unwrap_or_default()).await?;
            standing.add_evidence(&[Evidence::Review { by: by.clone(), note: judgement.note.to_owned(), at }]);
            let outcome = standing.product.as_ref().map_or_else(|| judgement.note.to_owned(), |product| product.summary.clone());
            standing.end(&mut transaction, WorkStatus::Done, &outcome, at).await?
        } else {
            standing.rejections += 1;
            let next = if standing.rejections < judgement.most_rejections { WorkStatus::Ready } else { WorkStatus::Waiting };
            if next == WorkStatus::Ready {
                standing.begin_anew();
            } else {
                // What was made is kept: a person may accept it all the same.
                let why = format!("it was rejected {} times, last because: {}", standing.rejections, judgement.note);
                standing.item.wait = Some(Wait::Decision { why });
            }
            standing.go(&mut transaction, next, Some(judgement.note), at).await?;
            Ended::alone(standing.item)
        };
        insert_outbound(&mut transaction, &(judgement.post)(&ended.item), cause.as_ref(), at).await?;
        transaction.commit().await?;
        Ok(Some(ended))
    }

    /// Ends the wait of an item: its run goes on as soon as nothing else is in the way. False, and nothing is stored, when it does not wait.
    pub async fn wake_item(&self, item: &WorkItemId, at: DateTime<Utc>) -> Result<bool> {
        let mut transaction = self.db().begin().await?;
        let Some(standing) = Standing::find(&mut transaction, item).await? else { return Ok(false) };
        if standing.item.status != WorkStatus::Waiting {
            return Ok(false);
        }
        standing.resume(&mut transaction, "it need not wait any more", at).await?;
        transaction.commit().await?;
        Ok(true)
    }

    /// Puts an item before all others that are not as urgent, whatever its time was. What it waits for it still waits for. False, and nothing is
    /// stored, when it is over or there is none.
    pub async fn run_item(&self, item: &WorkItemId, at: DateTime<Utc>) -> Result<bool> {
        let mut transaction = self.db().begin().await?;
        let Some(mut standing) = Standing::find(&mut transaction, item).await? else { return Ok(false) };
        if standing.item.status.is_over() {
            return Ok(false);
        }
        standing.item.urgency = Urgency::Now;
        standing.item.not_before = None;
        standing.save(&mut transaction, at).await?;
        sql!(
            transaction.on(),
            execute,
            "UPDATE work_items SET rank = $2 || substr(rank, 2) WHERE id = $1",
            item.as_str(),
            order_of(Urgency::Now)
        )?;
        transaction.commit().await?;
        Ok(true)
    }

    /// Changes an item. Unless only its urgency changes, the planner looks at it anew, and whoever works on it finds out at the next write. False,
    /// and nothing is stored, when it is over, or nothing changes.
    pub async fn edit_item(&self, item: &WorkItemId, edit: &ItemEdit<'_>, by: &str, at: DateTime<Utc>) -> Result<bool> {
        let mut transaction = self.db().begin().await?;
        let Some(mut standing) = Standing::find(&mut transaction, item).await? else { return Ok(false) };
        if standing.item.status.is_over() {
            return Ok(false);
        }
        let before = standing.item.clone();
        edit.apply(&mut standing.item);
        if standing.item == before {
            return Ok(false);
        }
        let is_new = before.status == WorkStatus::New;
        if is_new || before == (WorkItem { urgency: before.urgency, ..standing.item.clone() }) {
            standing.save(&mut transaction, at).await?;
        } else {
            standing.begin_anew();
            standing.forgive();
            standing.item.execution = None;
            standing.item.persona = None;
            standing.go(&mut transaction, WorkStatus::New, Some(&format!("changed by {by}")), at).await?;
        }
        transaction.commit().await?;
        Ok(true)
    }
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
        if let Some(criteria) = self.criteria {
            item.criteria = criteria.to_vec();
        }
    }
}
