//! "remind me tomorrow at 9 to pay the hosting bill", said in the chat.

use async_trait::async_trait;

use super::button::{Choice, DateButton, RemindButton};
use super::render::render_set;
use super::request::{begins_request, parse_request};
use super::service::{RemindError, Reminders};
use super::store::AddReminder;
use crate::features::chat::listener::{Listener, Taken};
use crate::features::chat::model::decision::Decision;
use kernel::chat::message::{AuthorKind, InboundMessage};
use kernel::chat::outbound::{OutboundKind, OutboundMessage};
use kernel::commands::Late;
use kernel::db::StoreError;
use kernel::text::without_invisible;
use kernel::when::WhenError;

/// Recognises requests for reminders in what people say.
pub(super) struct RemindListener {
    pub(super) reminders: Late<Reminders>,
}

#[async_trait]
impl Listener for RemindListener {
    fn recognises(&self, message: &InboundMessage) -> bool {
        let Ok(reminders) = self.reminders.get() else { return false };
        message.author.kind == AuthorKind::Person && begins_request(&without_invisible(&message.text), &reminders.persona_names())
    }

    /// A request counts where a persona would answer. That persona confirms the request, and later tells the reminder.
    async fn take(&self, message: &InboundMessage, decision: &Decision) -> Result<Option<Taken>, StoreError> {
        let (Ok(reminders), Some(persona)) = (self.reminders.get(), decision.responders.first()) else { return Ok(None) };
        if message.author.kind != AuthorKind::Person {
            return Ok(None);
        }
        let (now, text) = (reminders.now(), without_invisible(&message.text));
        if !begins_request(&text, &reminders.persona_names()) {
            return Ok(None);
        }
        let asker = reminders.asker_of(Some(&message.author.id)).await?;
        let Some(request) = parse_request(&text, &asker, &reminders.persona_names()) else { return Ok(None) };
        // A sentence that was not read whole is for the persona, which has a tool for it.
        if reminders.has_model() && matches!(request.when, Err(WhenError::Unread(_))) {
            return Ok(None);
        }
        let say = |text: String| OutboundMessage {
            reply_to: Some(message.id.clone()),
            ..OutboundMessage::new(persona, &message.channel.id, OutboundKind::Notice, text)
        };
        let why = "it asks for a reminder".to_owned();
        if let Err(question) = &request.when
            && let WhenError::AskDate { first, second } = *question
        {
            let buttons = DateButton::render_both((first, second), persona, &message.id);
            let reply = OutboundMessage { buttons, ..say(question.to_string()) };
            return Ok(Some(Taken { why, reply: Some(reply), effect: None }));
        }
        Ok(Some(match reminders.draft_request(request, asker.zone, message, persona).await {
            Ok((reminder, reading)) => {
                let cancel = RemindButton::of(Choice::Cancel, &reminder).render();
                let text = render_set(&reminder, &reading, Some(&message.author.id), now);
                let reply = OutboundMessage { buttons: vec![cancel], ..say(text) };
                Taken { why, reply: Some(reply), effect: Some(Box::new(AddReminder(reminder))) }
            }
            Err(RemindError::Refused(told)) => Taken { why, reply: Some(say(told)), effect: None },
            Err(RemindError::Store(error)) => return Err(error),
        }))
    }
}
