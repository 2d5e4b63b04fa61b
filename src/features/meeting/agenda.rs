//! The steps that differ between kinds of meetings. The engine does the rest.

use std::time::Duration;

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use tokio_util::sync::CancellationToken;

use crate::features::chat::listener::Taken;
use crate::features::meeting::model::{CalledBy, Contribution, Meeting, MeetingKind, Participant, Seat};
use crate::features::meeting::store::MeetingRun;
use kernel::agent::RunError;
use kernel::chat::message::{Channel, InboundMessage};
use kernel::chat::outbound::{OutboundKind, OutboundMessage};
use kernel::db::StoreError;
use kernel::ids::ChannelId;
use kernel::money::Money;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Strategy {
    /// One after the other. Each participant hears those before.
    InOrder,
    /// All of a round at once. Each participant hears the earlier rounds.
    AtOnce,
}

/// A meeting in progress.
pub struct Session<'a> {
    /// Stores the result.
    pub run: &'a MeetingRun,
    pub meeting: &'a Meeting,
    /// The result of [`Agenda::prepare`].
    pub material: &'a serde_json::Value,
    /// All seats by round and position, at the start of the step.
    pub seats: &'a [Seat],
}

/// Why a meeting did not continue until its time was over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Standstill {
    /// Paused for the longest time that a pause may last.
    Paused { by: String },
    /// The team or the channel was halted until the deadline.
    Halted { by: String },
}

/// The meeting intent of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phrase {
    Start,
    /// End the meeting. If none is running, show the latest result.
    Wrap,
}

/// A kind of meeting. After a crash each step is repeated until its result is stored.
#[async_trait]
pub trait Agenda: Send + Sync + 'static {
    fn kind(&self) -> MeetingKind;

    /// Creates a meeting called at `now`.
    fn call(&self, channel: Channel, called_by: CalledBy, now: DateTime<Utc>) -> Meeting;

    /// Detects the intent of a message that says nothing else. Pure. `names`: the coordinator's names.
    fn find_phrase(&self, _text: &str, _names: &[&str]) -> Option<Phrase> {
        None
    }

    /// The reply to a request to end a meeting when none is running.
    async fn render_latest(&self, channel: &ChannelId, now: DateTime<Utc>) -> Result<String, StoreError>;

    fn strategy(&self, meeting: &Meeting) -> Strategy;

    /// The thread in which the meeting is held. None: it is held in the channel itself, or the thread does not exist yet.
    async fn find_thread(&self, _meeting: &Meeting) -> Result<Option<ChannelId>, StoreError> {
        Ok(None)
    }

    /// When the first turn starts, if people have time to correct the question. None: at once.
    fn begins_at(&self, _material: &serde_json::Value) -> Option<DateTime<Utc>> {
        None
    }

    /// The first round and the first messages. Must be fast: reads only the store.
    async fn open(&self, meeting: &Meeting) -> anyhow::Result<Opening>;

    /// Collects the material for all speakers, once per meeting.
    async fn prepare(&self, meeting: &Meeting, cancel: &CancellationToken) -> anyhow::Result<Preparation>;

    /// The next round. None: the meeting closes. `cancel` fires when the run must end.
    async fn next_round(&self, _session: &Session<'_>, _cancel: &CancellationToken) -> anyhow::Result<Option<Round>> {
        Ok(None)
    }

    /// New material, if people have corrected the question. Called before the first turn, after each correction and once more at the end.
    async fn revise(&self, _session: &Session<'_>, _cancel: &CancellationToken) -> anyhow::Result<Option<Revision>> {
        Ok(None)
    }

    /// The time limit of a participant's turn.
    fn turn_limit(&self, who: &Participant) -> Duration;

    /// The pause between two turns.
    fn pause(&self) -> Duration;

    /// The messages for a participant whose turn begins. For people, who must be asked.
    fn invite(&self, _meeting: &Meeting, _seat: &Seat) -> Vec<OutboundMessage> {
        Vec::new()
    }

    /// Lets a persona or guest speak. `cancel` fires at the time limit; a partial contribution is accepted.
    async fn speak(&self, session: &Session<'_>, seat: &Seat, cancel: &CancellationToken) -> Result<Contribution, RunError>;

    /// What else follows from a person's report, such as that they are away from now on. Written with the report. Reads the database.
    async fn follow_report(&self, _message: &InboundMessage) -> Result<Option<Taken>, StoreError> {
        Ok(None)
    }

    /// The messages of a contribution.
    fn render(&self, meeting: &Meeting, seat: &Seat, contribution: &Contribution) -> Vec<OutboundMessage>;

    /// The message about a skipped participant.
    fn render_skipped(&self, meeting: &Meeting, seat: &Seat, reason: &str) -> Vec<OutboundMessage>;

    /// The message that the budget is used up and the meeting is closing.
    fn render_out_of_budget(&self, meeting: &Meeting, budget: Money) -> Vec<OutboundMessage> {
        let text = format!("The {} has used up its budget of {budget}, so I'm closing it with what we have.", meeting.kind);
        vec![OutboundMessage::new(&meeting.facilitator, &meeting.channel.id, OutboundKind::Notice, text)]
    }

    /// Creates the result and stores it with [`MeetingRun`], which ends the meeting.
    async fn close(&self, session: &Session<'_>, cancel: &CancellationToken) -> anyhow::Result<()>;

    /// Whether a meeting that was paused or halted until its time was over still closes with a result. If false, it ends without one. May be called
    /// several times.
    async fn outlasts(&self, _run: &MeetingRun, _meeting: &Meeting, _why: &Standstill) -> anyhow::Result<bool> {
        Ok(false)
    }

    /// The message that there is no result.
    fn render_failure(&self, meeting: &Meeting, reason: &str) -> Vec<OutboundMessage>;
}

/// The start of a meeting.
pub struct Opening {
    /// The participants of the first round in order.
    pub participants: Vec<Participant>,
    pub outbox: Vec<OutboundMessage>,
}

/// A further round, stored in one transaction.
pub struct Round {
    /// In speaking order. If empty, the meeting closes.
    pub participants: Vec<Participant>,
    /// Replaces the meeting's payload.
    pub payload: Option<serde_json::Value>,
    pub outbox: Vec<OutboundMessage>,
}

/// The material for all speakers.
pub struct Preparation {
    pub material: serde_json::Value,
    pub outbox: Vec<OutboundMessage>,
}

/// The material after people have corrected the question, stored in one transaction.
pub struct Revision {
    pub material: serde_json::Value,
    /// Replaces the meeting's payload.
    pub payload: Option<serde_json::Value>,
    pub outbox: Vec<OutboundMessage>,
}

impl Strategy {
    /// The seats whose turn it is. Empty when all have spoken.
    pub fn list_due(self, seats: &[Seat]) -> Vec<&Seat> {
        let Some(first) = seats.iter().find(|seat| !seat.state.is_over()) else { return Vec::new() };
        match self {
            Self::InOrder => vec![first],
            Self::AtOnce => seats.iter().filter(|seat| seat.round == first.round && !seat.state.is_over()).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::features::meeting::model::SeatState;
    use crate::features::meeting::model::SeatState::{Skipped, Speaking, Spoke, Waiting};

    fn seats(rounds: &[&[SeatState]]) -> Vec<Seat> {
        let number = |index: usize| u32::try_from(index).unwrap();
        let seat = |round, position, state| Seat {
            state,
            ..Seat::waiting(&"m".into(), number(round), number(position), Participant::Persona("vince".into()))
        };
        let round = |(round, states): (usize, &&[SeatState])| -> Vec<Seat> {
            states.iter().enumerate().map(|(position, state)| seat(round, position, *state)).collect()
        };
        rounds.iter().enumerate().flat_map(round).collect()
    }

    fn due(strategy: Strategy, rounds: &[&[SeatState]]) -> Vec<(u32, u32)> {
        strategy.list_due(&seats(rounds)).iter().map(|seat| (seat.round, seat.position)).collect()
    }

    #[test]
    fn in_order_one_speaks_at_a_time_and_the_interrupted_one_first() {
        assert_eq!(due(Strategy::InOrder, &[&[Spoke, Speaking, Waiting]]), [(0, 1)]);
        assert_eq!(due(Strategy::InOrder, &[&[Spoke, Skipped], &[Waiting, Waiting]]), [(1, 0)]);
        assert_eq!(due(Strategy::InOrder, &[&[Spoke, Skipped]]), []);
    }

    #[test]
    fn at_once_all_of_a_round_speak_and_no_later_round_before() {
        assert_eq!(due(Strategy::AtOnce, &[&[Spoke, Speaking, Waiting], &[Waiting]]), [(0, 1), (0, 2)]);
        assert_eq!(due(Strategy::AtOnce, &[&[Spoke, Spoke, Skipped], &[Waiting]]), [(1, 0)]);
    }
}
