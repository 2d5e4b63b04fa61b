//! What a kind of meeting does at each step; the engine does everything else.

use std::time::Duration;

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use tokio_util::sync::CancellationToken;

use crate::features::meeting::model::{CalledBy, Contribution, Meeting, MeetingKind, Participant, Seat};
use kernel::agent::RunError;
use kernel::chat::message::Channel;
use kernel::chat::outbound::{OutboundKind, OutboundMessage};
use kernel::db::StoreError;
use kernel::ids::ChannelId;
use kernel::money::Money;

/// Who speaks when.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Strategy {
    /// One after the other, each hearing those before.
    InOrder,
    /// All of a round side by side, each hearing the rounds before. Overwatches and greedy board meetings come later.
    AtOnce,
}

/// A meeting under way, as its steps see it.
pub struct Session<'a> {
    pub meeting: &'a Meeting,
    /// What [`Agenda::prepare`] gathered.
    pub material: &'a serde_json::Value,
    /// All seats by round and position, as they stood when the step began.
    pub seats: &'a [Seat],
}

/// What a person's message wants of a meeting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phrase {
    Start,
    /// Come to the end; where none is running, show the latest result.
    Wrap,
}

/// A kind of meeting. Each step is asked for again after a crash, until its result is stored.
#[async_trait]
pub trait Agenda: Send + Sync + 'static {
    fn kind(&self) -> MeetingKind;

    /// A meeting of this kind that somebody calls at `now`.
    fn call(&self, channel: Channel, called_by: CalledBy, now: DateTime<Utc>) -> Meeting;

    /// What a text wants, if it says nothing else. Pure. `names` are those of the coordinator, who may be called by it.
    fn find_phrase(&self, _text: &str, _names: &[&str]) -> Option<Phrase> {
        None
    }

    /// What is said to somebody who wants the end of a meeting where none is running.
    async fn render_latest(&self, channel: &ChannelId, now: DateTime<Utc>) -> Result<String, StoreError>;

    fn strategy(&self, meeting: &Meeting) -> Strategy;

    /// The first round, and what is posted before anything slow. Reads the store and nothing else.
    async fn open(&self, meeting: &Meeting) -> anyhow::Result<Opening>;

    /// What all speakers are given, gathered once and kept with the meeting.
    async fn prepare(&self, meeting: &Meeting, cancel: &CancellationToken) -> anyhow::Result<Preparation>;

    /// The round after those that are over. None: the meeting comes to its result. `cancel` fires when the process stops.
    async fn next_round(&self, _session: &Session<'_>, _cancel: &CancellationToken) -> anyhow::Result<Option<Round>> {
        Ok(None)
    }

    /// How long a participant may take.
    fn turn_limit(&self, who: &Participant) -> Duration;

    /// How long it is quiet between two turns.
    fn pause(&self) -> Duration;

    /// What is posted to somebody whose turn it is; for people, whom nobody else asks.
    fn invite(&self, _meeting: &Meeting, _seat: &Seat) -> Vec<OutboundMessage> {
        Vec::new()
    }

    /// Has a persona or a guest speak. `cancel` fires when its time is over; what it has by then may still be handed over.
    async fn speak(&self, session: &Session<'_>, seat: &Seat, cancel: &CancellationToken) -> Result<Contribution, RunError>;

    /// How a contribution is posted.
    fn render(&self, meeting: &Meeting, seat: &Seat, contribution: &Contribution) -> Vec<OutboundMessage>;

    /// How it is said that somebody was passed over.
    fn render_skipped(&self, meeting: &Meeting, seat: &Seat, reason: &str) -> Vec<OutboundMessage>;

    /// How people are told that the budget is spent and the meeting comes to its end.
    fn render_out_of_budget(&self, meeting: &Meeting, budget: Money) -> Vec<OutboundMessage> {
        let text = format!("The {} has used up its budget of {budget}, so I bring it to its end with what we have.", meeting.kind);
        vec![OutboundMessage::new(&meeting.facilitator, &meeting.channel.id, OutboundKind::Notice, text)]
    }

    /// Makes the result of what was said and stores it, which ends the meeting.
    async fn close(&self, session: &Session<'_>, cancel: &CancellationToken) -> anyhow::Result<()>;

    /// How people are told that there is no result after all.
    fn render_failure(&self, meeting: &Meeting, reason: &str) -> Vec<OutboundMessage>;
}

/// How a meeting begins.
pub struct Opening {
    /// Who speaks in the first round, in this order.
    pub participants: Vec<Participant>,
    pub outbox: Vec<OutboundMessage>,
}

/// A further round. All of it is stored together.
pub struct Round {
    /// In speaking order. Nobody: the meeting comes to its result.
    pub participants: Vec<Participant>,
    /// Replaces that of the meeting.
    pub payload: Option<serde_json::Value>,
    pub outbox: Vec<OutboundMessage>,
}

/// What was gathered for all speakers.
pub struct Preparation {
    pub material: serde_json::Value,
    pub outbox: Vec<OutboundMessage>,
}

impl Strategy {
    /// The seats whose turn it is; empty when all have spoken.
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
