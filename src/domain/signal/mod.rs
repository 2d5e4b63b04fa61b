//! Signals: what a report claims, in a form that code can compare.

use serde::{Deserialize, Serialize};

use super::ids::PersonaSlug;

/// A machine-readable claim of a report.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Signal {
    /// What it is about, in a few words: `checkout latency`.
    pub subject: String,
    pub direction: Direction,
    /// 0 to 1.
    pub confidence: f64,
    pub evidence: Option<Evidence>,
}

/// Which way a subject goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    Up,
    Down,
    Flat,
    Good,
    Bad,
}

/// What a signal rests on.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Evidence {
    /// The feed's name as its persona declared it.
    pub feed: String,
    /// The value with its unit, as the feed gave it.
    pub value: String,
}

/// A signal with who gave it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Claim {
    pub by: PersonaSlug,
    pub signal: Signal,
}

/// A report taken apart.
#[derive(Debug, Clone, PartialEq)]
pub struct ParsedReport {
    /// What people read.
    pub text: String,
    pub signals: Vec<Signal>,
    /// What could not be read, in words.
    pub problems: Vec<String>,
}
