//! The cross-check: signals of different personas on one subject, compared (STAND-10), and hints made of them (STAND-7).
//!
//! Only what the signals say is compared. Who is right is not decided here: a tension is told with both sides.

mod check;
mod hint;
mod subject;

#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

use crate::features::meeting::signal::{Claim, Direction};
use kernel::ids::PersonaSlug;

pub use check::cross_check;
pub use hint::hints_for;

/// What the team as a whole says on a subject.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    pub subject: String,
    /// None where the sides contradict each other.
    pub direction: Option<Direction>,
    /// Raised by agreement that rests on different feeds, lowered by divergence. 0 to 1.
    pub confidence: f64,
    pub claims: Vec<Claim>,
}

/// Personas that contradict each other on a subject.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Tension {
    pub subject: String,
    /// Claims of one direction each, the most confident first.
    pub sides: Vec<Vec<Claim>>,
}

/// What later speakers are pointed at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hint {
    pub from: PersonaSlug,
    pub subject: String,
    /// One sentence.
    pub text: String,
}

/// The result of comparing all signals of a standup.
#[derive(Debug, Default, Clone, PartialEq, Serialize, Deserialize)]
pub struct CrossCheck {
    pub findings: Vec<Finding>,
    pub tensions: Vec<Tension>,
}
