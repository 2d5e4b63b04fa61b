//! Takes people's answers to check-ins, and what they say about being away.

use async_trait::async_trait;

use crate::features::chat::listener::{Listener, Taken};
use crate::features::chat::model::decision::{Decision, Reason};
use crate::features::chat::rules::router::speaks_to_a_persona;
use crate::features::meeting::store::Effects;
use crate::features::schedule::Schedule;
use crate::features::standup::checkins::{Part, note_absence};
use crate::features::standup::commands::StandupCommands;
use crate::features::standup::render;
use crate::features::standup::store::{AddReply, OpenCheckIn};
use kernel::agent::PlaceNote;
use kernel::chat::message::{AuthorKind, Channel, ChannelKind, InboundMessage, Place};
use kernel::chat::outbound::{OutboundKind, OutboundMessage};
use kernel::commands::Late;
use kernel::db::{Effect, StoreError};
use kernel::time::Today;

pub(in crate::features::standup) struct CheckInListener {
    pub(in crate::features::standup) standups: Late<StandupCommands>,
    pub(in crate::features::standup) schedule: Late<Schedule>,
}

#[async_trait]
impl Listener for CheckInListener {
    /// Only the database knows who was asked.
    fn recognises(&self, _: &InboundMessage) -> bool {
        false
    }

    async fn take(&self, message: &InboundMessage, decision: &Decision) -> Result<Option<Taken>, StoreError> {
        let Ok(standups) = self.standups.get() else { return Ok(None) };
        if message.author.kind != AuthorKind::Person || message.is_empty() || is_shut_out(decision.reason) {
            return Ok(None);
        }
        if message.channel.place == Place::Direct
            && let Some(taken) = Box::pin(standups.take_checkin(message)).await?
        {
            return Ok(Some(taken));
        }
        if let Some(taken) = Box::pin(standups.take_absence(message, decision)).await? {
            return Ok(Some(taken));
        }
        if message.channel.place == Place::Direct {
            return Ok(None);
        }
        Box::pin(standups.take_late_report(message, decision, self.schedule.get().ok().as_deref())).await
    }

    async fn describe_place(&self, channel: &Channel, kind: ChannelKind) -> Result<Vec<PlaceNote>, StoreError> {
        let Ok(standups) = self.standups.get() else { return Ok(Vec::new()) };
        standups.describe_place(channel, kind, self.schedule.get().ok().as_deref()).await
    }
}

/// Whether the message must not be taken: it has no content to keep, or its author may not speak. Answers count even if direct messages are off,
/// while the team is halted, and after a downtime, because the team has asked.
fn is_shut_out(reason: Reason) -> bool {
    use Reason::{AuthorNotAllowed, ChannelIgnored, Deleted, Empty, NoAnswerWanted, NotAPerson, Outsider, SharedChannel, Stop};
    matches!(reason, Stop | AuthorNotAllowed | Outsider | SharedChannel | ChannelIgnored | NotAPerson | Empty | NoAnswerWanted | Deleted)
}

impl StandupCommands {
    async fn take_checkin(&self, message: &InboundMessage) -> Result<Option<Taken>, StoreError> {
        let now = self.clock.now();
        let open = self.store.list_open_checkins(&message.author.id, &message.seen_by, now).await?;
        let Some(OpenCheckIn { checkin, is_answered }) = self.find_answered(message, open).await? else { return Ok(None) };
        let at = Today { now, zone: self.terms.zone }.show(checkin.standup_at);
        let mut reply = OutboundMessage {
            reply_to: Some(message.id.clone()),
            ..OutboundMessage::new(
                &message.seen_by,
                &message.channel.id,
                OutboundKind::Notice,
                render::render_checkin_noted(&at, is_answered),
            )
        };
        let mut effects: Vec<Box<dyn Effect>> = vec![Box::new(AddReply { checkin, message: message.id.clone() })];
        let place = (&message.seen_by, Part::OfReport);
        if let Some(noted) = note_absence(&self.store, &self.terms, &self.roster, message, place, now).await? {
            let told = noted.reply.map(|reply| reply.text).unwrap_or_default();
            reply.text = format!("{}\n{told}", reply.text);
            effects.extend(noted.effect);
        }
        Ok(Some(Taken {
            why: "it is a check-in before a standup".to_owned(),
            reply: Some(reply),
            effect: Some(Box::new(Effects(effects))),
        }))
    }

    /// The check-in that a message answers: the one that it replies to, or else the latest. A message that replies to nothing and is addressed to the
    /// persona answers none.
    async fn find_answered(&self, message: &InboundMessage, open: Vec<OpenCheckIn>) -> Result<Option<OpenCheckIn>, StoreError> {
        if open.is_empty() {
            return Ok(None);
        }
        if let Some(reply) = &message.reply_to
            && let Some(answered) = self.store.find_by_platform_id(&reply.message).await?
        {
            return Ok(open.into_iter().find(|open| open.checkin.post == answered.id));
        }
        let accounts = self.store.read_accounts().await?;
        let is_chat = speaks_to_a_persona(&message.text, &self.roster, &accounts);
        Ok(open.into_iter().next().filter(|_| !is_chat))
    }
}
