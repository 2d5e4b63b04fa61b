use async_trait::async_trait;
use chrono::{DateTime, Utc};

use crate::features::chat::listener::{Listener, Taken};
use crate::features::chat::model::decision::{Decision, Reason};
use crate::features::memory::knowledge::job::Brought;
use crate::features::memory::service::Memories;
use kernel::agent::addresses_in;
use kernel::chat::message::{AuthorKind, ChannelKind, InboundMessage, Place};
use kernel::commands::Late;
use kernel::db::{Applied, Effect, StoreError, Transaction};
use kernel::jobs::enqueue;

/// Recognises what people post in knowledge channels.
pub(in crate::features::memory) struct KnowledgeListener {
    pub(in crate::features::memory) memories: Late<Memories>,
}

#[async_trait]
impl Listener for KnowledgeListener {
    /// Waits for the rest of the burst, which may bring more files.
    fn recognises(&self, _: &InboundMessage) -> bool {
        false
    }

    /// A message that is addressed to nobody is only read.
    async fn take(&self, message: &InboundMessage, decision: &Decision) -> Result<Option<Taken>, StoreError> {
        if decision.reason != Reason::Knowledge || !self.brings_knowledge(message, decision) {
            return Ok(None);
        }
        let brought = Brought { message: message.id.clone(), persona: decision.responders.first().cloned() };
        Ok(Some(Taken { why: "it brings knowledge".to_owned(), reply: None, effect: Some(Box::new(Read(brought))) }))
    }

    /// A message that a persona answers, or that is addressed to somebody else, is read without a reply.
    fn accompany(&self, message: &InboundMessage, decision: &Decision) -> Option<Box<dyn Effect>> {
        self.brings_knowledge(message, decision)
            .then(|| -> Box<dyn Effect> { Box::new(Read(Brought { message: message.id.clone(), persona: None })) })
    }
}

impl KnowledgeListener {
    fn brings_knowledge(&self, message: &InboundMessage, decision: &Decision) -> bool {
        let Ok(memories) = self.memories.get() else { return false };
        let (id, name) = match &message.channel.place {
            Place::Thread { parent, parent_name, .. } => (parent, parent_name),
            Place::Server | Place::Direct => (&message.channel.id, &message.channel.name),
        };
        message.author.kind == AuthorKind::Person
            && decision.is_remembered()
            && memories.channels().kind_of(id, name) == ChannelKind::Knowledge
            && (!message.attachments.is_empty() || !addresses_in(&message.text).is_empty())
    }
}

/// The job that reads what a message brings.
#[derive(Debug)]
struct Read(Brought);

#[async_trait]
impl Effect for Read {
    async fn apply(&self, transaction: &mut Transaction, at: DateTime<Utc>) -> Result<Applied, StoreError> {
        enqueue(transaction, &self.0.job(), at).await?;
        Ok(Applied::Done)
    }
}
