//! "remind me tomorrow at 9 to pay the hosting bill", said in the chat.

use async_trait::async_trait;
use chrono_tz::Tz;

use super::button::{Choice, RemindButton};
use super::model::{Person, Reminder};
use super::render::render_set;
use super::request::{Request, begins_request, parse_request};
use super::service::{Asked, RemindError, Reminders};
use super::store::AddReminder;
use crate::features::chat::listener::{Listener, Taken};
use crate::features::chat::model::decision::Decision;
use kernel::chat::message::{AuthorKind, InboundMessage};
use kernel::chat::outbound::{OutboundKind, OutboundMessage};
use kernel::commands::Late;
use kernel::db::StoreError;
use kernel::ids::PersonaSlug;
use kernel::text::without_invisible;

/// Recognises requests for reminders in what people say.
pub(super) struct RemindListener {
    pub(super) reminders: Late<Reminders>,
}

#[async_trait]
impl Listener for RemindListener {
    fn recognises(&self, message: &InboundMessage) -> bool {
        let Ok(reminders) = self.reminders.get() else { return false };
        message.author.kind == AuthorKind::Person && begins_request(&without_invisible(&message.text), &names(&reminders))
    }

    /// A request counts where a persona would answer. That persona confirms the request, and later tells the reminder.
    async fn take(&self, message: &InboundMessage, decision: &Decision) -> Result<Option<Taken>, StoreError> {
        let (Ok(reminders), Some(persona)) = (self.reminders.get(), decision.responders.first()) else { return Ok(None) };
        if message.author.kind != AuthorKind::Person {
            return Ok(None);
        }
        let (now, text) = (reminders.now(), without_invisible(&message.text));
        if !begins_request(&text, &names(&reminders)) {
            return Ok(None);
        }
        let zone = reminders.zone_of(Some(&message.author.id)).await?;
        let Some(request) = parse_request(&text, now, zone, &names(&reminders)) else { return Ok(None) };
        let say = |text: String| OutboundMessage {
            reply_to: Some(message.id.clone()),
            ..OutboundMessage::new(persona, &message.channel.id, OutboundKind::Notice, text)
        };
        let why = "it asks for a reminder".to_owned();
        Ok(Some(match ask(&reminders, &request, zone, message, persona).await {
            Ok(reminder) => {
                let cancel = RemindButton::of(Choice::Cancel, &reminder).render();
                let reply = OutboundMessage { buttons: vec![cancel], ..say(render_set(&reminder, Some(&message.author.id), now)) };
                Taken { why, reply: Some(reply), effect: Some(Box::new(AddReminder(reminder))) }
            }
            Err(RemindError::Refused(told)) => Taken { why, reply: Some(say(told)), effect: None },
            Err(RemindError::Store(error)) => return Err(error),
        }))
    }
}

async fn ask(
    reminders: &Reminders,
    request: &Request,
    zone: Tz,
    message: &InboundMessage,
    persona: &PersonaSlug,
) -> Result<Reminder, RemindError> {
    let when = request.when.as_ref().map_err(Clone::clone)?;
    let by = Some(Person { id: message.author.id.clone(), name: message.author.name.clone() });
    reminders.draft(Asked { whom: &request.whom, what: &request.what, when, zone, by, channel: &message.channel, persona }).await
}

/// The names of the personas, which may stand before the request as an address.
fn names(reminders: &Reminders) -> Vec<&str> {
    let personas = reminders.roster().personas().iter();
    personas.flat_map(|persona| std::iter::once(&persona.name).chain(&persona.aliases)).map(String::as_str).collect()
}
