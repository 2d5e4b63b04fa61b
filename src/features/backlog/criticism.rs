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
use crate::features::backlog::store::{ItemJudgement, Remark, judge_in, reopen_item_in, send_back_in};
use crate::features::chat::listener::Taken;
use crate::features::chat::model::decision::Decision;
use crate::store::Store;
use kernel::chat::medium::Medium;
use kernel::chat::message::{InboundMessage, Place};
use kernel::chat::outbound::{OutboundKind, OutboundMessage};
use kernel::db::{Applied, Effect, StoreError, Transaction};
use kernel::ids::{MessageId, UserId, WorkItemId};
use kernel::memory::Memory;
use kernel::text::flatten;

/// Below this it is talk.
const SURE: f64 = 0.7;

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

/// Work that is done again because of what a person says about its result.
#[derive(Debug)]
struct Reopen {
    item: WorkItemId,
    by: String,
    why: String,
}

#[async_trait]
impl Effect for Reopen {
    async fn apply(&self, transaction: &mut Transaction, at: DateTime<Utc>) -> Result<Applied, StoreError> {
        let said = (&*self.by, &*self.why);
        let is_again = Box::pin(reopen_item_in(transaction, &self.item, said, at)).await?
            || Box::pin(send_back_in(transaction, &self.item, said, at)).await?;
        Ok(if is_again { Applied::Done } else { Applied::Refused("it is not done any more".into()) })
    }
}

/// A result that a person accepts in words.
#[derive(Debug)]
struct Accept {
    item: WorkItemId,
    by: Judge,
    account: UserId,
    note: String,
    memories: Vec<Memory>,
    outbox: Vec<OutboundMessage>,
}

#[async_trait]
impl Effect for Accept {
    async fn apply(&self, transaction: &mut Transaction, at: DateTime<Utc>) -> Result<Applied, StoreError> {
        let judgement = ItemJudgement {
            by: &self.by,
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
            post: &|_| self.outbox.clone(),
            at,
        };
        let judged = Box::pin(judge_in(transaction, &self.item, &judgement)).await?;
        Ok(if judged.is_some() { Applied::Done } else { Applied::Refused("it was decided already".into()) })
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
        let said = words_of(message, &[]);
        let may_be_talk = decision.responders.is_empty() && !item.is_up_to_people();
        if work.deps().agents.is_offline() || decision.ask.is_some() || said.is_empty() || may_be_talk {
            return Ok(None);
        }
        let shown = format!("{}\n{}", item.describe_task(), describe_result(&item, backlog.roster()));
        let prompt = ask_below_result(&said, &shown, item.is_up_to_people());
        let Some(below) = work.classify::<Below>(message, "what is said below a result", prompt).await else { return Ok(None) };
        if below.confidence < SURE {
            return Ok(None);
        }
        let asker = backlog.asker_of(message);
        let said_of_it = |told: String, effect: Box<dyn Effect>, wants: &str| {
            let reply = OutboundMessage {
                reply_to: Some(message.id.clone()),
                ..OutboundMessage::new(persona, &message.channel.id, OutboundKind::Notice, told)
            };
            let sure = below.confidence * 100.0;
            let why = format!("it wants the item {} {wants} ({sure:.0} % sure): {}", item.short_id(), flatten(&below.why, 120));
            Taken { why, reply: Some(reply), effect: Some(effect) }
        };
        let checked = match below.kind {
            BelowKind::Accept if item.is_up_to_people() => check_may_judge(&item, &asker),
            BelowKind::Again if asker.is_reviewer_of(&item) => Ok(()),
            BelowKind::Again => backlog.check_may_change(&item, &asker).await,
            BelowKind::Accept | BelowKind::Question | BelowKind::Other => return Ok(None),
        };
        Ok(Some(match (checked, below.kind) {
            (Ok(()), BelowKind::Accept) => {
                let (memories, outbox) = backlog.prepare_acceptance(&item, &asker, &said).await?;
                let accept = Accept {
                    item: item.id.clone(),
                    by: Judge::Person(asker.name().to_owned()),
                    account: message.author.id.clone(),
                    note: flatten(&said, REMARK),
                    memories,
                    outbox,
                };
                said_of_it(format!("Noted: you accept {}.", line(&item)), Box::new(accept), "accepted")
            }
            (Ok(()), _) => {
                let author = item.persona.clone().map_or_else(|| item.owner.clone(), Owner::Persona);
                let author = Medium::Chat.line_within(name_of_owner(&author, backlog.roster()), 40);
                let (by, why) = (asker.name().to_owned(), format!("{} says: {said}", asker.name()));
                let again = Reopen { item: item.id.clone(), by, why };
                said_of_it(format!("{} goes back to {author} with what you say.", line(&item)), Box::new(again), "done again")
            }
            (Err(BacklogError::Refused(why)), _) => {
                let note = format!("{} says of the result: {}", asker.name(), flatten(&said, REMARK));
                let told = format!("I keep it as a remark, because {}.", Medium::Chat.line(&why));
                said_of_it(told, Box::new(Remark { item: item.id.clone(), note }), "judged")
            }
            (Err(BacklogError::Store(error)), _) => return Err(error),
        }))
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
