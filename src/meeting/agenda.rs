//! What a kind of meeting does at each step; the engine does everything else.

use std::time::Duration;

use async_trait::async_trait;
use tokio_util::sync::CancellationToken;

use crate::domain::meeting::{Contribution, Meeting, Participant, Seat};
use crate::domain::outbound::OutboundMessage;
use crate::persona::turn::TurnError;

/// Who speaks when.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Strategy {
    /// One after the other, each hearing those before.
    InOrder,
    /// All of a round side by side, each hearing the rounds before. Overwatches and greedy board meetings come later.
    #[cfg_attr(not(test), expect(dead_code, reason = "the standup speaks in order"))]
    AtOnce,
}

/// A meeting under way, as its steps see it.
pub(crate) struct Session<'a> {
    pub(crate) meeting: &'a Meeting,
    /// What [`Agenda::prepare`] gathered.
    pub(crate) material: &'a serde_json::Value,
    /// All seats by round and position, as they stood when the step began.
    pub(crate) seats: &'a [Seat],
}

/// A kind of meeting. Each step is asked for again after a crash, until its result is stored.
#[async_trait]
pub(crate) trait Agenda: Send + Sync {
    fn strategy(&self) -> Strategy;

    /// Who sits where, and what is posted before anything slow. It reads the store and nothing else.
    async fn open(&self, meeting: &Meeting) -> anyhow::Result<Opening>;

    /// What all speakers are given, gathered once and kept with the meeting.
    async fn prepare(&self, meeting: &Meeting, cancel: &CancellationToken) -> anyhow::Result<Preparation>;

    /// How long a participant may take.
    fn turn_limit(&self, who: &Participant) -> Duration;

    /// How long it is quiet between two turns.
    fn pause(&self) -> Duration;

    /// What is posted to somebody whose turn it is; for people, whom nobody else asks.
    fn invite(&self, _meeting: &Meeting, _seat: &Seat) -> Vec<OutboundMessage> {
        Vec::new()
    }

    /// Has a persona speak. `cancel` fires when its time is over; what it has by then may still be handed over.
    async fn speak(&self, session: &Session<'_>, seat: &Seat, cancel: &CancellationToken) -> Result<Contribution, TurnError>;

    /// How a contribution is posted.
    fn render(&self, meeting: &Meeting, seat: &Seat, contribution: &Contribution) -> Vec<OutboundMessage>;

    /// How it is said that somebody was passed over.
    fn render_skipped(&self, meeting: &Meeting, seat: &Seat, reason: &str) -> Vec<OutboundMessage>;

    /// Makes the result of what was said and stores it, which ends the meeting.
    async fn close(&self, session: &Session<'_>, cancel: &CancellationToken) -> anyhow::Result<()>;

    /// How people are told that there is no result after all.
    fn render_failure(&self, meeting: &Meeting, reason: &str) -> Vec<OutboundMessage>;
}

/// How a meeting begins.
pub(crate) struct Opening {
    /// By round; within a round in speaking order.
    pub(crate) rounds: Vec<Vec<Participant>>,
    pub(crate) outbox: Vec<OutboundMessage>,
}

/// What was gathered for all speakers.
pub(crate) struct Preparation {
    pub(crate) material: serde_json::Value,
    pub(crate) outbox: Vec<OutboundMessage>,
}

impl Strategy {
    /// The seats whose turn it is; empty when all have spoken.
    pub(crate) fn list_due(self, seats: &[Seat]) -> Vec<&Seat> {
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
    use crate::domain::meeting::SeatState::{self, Skipped, Speaking, Spoke, Waiting};

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
