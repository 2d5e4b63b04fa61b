//! The cross-check: compares signals of different personas on the same subject (STAND-10) and creates hints (STAND-7).
//!
//! It does not decide who is right. A tension shows both sides.

mod check;
mod hint;
mod subject;
mod support;

#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

use crate::features::meeting::signal::{Claim, Direction};
use kernel::ids::PersonaSlug;

pub use check::cross_check;
pub use hint::hints_for;
pub use support::split_supported;

/// The combined claim of the team on a subject.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    pub subject: String,
    /// None if the sides contradict each other.
    pub direction: Option<Direction>,
    /// 0 to 1. Raised by agreement of different feeds, lowered by contradictions.
    pub confidence: f64,
    pub claims: Vec<Claim>,
}

/// Personas that contradict each other on a subject.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Tension {
    pub subject: String,
    /// One direction each, highest confidence first.
    pub sides: Vec<Vec<Claim>>,
}

/// A hint for later speakers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hint {
    pub from: PersonaSlug,
    pub subject: String,
    /// One sentence.
    pub text: String,
}

/// The result of the cross-check.
#[derive(Debug, Default, Clone, PartialEq, Serialize, Deserialize)]
pub struct CrossCheck {
    pub findings: Vec<Finding>,
    pub tensions: Vec<Tension>,
    /// Claims whose evidence is not on the shared page. They are ignored.
    #[serde(default)]
    pub unsupported: Vec<Claim>,
}
