//! What people say below a result, by a reply to its message or in the thread on it: one that was delivered, or one about which they are asked to decide.
//! A model tells whether they accept it, or whether the work is to be done again with what they say, in any language. The item changes in the transaction
//! that decides on the message, so that it happens once.

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::features::backlog::commands::line;
use crate::features::backlog::model::{Judge, Owner, WorkItem, WorkKind, WorkStatus};
use crate::features::backlog::named::describe_result;
use crate::features::backlog::prompts::below_result::ask_below_result;
use crate::features::backlog::render::name_of_owner;
use crate::features::backlog::replies::{ReplyListener, words_of};
use crate::features::backlog::service::{BacklogError, check_may_judge};
use crate::features::backlog::store::{ItemJudgement, Remark, is_in_run, judge_in, reopen_item_in, send_back_in};
use crate::features::chat::listener::Taken;
use crate::features::chat::model::decision::Decision;
use crate::store::Store;
use kernel::chat::medium::Medium;
use kernel::chat::message::{InboundMessage, Place};
use kernel::chat::outbound::{OutboundKind, OutboundMessage};
use kernel::chat::outbox::store::insert_outbound;
use kernel::db::{Applied, Effect, StoreError, Transaction};
use kernel::ids::{MessageId, UserId, WorkItemId};
use kernel::memory::Memory;
use kernel::text::flatten;

/// Below this it is talk.
const SURE: f64 = 0.7;

/// Why what is said about a result changes nothing.
const OLD: &str = "it was decided already, or there is another result meanwhile";

/// Maximum length of a remark in an item's history.
const REMARK: usize = 500;

/// What a message below a result wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum BelowKind {
    /// Only where a decision is asked for.
    Accept,
    Again,
    Question,
    Other,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct Below {
    kind: BelowKind,
    /// From 0 to 1.
    confidence: f64,
    /// In a few words.
    #[serde(default)]
    why: String,
}

/// What a person says about a result, with the run that made it, and the answer to that person.
#[derive(Debug)]
struct Said {
    item: WorkItemId,
    run: u32,
    by: String,
    message: MessageId,
    answer: OutboundMessage,
}

impl Said {
    /// The answer, once it is known what became of it.
    async fn answer(&self, transaction: &mut Transaction, refused: Option<&str>, at: DateTime<Utc>) -> Result<Applied, StoreError> {
        let text = refused.map_or_else(|| self.answer.text.clone(), |why| format!("Nothing is changed: {why}."));
        let answer = OutboundMessage { text, ..self.answer.clone() };
        insert_outbound(transaction, &[answer], Some(&self.message), at).await?;
        Ok(Applied::Done)
    }
}

/// Work that is done again because of what a person says about its result.
#[derive(Debug)]
struct Again {
    said: Said,
    why: String,
}

#[async_trait]
impl Effect for Again {
    async fn apply(&self, transaction: &mut Transaction, at: DateTime<Utc>) -> Result<Applied, StoreError> {
        let Said { item, run, by, .. } = &self.said;
        if !is_in_run(transaction, item, *run).await? {
            return self.said.answer(transaction, Some(OLD), at).await;
        }
        let said = (&**by, &*self.why);
        let is_again =
            Box::pin(reopen_item_in(transaction, item, said, at)).await? || Box::pin(send_back_in(transaction, item, said, at)).await?;
        let refused = (!is_again).then_some("it cannot be done again as it is now, because not all of its parts are done or it is over");
        self.said.answer(transaction, refused, at).await
    }
}

/// A result that a person accepts in words.
#[derive(Debug)]
struct Accept {
    said: Said,
    account: UserId,
    note: String,
    memories: Vec<Memory>,
}

#[async_trait]
impl Effect for Accept {
    async fn apply(&self, transaction: &mut Transaction, at: DateTime<Utc>) -> Result<Applied, StoreError> {
        let Said { item, run, by, .. } = &self.said;
        let by = Judge::Person(by.clone());
        let judgement = ItemJudgement {
            by: &by,
            account: Some(&self.account),
            job: None,
            accepted: true,
            needs_person: false,
            note: &self.note,
            findings: &[],
            scores: None,
            evidence: &[],
            amends: false,
            most_rejections: 0,
            memories: &self.memories,
            post: &|_| Vec::new(),
            at,
        };
        let judged = is_in_run(transaction, item, *run).await? && Box::pin(judge_in(transaction, item, &judgement)).await?.is_some();
        self.said.answer(transaction, (!judged).then_some(OLD), at).await
    }
}

impl ReplyListener {
    /// Takes a message below the result of an item which accepts it or says that it is not good enough. Anything else is answered by a persona.
    pub(super) async fn take_criticism(
        &self,
        item: WorkItem,
        message: &InboundMessage,
        decision: &Decision,
    ) -> Result<Option<Taken>, StoreError> {
        let (Ok(backlog), Ok(work)) = (self.backlog.get(), self.work.get()) else { return Ok(None) };
        let persona = decision.responders.first().unwrap_or(&backlog.roster().coordinator().slug);
        let text = words_of(message, &[]);
        let decides = item.is_up_to_people();
        if work.deps().agents.is_offline() || decision.ask.is_some() || text.is_empty() || (decision.responders.is_empty() && !decides) {
            return Ok(None);
        }
        // Where nothing was made, there is nothing to accept or to send back.
        let store = backlog.store();
        if decides && store.find_product(&item.id).await?.is_none() && store.list_parts(&item.id).await?.is_empty() {
            return Ok(None);
        }
        let shown = format!("{}\n{}", item.describe_task(), describe_result(&item, backlog.roster()));
        let prompt = ask_below_result(&text, &shown, decides);
        let Some(below) = work.classify::<Below>(message, "what is said below a result", prompt).await else { return Ok(None) };
        let asker = backlog.asker_of(message);
        let checked = match below.kind {
            _ if below.confidence < SURE => return Ok(None),
            BelowKind::Accept if decides => check_may_judge(&item, &asker),
            BelowKind::Again if decides && asker.is_reviewer_of(&item) => Ok(()),
            BelowKind::Again => backlog.check_may_change(&item, &asker).await,
            BelowKind::Accept | BelowKind::Question | BelowKind::Other => return Ok(None),
        };
        let why = format!(
            "it judges the result of the item {} ({:.0} % sure): {}",
            item.short_id(),
            below.confidence * 100.0,
            flatten(&below.why, 120)
        );
        let answer = |told: String| OutboundMessage {
            reply_to: Some(message.id.clone()),
            ..OutboundMessage::new(persona, &message.channel.id, OutboundKind::Notice, told)
        };
        let said = |answer: OutboundMessage| Said {
            item: item.id.clone(),
            run: item.run,
            by: asker.name().to_owned(),
            message: message.id.clone(),
            answer,
        };
        let effect: Box<dyn Effect> = match (checked, below.kind) {
            (Ok(()), BelowKind::Accept) => {
                let (memories, result) = backlog.prepare_acceptance(&item, &asker, &text).await?;
                let answer = result.unwrap_or_else(|| answer(format!("Noted: you accept {}.", line(&item))));
                Box::new(Accept { said: said(answer), account: message.author.id.clone(), note: flatten(&text, REMARK), memories })
            }
            (Ok(()), _) => {
                let author = item.persona.clone().map_or_else(|| item.owner.clone(), Owner::Persona);
                let author = Medium::Chat.line_within(name_of_owner(&author, backlog.roster()), 40);
                let told = format!("{} goes back to {author} with what you say.", line(&item));
                Box::new(Again { said: said(answer(told)), why: format!("{} says: {text}", asker.name()) })
            }
            (Err(BacklogError::Refused(refused)), _) => {
                let note = format!("{} says of the result: {}", asker.name(), flatten(&text, REMARK));
                let told = answer(format!("I keep it as a remark, because {}.", Medium::Chat.line(&refused)));
                let remark = Box::new(Remark { item: item.id.clone(), note });
                return Ok(Some(Taken { why, reply: Some(told), effect: Some(remark) }));
            }
            (Err(BacklogError::Store(error)), _) => return Err(error),
        };
        Ok(Some(Taken { why, reply: None, effect: Some(effect) }))
    }
}

/// The item whose newest result a message replies to, or on whose message its thread hangs, if it can be done again or is to be decided about. A mission
/// knows its own thread.
pub(super) async fn find_below(store: &Store, message: &InboundMessage) -> Result<Option<WorkItem>, StoreError> {
    let replied_to = message.reply_to.as_ref().map(|reply| reply.message.clone());
    let starter = match &message.channel.place {
        Place::Thread { starter, .. } => starter.clone().or_else(|| Some(MessageId::new(message.channel.id.as_str()))),
        _ => None,
    };
    for of in [replied_to, starter].into_iter().flatten() {
        let Some(posted) = store.find_by_platform_id(&of).await? else { continue };
        let Some((id, run)) = WorkItem::parse_notice_id(&posted.id) else { continue };
        let Some(item) = store.find_item(&id).await?.filter(|item| item.run == run) else { continue };
        if item.is_up_to_people() {
            return Ok(Some(item));
        }
        if item.status != WorkStatus::Done || item.kind == WorkKind::Mission {
            continue;
        }
        let is_part_of_ended = match &item.parent {
            Some(parent) => store.find_item(parent).await?.is_some_and(|parent| parent.status.is_over()),
            None => false,
        };
        return Ok(Some(item).filter(|_| !is_part_of_ended));
    }
    Ok(None)
}
