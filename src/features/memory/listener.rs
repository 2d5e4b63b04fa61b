//! "remember: we deploy on Thursdays", said in the chat.

use async_trait::async_trait;

use super::button::{MemoryButton, Press};
use super::render::{render_forgotten, render_taught};
use super::request::{Request, is_forget_that, parse_request};
use super::service::{Asker, Lesson, Memories, MemoryError, Taught};
use super::store::{ChangeTaught, Teach};
use crate::features::chat::listener::{Listener, Taken};
use crate::features::chat::model::decision::{Decision, Reason};
use kernel::chat::message::{AuthorKind, InboundMessage, Place};
use kernel::chat::outbound::{OutboundKind, OutboundMessage};
use kernel::commands::Late;
use kernel::db::StoreError;
use kernel::memory::{Memory, MemorySource};
use kernel::text::without_invisible;

/// Recognises what people want remembered.
pub(super) struct RememberListener {
    pub(super) memories: Late<Memories>,
}

#[async_trait]
impl Listener for RememberListener {
    fn recognises(&self, message: &InboundMessage) -> bool {
        let Ok(memories) = self.memories.get() else { return false };
        message.author.kind == AuthorKind::Person && find_request(&memories, message).is_some()
    }

    /// Counts where a persona would answer, and where a message is addressed to nobody. The persona that was spoken to, or the coordinator, says that
    /// it is remembered.
    async fn take(&self, message: &InboundMessage, decision: &Decision) -> Result<Option<Taken>, StoreError> {
        let Ok(memories) = self.memories.get() else { return Ok(None) };
        let unheard = decision.responders.is_empty() && !matches!(decision.reason, Reason::Silence | Reason::Standup);
        if message.author.kind != AuthorKind::Person || unheard {
            return Ok(None);
        }
        let persona = decision.responders.first().unwrap_or(&memories.roster().coordinator().slug);
        let say = |text: String| OutboundMessage {
            reply_to: Some(message.id.clone()),
            ..OutboundMessage::new(persona, &message.channel.id, OutboundKind::Notice, text)
        };
        let asker = Asker::author(message);
        let Some(Request { text, replaces }) = find_request(&memories, message) else {
            if !is_forget_that(&without_invisible(&message.text), &names(&memories)) {
                return Ok(None);
            }
            // What else may be meant is for a persona.
            let Some(meant) = memories.find_meant(message, &asker).await? else { return Ok(None) };
            let reply = say(render_forgotten(&meant.short_id(), 0));
            let effect = ChangeTaught { older: vec![meant], new: None, by: asker.person };
            return Ok(Some(Taken { why: "it is to be forgotten".to_owned(), reply: Some(reply), effect: Some(Box::new(effect)) }));
        };
        let why = "it is to be remembered".to_owned();
        let lesson = Lesson { text: &text, replaces: replaces.as_deref(), source: MemorySource::Message(message.id.clone()) };
        Ok(Some(match memories.draft(lesson, &asker).await {
            Ok(taught) => {
                let reply = confirm(&taught, message, say);
                Taken { why, reply: Some(reply), effect: Some(Box::new(Teach(taught.memory))) }
            }
            Err(MemoryError::Refused(told)) => Taken { why, reply: Some(say(told)), effect: None },
            Err(MemoryError::Store(error)) => return Err(error),
        }))
    }

    /// The fact is what the message says now. The text before it is forgotten, because its author took it back.
    async fn reconsider(&self, edited: &InboundMessage) -> Result<Option<Taken>, StoreError> {
        let Ok(memories) = self.memories.get() else { return Ok(None) };
        let older = memories.list_taught_in(&edited.id).await?;
        if older.is_empty() {
            return Ok(None);
        }
        let say = |text: String| OutboundMessage {
            reply_to: Some(edited.id.clone()),
            ..OutboundMessage::new(&memories.roster().coordinator().slug, &edited.channel.id, OutboundKind::Notice, text)
        };
        let why = "what it teaches has changed".to_owned();
        let asker = Asker::author(edited);
        let forget = |reply: OutboundMessage, new: Option<Memory>| {
            let effect = ChangeTaught { older: older.clone(), new, by: asker.person.clone() };
            Ok(Some(Taken { why: why.clone(), reply: Some(reply), effect: Some(Box::new(effect)) }))
        };
        let Some(Request { text, replaces }) = find_request(&memories, edited) else {
            return forget(say("I've forgotten that, as your message doesn't ask me to remember it any more.".to_owned()), None);
        };
        let lesson = Lesson { text: &text, replaces: replaces.as_deref(), source: MemorySource::Message(edited.id.clone()) };
        match memories.draft(lesson, &asker).await {
            // Only marks or capitals changed.
            Ok(taught) if taught.known.as_ref().is_some_and(|known| older.iter().any(|memory| memory.id == known.id)) => Ok(None),
            Ok(taught) => forget(confirm(&taught, edited, say), Some(taught.memory)),
            Err(MemoryError::Refused(told)) => forget(say(told), None),
            Err(MemoryError::Store(error)) => Err(error),
        }
    }
}

/// Says that something is to be remembered, with the button that takes it back.
fn confirm(taught: &Taught, message: &InboundMessage, say: impl FnOnce(String) -> OutboundMessage) -> OutboundMessage {
    let buttons = vec![MemoryButton::new(Press::Forget, taught.kept()).render()];
    OutboundMessage { buttons, ..say(render_taught(taught, message.channel.place == Place::Direct)) }
}

fn find_request(memories: &Memories, message: &InboundMessage) -> Option<Request> {
    parse_request(&without_invisible(&message.text), &names(memories))
}

fn names(memories: &Memories) -> Vec<&str> {
    let personas = memories.roster().personas().iter();
    personas.flat_map(|persona| std::iter::once(&persona.name).chain(&persona.aliases)).map(String::as_str).collect()
}
