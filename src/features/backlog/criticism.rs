//! What people say below a delivered result, by a reply to its message or in the thread on it. A model tells whether the work is to be done again with
//! what they say, in any language. The item is reopened in the transaction that decides on the message, so that it happens once.

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::features::backlog::commands::line;
use crate::features::backlog::model::{Owner, WorkItem, WorkKind, WorkStatus};
use crate::features::backlog::named::describe_result;
use crate::features::backlog::prompts::below_result::ask_below_result;
use crate::features::backlog::render::name_of_owner;
use crate::features::backlog::replies::{ReplyListener, words_of};
use crate::features::backlog::service::BacklogError;
use crate::features::backlog::store::{Remark, reopen_item_in};
use crate::features::chat::listener::Taken;
use crate::features::chat::model::decision::Decision;
use crate::store::Store;
use kernel::chat::medium::Medium;
use kernel::chat::message::{InboundMessage, Place};
use kernel::chat::outbound::{OutboundKind, OutboundMessage};
use kernel::db::{Applied, Effect, StoreError, Transaction};
use kernel::ids::{MessageId, WorkItemId};
use kernel::text::flatten;

/// Below this it is talk.
const SURE: f64 = 0.7;

/// Maximum length of a remark in an item's history.
const REMARK: usize = 500;

/// What a message below a result wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum BelowKind {
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
        let is_reopened = Box::pin(reopen_item_in(transaction, &self.item, (&self.by, &self.why), at)).await?;
        Ok(if is_reopened { Applied::Done } else { Applied::Refused("it is not done any more".into()) })
    }
}

impl ReplyListener {
    /// Takes a message below the result of an item which says that the result is not good enough. Anything else is answered by a persona.
    pub(super) async fn take_criticism(
        &self,
        item: WorkItem,
        message: &InboundMessage,
        decision: &Decision,
    ) -> Result<Option<Taken>, StoreError> {
        let (Ok(backlog), Ok(work), Some(persona)) = (self.backlog.get(), self.work.get(), decision.responders.first()) else {
            return Ok(None);
        };
        let said = words_of(message, &[]);
        if work.deps().agents.is_offline() || decision.ask.is_some() || said.is_empty() {
            return Ok(None);
        }
        let shown = format!("{}\n{}", item.describe_task(), describe_result(&item, backlog.roster()));
        let prompt = ask_below_result(&said, &shown);
        let Some(below) = work.classify::<Below>(message, "what is said below a result", prompt).await else { return Ok(None) };
        if below.kind != BelowKind::Again || below.confidence < SURE {
            return Ok(None);
        }
        let asker = backlog.asker_of(message);
        let (told, effect): (String, Box<dyn Effect>) = match backlog.check_may_change(&item, &asker).await {
            Ok(()) => {
                let author = item.persona.clone().map_or_else(|| item.owner.clone(), Owner::Persona);
                let author = Medium::Chat.line_within(name_of_owner(&author, backlog.roster()), 40);
                let (by, why) = (asker.name().to_owned(), format!("{} says: {said}", asker.name()));
                (format!("{} goes back to {author} with what you say.", line(&item)), Box::new(Reopen { item: item.id.clone(), by, why }))
            }
            Err(BacklogError::Refused(why)) => {
                let note = format!("{} says of the result: {}", asker.name(), flatten(&said, REMARK));
                let told = format!("I keep it as a remark, because {}.", Medium::Chat.line(&why));
                (told, Box::new(Remark { item: item.id.clone(), note }))
            }
            Err(BacklogError::Store(error)) => return Err(error),
        };
        let reply = OutboundMessage {
            reply_to: Some(message.id.clone()),
            ..OutboundMessage::new(persona, &message.channel.id, OutboundKind::Notice, told)
        };
        let why = format!(
            "it wants the item {} done again ({:.0} % sure): {}",
            item.short_id(),
            below.confidence * 100.0,
            flatten(&below.why, 120)
        );
        Ok(Some(Taken { why, reply: Some(reply), effect: Some(effect) }))
    }
}

/// The item whose newest result a message replies to, or on whose message its thread hangs, if it can be done again. A mission knows its own thread.
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
