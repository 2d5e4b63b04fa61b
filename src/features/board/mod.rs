//! Board meetings: one question, thought through in rounds, until nothing new comes (BOARD-1 to BOARD-11).
//!
//! The engine of meetings runs them; this is their agenda. `opening` says what is asked and who takes part. `speaking` is a turn: a position and
//! comments. In the first round no speaker sees the others. Later rounds are about contested points, and a speaker gets only what is new to them.
//! `rounds` decides by the discussion so far (`model::discussion`) whether there is another round and who speaks in it. `closing` writes the
//! document. People steer it with `commands`, with buttons, and with remarks in the thread (`listener`). `playing` writes the text of the recording.
//!
//! | the process dies after | stored state | what follows |
//! | --- | --- | --- |
//! | it was called | the meeting, its row, its job: one transaction | it is opened |
//! | the question was restated | the meeting's material, the message | the first round starts |
//! | a person corrected the question | the remark; then the new question and material with the edits of the messages: one transaction | it is restated, or the first round starts |
//! | a turn was stored | the seat with what was said, its message | the next turn starts, without paying this one again |
//! | a round ended | its seats; perhaps its comments | the comments are written once, and the next round is opened or the meeting closes |
//! | a person said something in the thread | the remark, with the decision on the message | those who speak next read it; there is another round if all have spoken |
//! | a round was added, or the meeting was stopped | the row of the meeting | the end of the round reads it |
//! | it stood still, paused for a day or halted until its time was up | that reason | it closes, after a halt once that is over |
//! | it was decided why it ends | that reason | the document is written, and tells the same reason |
//! | the document was written, not stored | meeting `closing` | it is written again |
//! | the document was stored | document, memory, messages, meeting `done`, end of the job: one transaction | nothing |
//! | its actions were added | the items, by ids that follow from the meeting: one transaction | nothing; a second click adds nothing |

mod button;
mod closing;
mod commands;
mod feature;
mod listener;
#[cfg(test)]
mod marks;
pub mod model;
mod opening;
mod playing;
mod prompts;
mod render;
mod rounds;
mod service;
mod settings;
mod speaking;
mod store;
mod tool;

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use tokio_util::sync::CancellationToken;

use crate::features::board::model::{Board, Discussion, Ending, Material, Order, message_id};
use crate::features::board::store::decide_ending;
use crate::features::meeting::agenda::{Agenda, Opening, Preparation, Revision, Round, Session, Standstill, Strategy};
use crate::features::meeting::model::{CalledBy, Contribution, Meeting, MeetingKind, Participant, Seat};
use crate::features::meeting::store::MeetingRun;
use crate::features::voice::Plays;
use crate::store::Store;
use kernel::agent::{Agents, RunError};
use kernel::chat::ChatPlatform;
use kernel::chat::message::Channel;
use kernel::chat::outbound::OutboundMessage;
use kernel::db::StoreError;
use kernel::ids::ChannelId;
use kernel::money::Money;
use kernel::persona::roster::Roster;
use kernel::time::SharedClock;

pub use feature::BoardFeature;
pub use settings::BoardSettings;

pub const BOARD: MeetingKind = MeetingKind::new("board meeting");

/// Board meetings as a kind of meeting.
struct Boards {
    store: Store,
    roster: Arc<Roster>,
    agents: Arc<Agents>,
    settings: BoardSettings,
    platform: Arc<dyn ChatPlatform>,
    plays: Plays,
    clock: SharedClock,
}

impl Boards {
    /// Everything that was said, with the remarks of people.
    async fn read_discussion(&self, meeting: &Meeting, seats: &[Seat]) -> Result<Discussion, StoreError> {
        let board: Board = meeting.read_payload()?;
        let remarks = self.store.list_remarks(&meeting.id).await?;
        Ok(Discussion::of(&board.topic, seats, &remarks))
    }

    async fn cost_of(&self, meeting: &Meeting) -> Result<Money, StoreError> {
        Ok(self.store.spent_on(meeting.id.as_str()).await?.0)
    }
}

fn read_material(session: &Session<'_>) -> Result<Material, StoreError> {
    serde_json::from_value(session.material.clone())
        .map_err(|error| StoreError::Corrupt(format!("the material of meeting {}: {error}", session.meeting.id)))
}

#[async_trait]
impl Agenda for Boards {
    fn kind(&self) -> MeetingKind {
        BOARD
    }

    /// Boards are called with a question, by their own command. A schedule cannot call one.
    fn call(&self, channel: Channel, called_by: CalledBy, now: DateTime<Utc>) -> Meeting {
        let facilitator = self.roster.coordinator().slug.clone();
        Meeting::called(BOARD, (channel, now.date_naive()), facilitator, called_by, (now, self.settings.session))
    }

    async fn render_latest(&self, _channel: &ChannelId, _now: DateTime<Utc>) -> Result<String, StoreError> {
        Ok("No board meeting is running here. `/board create` calls one.".to_owned())
    }

    fn strategy(&self, meeting: &Meeting) -> Strategy {
        let board: Result<Board, _> = meeting.read_payload();
        match board {
            Ok(board) if board.round > 0 && board.order == Order::Sequential => Strategy::InOrder,
            _ => Strategy::AtOnce,
        }
    }

    async fn find_thread(&self, meeting: &Meeting) -> Result<Option<ChannelId>, StoreError> {
        let posted = self.store.find_posted(&message_id(&meeting.id, "question")).await?;
        Ok(posted.map(|posted| posted.channel))
    }

    fn begins_at(&self, material: &serde_json::Value) -> Option<DateTime<Utc>> {
        let material: Material = serde_json::from_value(material.clone()).ok()?;
        Some(material.prepared_at + self.settings.lead).filter(|_| !self.agents.is_offline())
    }

    async fn open(&self, meeting: &Meeting) -> anyhow::Result<Opening> {
        Ok(self.open_board(meeting)?)
    }

    async fn prepare(&self, meeting: &Meeting, cancel: &CancellationToken) -> anyhow::Result<Preparation> {
        self.prepare_board(meeting, cancel).await
    }

    async fn revise(&self, session: &Session<'_>, cancel: &CancellationToken) -> anyhow::Result<Option<Revision>> {
        self.correct_question(session, cancel).await
    }

    async fn next_round(&self, session: &Session<'_>, _cancel: &CancellationToken) -> anyhow::Result<Option<Round>> {
        self.open_round(session).await
    }

    fn turn_limit(&self, _who: &Participant) -> Duration {
        self.settings.turn_timeout
    }

    fn pause(&self) -> Duration {
        Duration::ZERO
    }

    async fn speak(&self, session: &Session<'_>, seat: &Seat, cancel: &CancellationToken) -> Result<Contribution, RunError> {
        self.take_turn(session, seat, cancel).await
    }

    fn render(&self, meeting: &Meeting, seat: &Seat, contribution: &Contribution) -> Vec<OutboundMessage> {
        render::turn(meeting, seat, contribution, &self.platform.text_format(&meeting.channel.id), &self.roster)
    }

    fn render_skipped(&self, meeting: &Meeting, seat: &Seat, reason: &str) -> Vec<OutboundMessage> {
        // Without a model, most find nothing. The document says so once.
        if self.agents.is_offline() && reason == RunError::Nothing.in_short() {
            return Vec::new();
        }
        vec![render::skipped(meeting, seat, reason, &self.roster)]
    }

    async fn close(&self, session: &Session<'_>, cancel: &CancellationToken) -> anyhow::Result<()> {
        self.close_board(session, cancel).await
    }

    /// A meeting with contributions still closes with a document, and keeps this reason. A meeting without any ends without one.
    async fn outlasts(&self, run: &MeetingRun, meeting: &Meeting, why: &Standstill) -> anyhow::Result<bool> {
        let seats = self.store.list_seats(&meeting.id).await?;
        if seats.iter().all(|seat| seat.contribution.is_none()) {
            return Ok(false);
        }
        let ending = match why {
            Standstill::Paused { by } => Ending::Paused { by: by.clone() },
            Standstill::Halted { by } => Ending::Halted { by: by.clone() },
        };
        decide_ending(run.job(), &meeting.id, &ending).await?;
        Ok(true)
    }

    fn render_failure(&self, meeting: &Meeting, reason: &str) -> Vec<OutboundMessage> {
        vec![render::failed(meeting, reason)]
    }
}
