//! A command that somebody says to a persona: `@Kelly backlog list`. In threads of Slack there is no other way to give one.
//!
//! It is carried out once. If the process dies in between, the command is not repeated, because nobody knows how far it came. The person is told
//! instead.

use std::sync::{Arc, Weak};
use std::time::Duration;

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::features::chat::commands::ChatCommands;
use crate::features::chat::listener::{Listener, Taken};
use crate::features::chat::model::decision::Decision;
use kernel::chat::message::{AuthorKind, InboundMessage};
use kernel::chat::outbound::{OutboundKind, OutboundMessage};
use kernel::chat::outbox::store::insert_outbound;
use kernel::chat::text::split_mention;
use kernel::commands::{Audience, Caller, CommandReply, CommandRequest, Invoked, Late, Registry, Right, Typed};
use kernel::db::{Applied, Effect, StoreError, Transaction};
use kernel::ids::{MessageId, PersonaSlug};
use kernel::jobs::{self, JobContext, JobError, JobHandler, KindSettings, NewJob};

/// The kind of the jobs that carry out what was said.
const SAID: &str = "chat.command";

/// The step that is stored before a command is carried out.
const BEGUN: &str = "begun";

/// The payload of the job for a said command.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Said {
    message: MessageId,
    /// The persona that was addressed, and that answers.
    persona: PersonaSlug,
    command: Typed,
}

#[async_trait]
impl Effect for Said {
    async fn apply(&self, transaction: &mut Transaction, at: DateTime<Utc>) -> Result<Applied, StoreError> {
        jobs::enqueue(transaction, &NewJob::new(SAID, self), at).await?;
        Ok(Applied::Done)
    }
}

/// Recognises commands in what people say.
pub(crate) struct SaidCommands {
    /// Weak, because the registry holds the conversation, which holds this.
    pub(crate) registry: Late<Weak<Registry>>,
}

impl SaidCommands {
    fn find_command(&self, message: &InboundMessage) -> Option<Typed> {
        if message.author.kind != AuthorKind::Person || !message.attachments.is_empty() {
            return None;
        }
        let (_, sentence) = split_mention(message.text.trim_start())?;
        self.registry.get().ok()?.upgrade()?.parse_sentence(sentence.trim_start_matches([',', ':']))
    }
}

#[async_trait]
impl Listener for SaidCommands {
    fn recognises(&self, message: &InboundMessage) -> bool {
        self.find_command(message).is_some()
    }

    async fn take(&self, message: &InboundMessage, decision: &Decision) -> Result<Option<Taken>, StoreError> {
        let Some(persona) = decision.responders.first().filter(|_| decision.ask.is_none()) else { return Ok(None) };
        let Some(command) = self.find_command(message) else { return Ok(None) };
        let why = format!("it is the command {}", command.path);
        let said = Said { message: message.id.clone(), persona: persona.clone(), command };
        Ok(Some(Taken { why, reply: None, effect: Some(Box::new(said)) }))
    }
}

/// Carries out commands that were said.
pub(crate) struct SaidHandler {
    pub(crate) chat: Arc<ChatCommands>,
    pub(crate) registry: Arc<Weak<Registry>>,
}

#[async_trait]
impl JobHandler for SaidHandler {
    fn kind(&self) -> &'static str {
        SAID
    }

    fn subject(&self) -> Option<&'static str> {
        Some("message")
    }

    fn settings(&self) -> KindSettings {
        KindSettings { time_limit: Duration::from_mins(10), retention: Duration::from_hours(1), ..KindSettings::default() }
    }

    async fn run(&self, job: &JobContext) -> Result<(), JobError> {
        let Said { message, persona, command } = job.payload()?;
        let said = self.chat.store.find_message(&message).await?.filter(|row| row.deleted_at.is_none());
        // Nobody wants the result of a deleted message.
        let Some(said) = said else { return job.begin_final().await?.finish().await };
        let channel = said.message.channel.id.clone();
        let reply = if job.find_step::<()>(BEGUN).await?.is_some() {
            let path = &command.path;
            CommandReply::public(format!(
                "I was interrupted during `/{path}`. It may be done or not: please look before you ask for it again."
            ))
        } else {
            let registry = self.registry.upgrade().ok_or(JobError::Stopping)?;
            job.step(BEGUN, || async { Ok(()) }).await?;
            carry_out(&registry, said.message, command).await
        };
        let format = self.chat.platform.as_ref().map(|platform| platform.text_format(&channel));
        let texts = format.map_or_else(|| vec![reply.text.clone()], |format| format.split(&format.lay_out(&reply.text)));
        let mut messages: Vec<OutboundMessage> =
            texts.into_iter().map(|text| OutboundMessage::new(&persona, &channel, OutboundKind::Notice, text)).collect();
        if let Some(first) = messages.first_mut() {
            first.reply_to = Some(message.clone());
        }
        if let Some(last) = messages.last_mut() {
            last.files = reply.files;
        }
        let mut last = job.begin_final().await?;
        insert_outbound(&mut last, &messages, Some(&message), job.now()).await?;
        last.finish().await
    }
}

/// Carries out a command with the rights of the person who said the message.
pub(super) async fn carry_out(registry: &Registry, said: InboundMessage, Typed { path, given }: Typed) -> CommandReply {
    let right = registry.find(&path).map_or(Right::Operator, |command| command.right_with(given.iter().map(|(name, _)| name.as_str())));
    if right == Right::Operator && registry.audience_of(&path, &given) == Audience::Caller {
        // Everybody in the channel would read the answer.
        return CommandReply::public(format!("I show that to you alone: use `/{path}`."));
    }
    run_for(registry, said, Typed { path, given }).await
}

/// As [`carry_out`], for a command whose reply everybody may read.
pub(super) async fn run_for(registry: &Registry, said: InboundMessage, Typed { path, given }: Typed) -> CommandReply {
    let caller = Caller::Person { id: said.author.id, name: said.author.name, roles: said.author.roles };
    let request = CommandRequest { invoked: Invoked::Command { path, given }, caller, channel: Some(said.channel) };
    registry.run(request).await
}
