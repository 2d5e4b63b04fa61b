use std::sync::Arc;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use crate::features::chat::store::{InboxRow, hold_message};
use crate::features::memory::render::{render_knowledge, shown_address};
use crate::features::memory::service::Memories;
use kernel::agent::addresses_in;
use kernel::chat::outbound::{OutboundKind, OutboundMessage};
use kernel::chat::outbox::store::insert_outbound;
use kernel::ids::{MessageId, PersonaSlug};
use kernel::jobs::{JobContext, JobError, JobHandler, NewJob};
use kernel::memory::documents::Posted;
use kernel::memory::store::insert_memories;
use kernel::memory::{Scope, Teacher};

const KIND: &str = "knowledge";

/// The most links of a message that are read.
const LINKS: usize = 5;

/// The first message of a burst that brings files or links.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Brought {
    pub(super) message: MessageId,
    /// The persona that says what was read. None: nobody does.
    pub(super) persona: Option<PersonaSlug>,
}

impl Brought {
    pub(super) fn job(&self) -> NewJob {
        NewJob::new(KIND, self).unique(format!("{KIND}:{}:{}", self.message, self.persona.is_some()))
    }
}

/// The outcome for a file or a link.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::features::memory) struct Outcome {
    pub(in crate::features::memory) name: String,
    /// Why it could not be read, as a sentence.
    pub(in crate::features::memory) refusal: Option<String>,
}

/// Reads what people post in knowledge channels.
pub(in crate::features::memory) struct ReadKnowledge {
    pub(in crate::features::memory) memories: Arc<Memories>,
}

#[async_trait]
impl JobHandler for ReadKnowledge {
    fn kind(&self) -> &'static str {
        KIND
    }

    fn subject(&self) -> Option<&'static str> {
        Some("message")
    }

    async fn run(&self, job: &JobContext) -> Result<(), JobError> {
        let brought: Brought = job.payload()?;
        let store = self.memories.store();
        let mut burst = store.list_burst(&brought.message).await?;
        if burst.is_empty() {
            // It is read ahead of the decision, by which it becomes a burst.
            burst.extend(store.find_message(&brought.message).await?);
        }
        let mut outcomes: Vec<Outcome> = Vec::new();
        for row in burst.iter().filter(|row| row.deleted_at.is_none()) {
            outcomes.extend(self.read_files(job, row).await?);
            outcomes.extend(self.read_links(job, row).await?);
        }
        let mut transaction = job.begin_final().await?;
        if let (Some(persona), Some(last)) = (&brought.persona, burst.last())
            && !outcomes.is_empty()
        {
            let told = OutboundMessage {
                reply_to: Some(last.message.id.clone()),
                ..OutboundMessage::new(persona, &last.message.channel.id, OutboundKind::Notice, render_knowledge(&outcomes))
            };
            insert_outbound(&mut transaction, &[told], Some(&brought.message), job.now()).await?;
        }
        transaction.finish().await
    }
}

impl ReadKnowledge {
    async fn read_files(&self, job: &JobContext, row: &InboxRow) -> Result<Vec<Outcome>, JobError> {
        let store = self.memories.store();
        let mut outcomes = Vec::new();
        for (number, known) in store.list_message_files(&row.message.id, None).await?.into_iter().enumerate() {
            let text = store.find_file(&known.id).await?.and_then(|file| file.text);
            let refusal = || known.note.clone().unwrap_or_else(|| format!("I couldn't read {}.", known.name));
            let read = text.ok_or_else(refusal);
            outcomes.extend(self.keep(job, row, (&known.name, &known.name, number), async || read.clone()).await?);
        }
        Ok(outcomes)
    }

    async fn read_links(&self, job: &JobContext, row: &InboxRow) -> Result<Vec<Outcome>, JobError> {
        let mut links = addresses_in(&row.message.text);
        links.dedup();
        let mut outcomes = Vec::new();
        for (number, link) in links.iter().take(LINKS).enumerate() {
            let shown = shown_address(link);
            let read = async || self.memories.pages().read(link).await.map_err(|error| format!("I couldn't read {shown} because {error}."));
            // Links are numbered after the files.
            outcomes.extend(self.keep(job, row, (link, &shown, 100 + number), read).await?);
        }
        Ok(outcomes)
    }

    /// Reads a document and stores its parts, once. None: the message was deleted meanwhile.
    async fn keep(
        &self,
        job: &JobContext,
        row: &InboxRow,
        (name, shown, number): (&str, &str, usize),
        read: impl AsyncFnOnce() -> Result<String, String>,
    ) -> Result<Option<Outcome>, JobError> {
        let message = &row.message;
        let step = format!("{} {number}", message.id);
        if let Some(outcome) = job.find_step::<Option<Outcome>>(&step).await? {
            return Ok(outcome);
        }
        job.check()?;
        let read = read().await;
        let posted = Posted {
            message: &message.id,
            by: Teacher { id: Some(message.author.id.clone()), name: message.author.name.clone() },
            channel: &message.channel.id,
            channel_name: &message.channel.name,
            place: Scope::of(&message.channel).place().cloned(),
            at: message.sent_at,
            name,
            number,
        };
        let parts = read.as_deref().map(|text| posted.split(text)).unwrap_or_default();
        let mut transaction = job.begin().await?;
        let outcome = if hold_message(&mut transaction, &message.id).await? {
            insert_memories(&mut transaction, &parts).await?;
            Some(Outcome { name: shown.to_owned(), refusal: read.err() })
        } else {
            None
        };
        job.record_step(&mut transaction, &step, &outcome).await?;
        transaction.commit().await?;
        Ok(outcome)
    }
}
