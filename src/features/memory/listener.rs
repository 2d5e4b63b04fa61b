//! "remember: we deploy on Thursdays", said in the chat.

use async_trait::async_trait;

use super::button::{Choice, MemoryButton};
use super::render::render_taught;
use super::request::{Forgettable, Request, parse_forget, parse_request};
use super::service::{Asker, Lesson, Meant, Memories, MemoryError, Taught};
use super::store::{ChangeTaught, Teach};
use crate::features::chat::listener::{Listener, Taken};
use crate::features::chat::model::decision::{Decision, Reason};
use kernel::chat::message::{AuthorKind, InboundMessage, Place};
use kernel::chat::outbound::{OutboundKind, OutboundMessage};
use kernel::commands::Late;
use kernel::db::StoreError;
use kernel::memory::MemorySource;
use kernel::text::without_invisible;

/// The reply to "forget that" if there is nothing to forget.
const NOTHING_MEANT: &str = "I know of nothing that you could mean: you have said nothing and taught nothing here in the last ten minutes. Reply to a message, \
     or name it: `/memory search` finds it.";

/// Recognises what people want remembered.
pub(super) struct RememberListener {
    pub(super) memories: Late<Memories>,
}

#[async_trait]
impl Listener for RememberListener {
    fn recognises(&self, message: &InboundMessage) -> bool {
        let Ok(memories) = self.memories.get() else { return false };
        let is_request = || find_request(&memories, message).is_some() || find_forget(&memories, message).is_some();
        message.author.kind == AuthorKind::Person && is_request()
    }

    /// People say "forget that" to each other.
    fn is_for_team(&self, message: &InboundMessage) -> bool {
        let Ok(memories) = self.memories.get() else { return false };
        message.author.kind == AuthorKind::Person && find_request(&memories, message).is_some()
    }

    /// Takes a message that a persona would answer, or that is addressed to nobody. The persona that was spoken to, or the coordinator, confirms that
    /// the fact is remembered.
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
        if let Some(forgettable) = find_forget(&memories, message) {
            let meant = match (&forgettable, &message.reply_to) {
                (Forgettable::Id(id), _) => Meant::Id(id),
                (Forgettable::That, Some(reply)) => Meant::Message(&reply.message),
                (Forgettable::That, None) => Meant::Last { channel: &message.channel.id },
            };
            let why = "something is to be forgotten".to_owned();
            return match memories.draft_forget_that(&meant, &asker).await {
                Ok(Some((told, forget))) => Ok(Some(Taken { why, reply: Some(say(told)), effect: Some(Box::new(forget)) })),
                // People may say this to each other.
                Ok(None) if decision.responders.is_empty() => Ok(None),
                Ok(None) => Ok(Some(Taken { why, reply: Some(say(NOTHING_MEANT.to_owned())), effect: None })),
                Err(MemoryError::Refused(told)) => Ok(Some(Taken { why, reply: Some(say(told)), effect: None })),
                Err(MemoryError::Store(error)) => Err(error),
            };
        }
        let Some(Request { text, replaces }) = find_request(&memories, message) else { return Ok(None) };
        let why = "it is to be remembered".to_owned();
        let lesson = Lesson { text: &text, replaces: replaces.as_deref(), source: MemorySource::Message(message.id.clone()) };
        Ok(Some(match memories.draft(lesson, &asker).await {
            Ok(taught) => {
                let reply = confirm(&taught, message, say);
                Taken { why, reply: Some(reply), effect: Some(Box::new(teach(taught))) }
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
        let forget = |reply: OutboundMessage, new: Option<Teach>| {
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
            Ok(mut taught) => {
                taught.rival.take_if(|rival| older.iter().any(|memory| memory.id == rival.id));
                forget(confirm(&taught, edited, say), Some(teach(taught)))
            }
            Err(MemoryError::Refused(told)) => forget(say(told), None),
            Err(MemoryError::Store(error)) => Err(error),
        }
    }
}

/// Confirms that a fact is remembered, with a button that takes it back.
fn confirm(taught: &Taught, message: &InboundMessage, say: impl FnOnce(String) -> OutboundMessage) -> OutboundMessage {
    let forget = MemoryButton::new(Choice::Forget, taught.kept()).render();
    let replace = taught.rival.as_ref().map(|rival| MemoryButton::replacing(taught.kept(), &rival.id).render());
    let buttons = replace.into_iter().chain([forget]).collect();
    OutboundMessage { buttons, ..say(render_taught(taught, message.channel.place == Place::Direct)) }
}

fn teach(taught: Taught) -> Teach {
    Teach { known: taught.known.map(|known| known.id), memory: taught.memory }
}

fn find_request(memories: &Memories, message: &InboundMessage) -> Option<Request> {
    parse_request(&without_invisible(&message.text), &list_names(memories))
}

fn find_forget(memories: &Memories, message: &InboundMessage) -> Option<Forgettable> {
    parse_forget(&without_invisible(&message.text), &list_names(memories))
}

fn list_names(memories: &Memories) -> Vec<&str> {
    let personas = memories.roster().personas().iter();
    personas.flat_map(|persona| std::iter::once(&persona.name).chain(&persona.aliases)).map(String::as_str).collect()
}
