//! Handles messages for meetings: calling one, ending one, or a person's report (STAND-1, STAND-6).

use std::sync::Arc;

use async_trait::async_trait;

use crate::features::chat::listener::{Listener, Taken};
use crate::features::chat::model::decision::{Decision, Reason};
use crate::features::chat::rules::router::speaks_to_a_persona;
use crate::features::meeting::agenda::{Agenda, Phrase};
use crate::features::meeting::model::{CalledBy, Contribution, MeetingKind, Seat, SeatState};
use crate::features::meeting::signal;
use crate::features::meeting::store::{Effects, MeetingChange};
use crate::store::Store;
use kernel::chat::message::{AuthorKind, InboundMessage, Place};
use kernel::chat::outbound::{OutboundKind, OutboundMessage};
use kernel::db::StoreError;
use kernel::ids::ChannelId;
use kernel::money::TokenUsage;
use kernel::persona::roster::Roster;
use kernel::time::SharedClock;

pub(super) struct MeetingListener {
    pub(super) agendas: Vec<Arc<dyn Agenda>>,
    pub(super) roster: Arc<Roster>,
    pub(super) store: Store,
    pub(super) clock: SharedClock,
}

#[async_trait]
impl Listener for MeetingListener {
    fn recognises(&self, message: &InboundMessage) -> bool {
        self.find_phrase(message).is_some()
    }

    /// A phrase that calls a meeting counts in every channel of a server, not in threads. One that ends it counts where one is held, or in a
    /// channel for meetings. A person's expected report counts in every channel.
    async fn take(&self, message: &InboundMessage, decision: &Decision) -> Result<Option<Taken>, StoreError> {
        let unheard = decision.responders.is_empty()
            && !matches!(decision.reason, Reason::Silence | Reason::Standup | Reason::ForOthers | Reason::NoAnswerWanted);
        if message.author.kind != AuthorKind::Person || unheard {
            return Ok(None);
        }
        if let Some((agenda, phrase)) = self.find_phrase(message)
            && (decision.reason == Reason::Standup || self.counts_here(agenda.kind(), phrase, message).await?)
        {
            return self.follow(agenda, phrase, message).await.map(Some);
        }
        let seat = self.store.find_asked_person(&message.channel.id, &message.author.id).await?;
        let Some(seat) = seat.filter(|_| !message.text.trim().is_empty()) else { return Ok(None) };
        // The first message is the report, whatever it says. Later ones may be talk with a persona.
        if seat.state.is_over() && speaks_to_a_persona(&message.text, &self.roster, &self.store.read_accounts().await?) {
            return Ok(None);
        }
        let follows = match self.find_agenda(&seat).await? {
            Some(agenda) => agenda.follow_report(message).await?,
            None => None,
        };
        let report = taken("it is a person's report in a meeting", MeetingChange::Report(Box::new(self.report_of(seat, message))));
        Ok(Some(match (report.effect, follows) {
            (Some(effect), Some(Taken { reply, effect: follows, .. })) => {
                let effects = std::iter::once(effect).chain(follows).collect();
                Taken { why: report.why, reply, effect: Some(Box::new(Effects(effects))) }
            }
            (effect, _) => Taken { effect, ..report },
        }))
    }

    async fn list_work(&self, channel: &ChannelId) -> Result<Vec<String>, StoreError> {
        let open = self.store.list_open_meetings().await?.into_iter().map(|open| open.meeting);
        Ok(open.filter(|meeting| meeting.channel.id == *channel).map(|meeting| format!("the {}", meeting.kind)).collect())
    }
}

impl MeetingListener {
    async fn counts_here(&self, kind: MeetingKind, phrase: Phrase, message: &InboundMessage) -> Result<bool, StoreError> {
        Ok(match phrase {
            Phrase::Start => message.channel.place == Place::Server,
            Phrase::Wrap => self.store.find_open_meeting(&message.channel.id, &kind).await?.is_some(),
        })
    }

    async fn find_agenda(&self, seat: &Seat) -> Result<Option<&Arc<dyn Agenda>>, StoreError> {
        let meeting = self.store.find_meeting(&seat.meeting).await?;
        Ok(meeting.and_then(|meeting| self.agendas.iter().find(|agenda| agenda.kind() == meeting.kind)))
    }

    fn find_phrase(&self, message: &InboundMessage) -> Option<(&Arc<dyn Agenda>, Phrase)> {
        let coordinator = self.roster.coordinator();
        let names: Vec<&str> = std::iter::once(&coordinator.name).chain(&coordinator.aliases).map(String::as_str).collect();
        let by_person = message.author.kind == AuthorKind::Person && message.attachments.is_empty();
        let find = || self.agendas.iter().find_map(|agenda| Some((agenda, agenda.find_phrase(&message.text, &names)?)));
        by_person.then(find).flatten()
    }

    async fn follow(&self, agenda: &Arc<dyn Agenda>, phrase: Phrase, message: &InboundMessage) -> Result<Taken, StoreError> {
        let kind = agenda.kind();
        let running = self.store.find_open_meeting(&message.channel.id, &kind).await?;
        let now = self.clock.now();
        Ok(match (phrase, running) {
            (Phrase::Start, None) => {
                let (id, name) = (message.author.id.clone(), message.author.name.clone());
                let by = CalledBy::Person { id, name, message: Some(message.id.clone()) };
                let meeting = agenda.call(message.channel.clone(), by, now);
                taken(&format!("it calls a {kind}"), MeetingChange::Call(Box::new(meeting)))
            }
            (Phrase::Wrap, Some(running)) => taken(&format!("it ends the {}", running.kind), MeetingChange::Wrap(running.id)),
            (Phrase::Start, Some(running)) => {
                let text = format!("The {} is still running. Say \"wrap up\" to end it.", running.describe());
                self.answered(message, format!("it calls a {kind}"), text)
            }
            (Phrase::Wrap, None) => {
                let text = agenda.render_latest(&message.channel.id, now).await?;
                self.answered(message, format!("it asks for the result of the {kind}"), text)
            }
        })
    }

    fn answered(&self, message: &InboundMessage, why: String, text: String) -> Taken {
        let coordinator = &self.roster.coordinator().slug;
        let reply = OutboundMessage::new(coordinator, &message.channel.id, OutboundKind::Notice, text);
        Taken { why, reply: Some(reply), effect: None }
    }

    fn report_of(&self, seat: Seat, message: &InboundMessage) -> Seat {
        let contribution = Contribution {
            text: signal::cut_at_sentence(message.text.trim(), Contribution::LONGEST_OF_PERSON),
            signals: Vec::new(),
            model: None,
            usage: TokenUsage::default(),
            partial: false,
            problems: Vec::new(),
            details: None,
        };
        let state = if signal::is_quiet(&contribution.text) { SeatState::Quiet } else { SeatState::Spoke };
        Seat { state, contribution: Some(contribution), ended_at: Some(self.clock.now()), ..seat }
    }
}

/// The meeting itself posts the rest.
fn taken(why: &str, change: MeetingChange) -> Taken {
    Taken { why: why.to_owned(), reply: None, effect: Some(Box::new(change)) }
}
