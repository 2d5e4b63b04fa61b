//! What people say to what an item asked them: a reply to that message, or their next words in that channel.

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;

use super::Work;
use super::criticism::find_below;
use super::model::Evidence;
use super::service::Backlog;
use super::store::{ItemAnswer, PersonAnswer, answer_in, take_answer};
use crate::features::chat::classify::classify_in_time;
use crate::features::chat::listener::{Listener, Taken};
use crate::features::chat::model::decision::{Decision, Reason};
use kernel::agent::Prompt;
use kernel::chat::medium::Medium;
use kernel::chat::message::{AuthorKind, InboundMessage};
use kernel::chat::outbound::OutboundMessage;
use kernel::chat::text::split_mention;
use kernel::commands::Late;
use kernel::db::{Applied, Effect, StoreError, Transaction};
use kernel::ids::{ChannelId, WorkItemId};
use kernel::memory::Memory;

/// The maximum length of an item's title in a list.
const NAMED: usize = 80;

/// Takes the replies of people who were asked, what else they say that answers it, and what people say below results.
pub(super) struct ReplyListener {
    pub(super) backlog: Late<Backlog>,
    pub(super) work: Late<Work>,
}

#[async_trait]
impl Listener for ReplyListener {
    /// Only the database knows who was asked.
    fn recognises(&self, _: &InboundMessage) -> bool {
        false
    }

    async fn take(&self, message: &InboundMessage, decision: &Decision) -> Result<Option<Taken>, StoreError> {
        let Ok(backlog) = self.backlog.get() else { return Ok(None) };
        if message.author.kind != AuthorKind::Person || message.is_empty() || is_shut_out(decision.reason) {
            return Ok(None);
        }
        if let Some(taken) = backlog.take_reply(message, decision).await? {
            return Ok(Some(taken));
        }
        match find_below(backlog.store(), message).await? {
            Some(item) => self.take_criticism(item, message, decision).await,
            None => self.take_answer_said_elsewhere(message, decision).await,
        }
    }

    async fn list_work(&self, channel: &ChannelId) -> Result<Vec<String>, StoreError> {
        let Ok(backlog) = self.backlog.get() else { return Ok(Vec::new()) };
        let store = backlog.store();
        let mut work = Vec::new();
        for (item, _) in store.list_work_in(channel).await? {
            let Some(item) = store.find_item(&item).await? else { continue };
            let may_be_named = item.private_to.as_ref().is_none_or(|place| place == channel);
            let what = if may_be_named { Medium::Chat.line_within(&item.what, NAMED) } else { "something private".to_owned() };
            work.push(format!("`#{}` {what}", item.short_id()));
        }
        Ok(work)
    }
}

impl Work {
    /// What a quick model makes of a message. None: it fails, or a person would wait too long. `what`: what is asked of it, for the log.
    pub(super) async fn classify<T>(&self, message: &InboundMessage, what: &str, prompt: Prompt) -> Option<T>
    where
        T: DeserializeOwned + JsonSchema + Send,
    {
        match classify_in_time(&self.deps().agents, &self.deps().clock, &message.id, prompt).await {
            Ok(Some(given)) => Some(given),
            Ok(None) => {
                tracing::warn!(id = %message.id, what, "a model takes too long");
                None
            }
            Err(error) => {
                tracing::warn!(id = %message.id, what, %error, "a model cannot tell");
                None
            }
        }
    }
}

/// Whether the author may not speak here. A halt of the team does not keep people from answering, and an answer is never too old.
fn is_shut_out(reason: Reason) -> bool {
    use Reason::{
        AuthorNotAllowed, ChannelIgnored, ChannelNotAllowed, Deleted, DirectMessagesOff, Empty, NotAPerson, Outsider, SharedChannel, Stop,
    };
    matches!(
        reason,
        Stop | ChannelNotAllowed
            | SharedChannel
            | AuthorNotAllowed
            | Outsider
            | DirectMessagesOff
            | ChannelIgnored
            | NotAPerson
            | Empty
            | Deleted
    )
}

/// The answer to a question, with which the run of its item goes on.
#[derive(Debug)]
pub(super) struct TakeAnswer(pub(super) PersonAnswer);

#[async_trait]
impl Effect for TakeAnswer {
    async fn apply(&self, transaction: &mut Transaction, at: DateTime<Utc>) -> Result<Applied, StoreError> {
        take_answer(transaction, &self.0, at).await
    }
}

/// A person's reply that ends an item.
#[derive(Debug)]
pub(super) struct TakeWord {
    pub(super) item: WorkItemId,
    pub(super) by: String,
    pub(super) text: String,
    pub(super) memory: Memory,
    pub(super) outbox: Vec<OutboundMessage>,
}

#[async_trait]
impl Effect for TakeWord {
    async fn apply(&self, transaction: &mut Transaction, at: DateTime<Utc>) -> Result<Applied, StoreError> {
        let Self { item, by, text, memory, outbox } = self;
        let answer = ItemAnswer { by, done: true, text, memory: Some(memory), outbox, at };
        Ok(match answer_in(transaction, item, &answer).await? {
            Some(_) => Applied::Done,
            None => Applied::Refused("it does not wait any more".into()),
        })
    }
}

/// What a message says, besides its files: its text, or that there is only a file.
pub(super) fn words_of(message: &InboundMessage, files: &[Evidence]) -> String {
    let mut text = message.text.trim();
    // A mention at the beginning is not part of the answer.
    while let Some((_, rest)) = split_mention(text) {
        text = rest.trim_start_matches([',', ':', ' ']);
    }
    let named: Vec<String> = files
        .iter()
        .filter_map(|file| match file {
            Evidence::File { path, .. } => Some(path.clone()),
            _ => None,
        })
        .chain(message.attachments.iter().skip(files.len()).map(|attachment| format!("{} (in the chat)", attachment.name)))
        .collect();
    match (text.is_empty(), named.is_empty()) {
        (_, true) => text.to_owned(),
        (true, false) => format!("See {}", named.join(", ")),
        (false, false) => format!("{text} (see {})", named.join(", ")),
    }
}
