//! The standup: kickoff, shared page, one round in order, cross-check and call, Day Report.
//!
//! Each step is a file: `opening`, `page`, `reporting`, `closing` with the `report` that it makes. `predictions` settles calls whose time has come, `health` looks at the last
//! standups, `jobs` does what the schedule asks, `desk` answers commands, `file` writes the report where people look for it, and `render` says how all of it looks. What a persona
//! says is `persona::standup`'s; the rules of signals, calls and actions stand in `domain`.

mod closing;
mod desk;
mod file;
mod health;
mod jobs;
mod opening;
mod page;
mod predictions;
mod question;
pub mod render;
mod report;
mod reporting;

use std::time::Duration;

use async_trait::async_trait;
use tokio_util::sync::CancellationToken;

use super::Parts;
use super::agenda::{Agenda, Opening, Preparation, Session, Strategy};
use crate::domain::ids::{ChannelId, PersonaSlug};
use crate::domain::meeting::{Contribution, Meeting, Participant, Seat};
use crate::domain::outbound::{OutboundKind, OutboundMessage, Placement};
use crate::domain::persona::{Persona, StandupDuty};
use crate::persona::turn::TurnError;

/// The standup as a kind of meeting.
pub struct Standup {
    parts: Parts,
}

impl Standup {
    pub(super) fn new(parts: Parts) -> Self {
        Self { parts }
    }

    /// Who reports, in order.
    fn list_speakers(&self) -> Vec<Participant> {
        let Parts { roster, standup, .. } = &self.parts;
        let facilitator = &roster.coordinator().slug;
        let personas: Vec<PersonaSlug> = if standup.order.is_empty() {
            let mut personas: Vec<_> = roster.personas().iter().filter(|persona| persona.slug != *facilitator).collect();
            // Who takes a position hears everybody before.
            personas.sort_by_key(|persona| persona.standup.duty == Some(StandupDuty::Call));
            personas.into_iter().map(|persona| persona.slug.clone()).collect()
        } else {
            standup.order.iter().filter(|slug| roster.find(slug).is_some()).cloned().collect()
        };
        let people = standup.humans.iter().map(|(name, id)| Participant::Person { id: id.clone(), name: name.clone() });
        personas.into_iter().map(Participant::Persona).chain(people).collect()
    }

    /// The persona with a duty. A roster file may give a duty to several; the first in order has it.
    fn find_duty(&self, duty: StandupDuty) -> Option<&Persona> {
        self.parts.roster.personas().iter().find(|persona| persona.standup.duty == Some(duty))
    }

    fn name_of<'a>(&'a self, who: &'a Participant) -> &'a str {
        match who {
            Participant::Persona(slug) => self.parts.roster.name_of(slug),
            Participant::Person { name, .. } => name,
        }
    }

    /// Long texts as messages in the thread below one of ours.
    fn in_thread(
        &self,
        persona: &PersonaSlug,
        channel: &ChannelId,
        on: &OutboundMessage,
        name: &str,
        texts: &[String],
    ) -> Vec<OutboundMessage> {
        let place = Placement::Thread { on: on.id.clone(), name: name.to_owned() };
        let pieces = texts.iter().flat_map(|text| self.cut(text));
        pieces
            .map(|text| OutboundMessage { place: place.clone(), ..OutboundMessage::new(persona, channel, OutboundKind::Notice, text) })
            .collect()
    }

    /// Text as the platform takes it: cleaned, with tables that line up, none over the limit.
    fn cut(&self, text: &str) -> Vec<String> {
        use crate::chat::{format, split};
        split::split(&format::align_tables(&format::clean(text, &self.parts.roster)), format::MESSAGE_LIMIT)
    }
}

/// A message of the facilitator's.
fn say(meeting: &Meeting, kind: OutboundKind, text: impl Into<String>) -> OutboundMessage {
    OutboundMessage::new(&meeting.facilitator, &meeting.channel.id, kind, text)
}

#[async_trait]
impl Agenda for Standup {
    fn strategy(&self) -> Strategy {
        Strategy::InOrder
    }

    async fn open(&self, meeting: &Meeting) -> anyhow::Result<Opening> {
        self.open_standup(meeting).await
    }

    async fn prepare(&self, meeting: &Meeting, cancel: &CancellationToken) -> anyhow::Result<Preparation> {
        self.prepare_page(meeting, cancel).await
    }

    fn turn_limit(&self, who: &Participant) -> Duration {
        match who {
            Participant::Persona(_) => self.parts.standup.turn_timeout,
            Participant::Person { .. } => self.parts.standup.human_deadline,
        }
    }

    fn pause(&self) -> Duration {
        self.parts.standup.pause
    }

    fn invite(&self, meeting: &Meeting, seat: &Seat) -> Vec<OutboundMessage> {
        self.invite_person(meeting, seat)
    }

    async fn speak(&self, session: &Session<'_>, seat: &Seat, cancel: &CancellationToken) -> Result<Contribution, TurnError> {
        self.report(session, seat, cancel).await
    }

    fn render(&self, meeting: &Meeting, seat: &Seat, contribution: &Contribution) -> Vec<OutboundMessage> {
        self.render_report(meeting, seat, contribution)
    }

    fn render_skipped(&self, meeting: &Meeting, seat: &Seat, reason: &str) -> Vec<OutboundMessage> {
        vec![say(meeting, OutboundKind::Notice, format!("-# {} is skipped: {reason}.", self.name_of(&seat.who)))]
    }

    async fn close(&self, session: &Session<'_>, cancel: &CancellationToken) -> anyhow::Result<()> {
        self.close_standup(session, cancel).await
    }

    fn render_failure(&self, meeting: &Meeting, reason: &str) -> Vec<OutboundMessage> {
        let text = format!("There is no Day Report this time: {reason}. What was said is kept; `/standup start` begins anew.");
        vec![say(meeting, OutboundKind::Notice, text)]
    }
}
