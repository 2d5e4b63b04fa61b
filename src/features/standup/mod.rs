//! The standup: kickoff, shared page, one round in order, cross-check and call, Day Report.
//!
//! Each step is a file: `opening`, `page`, `reporting`, `closing` with its `report`. `predictions` settles expired calls, `health` evaluates the last
//! standups, `checkins` asks people before a standup, `absence` reads who is away, `jobs` contains the scheduled actions, `commands` are `/standup`, `/report` and `/predictions`,
//! `file` writes the report to disk, `render` formats messages, and `playing` writes the text of the recording.

mod absence;
mod checkins;
mod closing;
pub mod commands;
mod feature;
mod file;
mod health;
mod jobs;
pub mod model;
mod opening;
mod page;
mod phrase;
mod place;
mod playing;
mod predictions;
pub mod prompts;
mod question;
pub mod render;
mod report;
mod reporting;
pub mod settings;
pub mod store;
mod terminal;
mod terms;
pub mod turns;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use tokio_util::sync::CancellationToken;

use crate::features::chat::listener::Taken;
use crate::features::meeting::agenda::{Agenda, Opening, Phrase, Preparation, Session, Strategy};
use crate::features::meeting::model::{CalledBy, Contribution, Meeting, MeetingKind, Participant, Seat};
use crate::features::standup::checkins::{Part, note_absence};
use crate::features::standup::settings::StandupSettings;
use crate::features::voice::Plays;
use crate::store::Store;
use kernel::agent::{Agents, RunError};
use kernel::chat::ChatPlatform;
use kernel::chat::format::clean;
use kernel::chat::message::{Channel, InboundMessage};
use kernel::chat::outbound::{OutboundKind, OutboundMessage, Placement};
use kernel::chat::text::Subtext;
use kernel::db::StoreError;
use kernel::ids::{ChannelId, PersonaSlug};
use kernel::people::People;
use kernel::persona::roster::Roster;
use kernel::persona::{Persona, StandupDuty};
use kernel::text::one_line;
use kernel::time::SharedClock;

pub use feature::StandupFeature;
pub use terms::StandupTerms;

/// The kind of meeting that standups are.
pub const STANDUP: MeetingKind = MeetingKind::new("standup");

/// Maximum length of a quoted line of the report.
const LINE: usize = 300;

/// Dependencies of standups.
#[derive(Clone)]
pub struct Deps {
    pub roster: Arc<Roster>,
    pub standup: StandupSettings,
    pub terms: StandupTerms,
    pub people: People,
    /// The folder for Day Report files.
    pub reports: PathBuf,
    pub store: Store,
    /// The format of the platform's messages.
    pub platform: Arc<dyn ChatPlatform>,
    /// Whether reports can be turned into audio.
    pub plays: Plays,
    pub agents: Arc<Agents>,
    pub clock: SharedClock,
}

/// The standup as a kind of meeting.
pub struct Standup {
    deps: Deps,
}

impl Standup {
    pub fn new(deps: Deps) -> Self {
        Self { deps }
    }

    /// The participants that report, in order.
    fn list_speakers(&self) -> Vec<Participant> {
        let Deps { roster, standup, .. } = &self.deps;
        let facilitator = &roster.coordinator().slug;
        let personas: Vec<PersonaSlug> = if standup.order.is_empty() {
            let mut personas: Vec<_> = roster.personas().iter().filter(|persona| persona.slug != *facilitator).collect();
            // The persona that makes the call comes last, so that it hears all others.
            personas.sort_by_key(|persona| persona.standup.duty == Some(StandupDuty::Call));
            personas.into_iter().map(|persona| persona.slug.clone()).collect()
        } else {
            standup.order.iter().filter(|slug| roster.find(slug).is_some()).cloned().collect()
        };
        let people = standup.humans.iter().map(|(name, id)| Participant::Person { id: id.clone(), name: name.clone() });
        personas.into_iter().map(Participant::Persona).chain(people).collect()
    }

    /// The persona with a duty. If the roster gives a duty to several personas, the first one has it.
    fn find_duty(&self, duty: StandupDuty) -> Option<&Persona> {
        self.deps.roster.personas().iter().find(|persona| persona.standup.duty == Some(duty))
    }

    fn name_of<'a>(&'a self, who: &'a Participant) -> &'a str {
        who.name(&self.deps.roster)
    }

    /// Posts long texts as messages in the thread below a post of the team.
    fn in_thread(
        &self,
        persona: &PersonaSlug,
        channel: &ChannelId,
        on: &OutboundMessage,
        name: &str,
        texts: &[String],
    ) -> Vec<OutboundMessage> {
        let place = Placement::Thread { on: on.id.clone(), name: name.to_owned() };
        let pieces = texts.iter().flat_map(|text| self.cut(channel, text));
        pieces
            .map(|text| OutboundMessage { place: place.clone(), ..OutboundMessage::new(persona, channel, OutboundKind::Notice, text) })
            .collect()
    }

    /// Text as it fits into a channel: cleaned, laid out, split at the length limit.
    fn cut(&self, channel: &ChannelId, text: &str) -> Vec<String> {
        let format = self.deps.platform.text_format(channel);
        format.split(&format.lay_out(&clean(text, &self.deps.roster)))
    }
}

/// A message from the facilitator.
fn say(meeting: &Meeting, kind: OutboundKind, text: impl Into<String>) -> OutboundMessage {
    OutboundMessage::new(&meeting.facilitator, &meeting.channel.id, kind, text)
}

#[async_trait]
impl Agenda for Standup {
    fn kind(&self) -> MeetingKind {
        STANDUP
    }

    fn call(&self, channel: Channel, called_by: CalledBy, now: DateTime<Utc>) -> Meeting {
        self.deps.terms.call(channel, called_by, now)
    }

    fn find_phrase(&self, text: &str, names: &[&str]) -> Option<Phrase> {
        phrase::find_standup_phrase(text, names)
    }

    async fn render_latest(&self, channel: &ChannelId, now: DateTime<Utc>) -> Result<String, StoreError> {
        let today = now.with_timezone(&self.deps.terms.zone).date_naive();
        let Some(stored) = self.deps.store.find_report(channel, today).await? else {
            return Ok("No standup is running, and there is no report of today. \"Start the standup\" makes one.".to_owned());
        };
        let lines: Vec<_> = stored.report.tldr.iter().map(|line| one_line(line, LINE)).collect();
        Ok(format!("No standup is running. Today's report in short; `/report today` shows all of it.\n{}", lines.join("\n")))
    }

    fn strategy(&self, _: &Meeting) -> Strategy {
        Strategy::InOrder
    }

    async fn open(&self, meeting: &Meeting) -> anyhow::Result<Opening> {
        self.open_standup(meeting).await
    }

    async fn prepare(&self, meeting: &Meeting, cancel: &CancellationToken) -> anyhow::Result<Preparation> {
        self.prepare_page(meeting, cancel).await
    }

    fn turn_limit(&self, who: &Participant) -> Duration {
        if who.is_awaited() { self.deps.standup.human_deadline } else { self.deps.standup.turn_timeout }
    }

    fn pause(&self) -> Duration {
        self.deps.standup.pause
    }

    fn invite(&self, meeting: &Meeting, seat: &Seat) -> Vec<OutboundMessage> {
        self.invite_person(meeting, seat)
    }

    async fn speak(&self, session: &Session<'_>, seat: &Seat, cancel: &CancellationToken) -> Result<Contribution, RunError> {
        self.report(session, seat, cancel).await
    }

    async fn follow_report(&self, message: &InboundMessage) -> Result<Option<Taken>, StoreError> {
        let Deps { store, terms, roster, clock, .. } = &self.deps;
        note_absence(store, terms, roster, message, (&terms.facilitator, Part::OfReport), clock.now()).await
    }

    fn render(&self, meeting: &Meeting, seat: &Seat, contribution: &Contribution) -> Vec<OutboundMessage> {
        self.render_report(meeting, seat, contribution)
    }

    fn render_skipped(&self, meeting: &Meeting, seat: &Seat, reason: &str) -> Vec<OutboundMessage> {
        vec![say(meeting, OutboundKind::Notice, Subtext(format_args!("{} is skipped: {reason}.", self.name_of(&seat.who))).to_string())]
    }

    async fn close(&self, session: &Session<'_>, cancel: &CancellationToken) -> anyhow::Result<()> {
        self.close_standup(session, cancel).await
    }

    fn render_failure(&self, meeting: &Meeting, reason: &str) -> Vec<OutboundMessage> {
        let text = format!("There is no Day Report this time: {reason}. What was said is kept; `/standup start` begins a new one.");
        vec![say(meeting, OutboundKind::Notice, text)]
    }
}
