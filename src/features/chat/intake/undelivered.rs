//! Tells people of messages that do not get through.

use kernel::chat::message::Place;
use kernel::chat::outbound::{OutboundKind, OutboundMessage, Placement};
use kernel::chat::outbox::{Obstacle, Undelivered};
use kernel::db::StoreError;
use kernel::ids::{ChannelId, PersonaSlug};

use super::TROUBLE_EVERY;
use crate::features::chat::Conversation;

/// How long a failed message is still reported in its channel. Later reports would be no news.
const STALE: chrono::TimeDelta = chrono::TimeDelta::hours(1);

impl Conversation {
    /// Reports an undelivered message to the operators, and to the channel through a persona that can post there.
    pub(crate) fn report_undelivered(&self, report: Undelivered) {
        let conversation = self.clone();
        self.deps().tasks.spawn(async move {
            if let Err(error) = conversation.tell_of(&report).await {
                tracing::warn!(%error, "people could not be told of a message that does not get through");
            }
        });
    }

    async fn tell_of(&self, Undelivered { message, obstacle }: &Undelivered) -> Result<(), StoreError> {
        let OutboundMessage { persona, channel, .. } = message;
        let name = self.deps().roster.name_of(persona);
        let place = self.describe_place(channel);
        match obstacle {
            // If a report of this function is held, the next persona posts it. It is not reported again.
            Obstacle::Held { .. } if is_word_of_trouble(message) => self.say_by_another(persona, channel, &message.text).await,
            Obstacle::Held { needs } => {
                let key = format!("held:{persona}:{channel}:{needs}");
                if !self.deps().store.claim_notice(&key, self.deps().clock.now(), TROUBLE_EVERY).await? {
                    return Ok(());
                }
                self.tell_operators_soon(
                    format!("ops:{key}"),
                    format!(
                        "{name} cannot post in {place}: the permission \"{needs}\" is missing. Give it to {name} in the permissions of the channel. \
                         What {name} has to say waits for it, up to 24 hours."
                    ),
                );
                if matches!(message.place, Placement::Direct { .. }) {
                    return Ok(());
                }
                let text = format!(
                    "{name} has a message for you but may not post here: the permission \"{needs}\" is missing. \
                     It follows as soon as somebody gives {name} that permission, within 24 hours."
                );
                self.say_by_another(persona, channel, &text).await
            }
            Obstacle::GivenUp { .. } if is_word_of_trouble(message) => Ok(()),
            Obstacle::GivenUp { why } => {
                let text = format!("A message of {name} for {place} was not delivered: {why}.");
                self.tell_operators_soon(format!("lost:{persona}:{channel}:{why}"), text);
                Ok(())
            }
        }
    }

    async fn say_by_another(&self, persona: &PersonaSlug, channel: &ChannelId, text: &str) -> Result<(), StoreError> {
        let Some(speaker) = self.deps().platform.find_speaker(channel, persona) else { return Ok(()) };
        let until = Some(self.deps().clock.now() + STALE);
        self.post(OutboundMessage { until, ..Self::notice(&speaker, channel, text) }).await
    }

    fn describe_place(&self, channel: &ChannelId) -> String {
        let channels = self.deps().platform.list_channels();
        let known = channels.into_iter().map(|(known, _)| known).find(|known| known.id == *channel);
        match known {
            Some(known) if !matches!(known.place, Place::Direct) && !known.name.is_empty() => format!("#{}", known.name),
            _ => "a direct conversation or a channel that the team cannot see".to_owned(),
        }
    }
}

/// Whether a message is a report of this function: only these notices expire.
fn is_word_of_trouble(message: &OutboundMessage) -> bool {
    message.kind == OutboundKind::Notice && message.until.is_some()
}
