//! The essential question, the calls that are made on it, and how they turn out (STAND-11, STAND-12).
//!
//! Everything here is arithmetic on values that somebody else has read: no feed is asked and no call is made by a model in this folder.

mod outlook;
mod scoreboard;
mod settling;
mod terms;

#[cfg(test)]
mod tests;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use kernel::feeds::condition::{Comparison, SettlingRule};
use kernel::ids::{ChannelId, MeetingId, PersonaSlug, PredictionId};

pub use outlook::call_by_rule;

/// The question that each standup takes a position on, with how code will settle it.
#[derive(Debug, Clone, PartialEq)]
pub struct EssentialQuestion {
    pub text: String,
    /// The name of a feed that some persona declares.
    pub feed: String,
    /// The name of a value of that feed.
    pub value: String,
    pub comparison: Comparison,
    pub threshold: Threshold,
    pub expires: Expiry,
}

/// What the value is held against.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Threshold {
    Fixed(f64),
    /// So much more (or less) than the value was when the call was made: `+10`.
    Change(f64),
}

/// When a call is settled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expiry {
    /// `next friday 08:00`: the first such instant that is at least a day away.
    Weekday { weekday: chrono::Weekday, time: chrono::NaiveTime, zone: chrono_tz::Tz },
    /// `tomorrow 08:00`.
    Tomorrow { time: chrono::NaiveTime, zone: chrono_tz::Tz },
    /// `in 3 days`, `in 12 hours`.
    In(chrono::TimeDelta),
}

/// A position on the essential question.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Call {
    pub by: PersonaSlug,
    pub answer: Answer,
    /// How sure, 0.5 to 1 for yes and no; 0.5 for uncertain.
    pub confidence: f64,
    /// One sentence: why.
    pub reason: String,
    /// `provider/model`; none when it was made by rule.
    pub model: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    Yes,
    No,
    Uncertain,
}

/// A call with its rule and its deadline, later with its verdict.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Prediction {
    pub id: PredictionId,
    pub meeting: MeetingId,
    pub channel: ChannelId,
    pub question: String,
    pub call: Call,
    pub rule: SettlingRule,
    /// The value when the call was made.
    pub base: f64,
    pub made_at: DateTime<Utc>,
    pub expires_at: DateTime<Utc>,
    pub settled: Option<Settled>,
}

/// How a prediction turned out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Settled {
    pub verdict: Verdict,
    /// What the feed said, and when. None where it never answered.
    pub value: Option<f64>,
    pub at: DateTime<Utc>,
    /// In words: "the feed repository did not answer for 3 days".
    pub note: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    Hit,
    Miss,
    /// The call was "uncertain": it counts in the Brier score alone.
    Uncalled,
    /// The feed never answered. Counted openly, and in no score.
    Void,
}

/// The record of past calls.
#[derive(Debug, Default, Clone, PartialEq, Serialize, Deserialize)]
pub struct Scoreboard {
    pub hits: u32,
    pub misses: u32,
    pub uncalled: u32,
    pub void: u32,
    pub open: u32,
    /// Hits of hits and misses; none before the first.
    pub accuracy: Option<f64>,
    /// The same over the last 20 that were hit or missed.
    pub recent_accuracy: Option<f64>,
    /// Mean of (probability given to yes − what happened)²; 0 is best, 0.25 is a coin.
    pub brier: Option<f64>,
    pub bands: Vec<Band>,
}

/// Calls of like confidence: how sure they were, and how often right.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Band {
    /// In percent, `from..to`; the last one includes 100.
    pub from: u32,
    pub to: u32,
    pub calls: u32,
    pub hits: u32,
}
