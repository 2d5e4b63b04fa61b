//! When a board meeting ends (BOARD-6). Politeness does not keep it going, and a calm round in which somebody changes sides ends it only
//! if all hold the same side then.

use serde::{Deserialize, Serialize};

use crate::features::board::model::comment::share_of;
use crate::features::board::model::discussion::Discussion;
use crate::features::board::model::members::FEWEST;

/// Why a board meeting ended. Each reason is told as what it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ending {
    /// All gave the same answer independently, and nothing was left open.
    Agreed,
    /// Nothing new was said, and nobody changed sides.
    Converged,
    /// Nothing new was said, and all have come to one side.
    United,
    /// The last round was over.
    Cap,
    Budget,
    Time,
    Stopped {
        by: String,
    },
    /// The persona files of all other members are gone.
    Alone,
    /// It was paused and never resumed.
    Paused {
        by: String,
    },
    /// The team was halted until the time was up.
    Halted {
        by: String,
    },
    /// Without a model nobody can answer what others say.
    NoModel,
    /// Nobody had a turn in the last round: the model did not answer.
    Silent,
}

/// What was new in a round.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RoundNews {
    pub comments: usize,
    pub new: usize,
    /// How many changed sides.
    pub moved: usize,
}

impl RoundNews {
    pub fn of(discussion: &Discussion, round: u32) -> Self {
        let comments = discussion.in_round(round).count();
        let new = discussion.in_round(round).filter(|comment| comment.is_new()).count();
        let moved = discussion.positions.iter().filter(|position| position.round == round && position.has_moved).count();
        Self { comments, new, moved }
    }

    /// The share of comments that are new.
    pub fn novelty(self) -> f64 {
        share_of(self.new, self.comments)
    }
}

/// Whether a discussion has come to its end with this round, by itself: nothing was new, or hardly anything in two rounds in a row, and nobody changed
/// sides or all hold the same one now. A round with one speaker does not end it.
pub fn find_end(discussion: &Discussion, round: u32, threshold: f64) -> Option<Ending> {
    let spoke = discussion.positions.iter().filter(|position| position.round == round).count();
    if spoke == 0 {
        return Some(Ending::Silent);
    }
    if spoke < FEWEST {
        return None;
    }
    if round == 0 {
        let leaves_open = !discussion.list_open().is_empty() || !discussion.list_risks().is_empty();
        return (discussion.is_united() && !leaves_open).then_some(Ending::Agreed);
    }
    let (now, before) = (RoundNews::of(discussion, round), RoundNews::of(discussion, round - 1));
    let is_low = |calm: RoundNews| calm.novelty() < threshold;
    let is_calm = now.new == 0 || (round > 1 && is_low(now) && is_low(before));
    match now.moved {
        0 if is_calm => Some(Ending::Converged),
        1.. if is_calm && discussion.is_united() => Some(Ending::United),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
