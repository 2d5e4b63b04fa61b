//! The essential question, predictions and their results (STAND-11, STAND-12).
//!
//! Pure arithmetic on values that were read before. No feed or model is used here.

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

pub use outlook::{call_by_rule, find_decision, is_decided};

/// The question for which each standup makes a prediction, and how code settles it.
#[derive(Debug, Clone, PartialEq)]
pub struct EssentialQuestion {
    pub text: String,
    /// The feed's declared name.
    pub feed: String,
    /// The name of the feed's value.
    pub value: String,
    pub comparison: Comparison,
    pub threshold: Threshold,
    pub expires: Expiry,
    /// The question is the built-in one. It is not asked if its feed has no such value.
    pub optional: bool,
}

/// The threshold of the condition.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Threshold {
    Fixed(f64),
    /// Relative to the value at the time of the prediction: `+10`.
    Change(f64),
}

/// When a prediction is settled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expiry {
    /// `next friday 08:00`: the first such time that is at least a day ahead.
    Weekday { weekday: chrono::Weekday, time: chrono::NaiveTime, zone: chrono_tz::Tz },
    /// `tomorrow 08:00`.
    Tomorrow { time: chrono::NaiveTime, zone: chrono_tz::Tz },
    /// `in 3 days`, `in 12 hours`.
    In(chrono::TimeDelta),
}

/// An answer to the essential question.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Call {
    pub by: PersonaSlug,
    pub answer: Answer,
    /// 0.5 to 1 for yes and no; 0.5 for uncertain.
    pub confidence: f64,
    /// The reason in one sentence.
    pub reason: String,
    /// `provider/model`. None if it was made without a model.
    pub model: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    Yes,
    No,
    Uncertain,
}

/// A call with its condition and deadline, and later its result.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Prediction {
    pub id: PredictionId,
    pub meeting: MeetingId,
    pub channel: ChannelId,
    pub question: String,
    pub call: Call,
    pub rule: SettlingRule,
    /// The value at the time of the call.
    pub base: f64,
    pub made_at: DateTime<Utc>,
    pub expires_at: DateTime<Utc>,
    pub settled: Option<Settled>,
}

/// The result of a prediction.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Settled {
    pub verdict: Verdict,
    /// The value and its time. None if the feed returned no data.
    pub value: Option<f64>,
    pub at: DateTime<Utc>,
    /// A note: "the feed repository did not answer for 3 days".
    pub note: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    Hit,
    Miss,
    /// The call was "uncertain". It counts only in the Brier score.
    Uncalled,
    /// The feed returned no data. Reported, but not part of any score.
    Void,
}

/// The statistics of past calls.
#[derive(Debug, Default, Clone, PartialEq, Serialize, Deserialize)]
pub struct Scoreboard {
    pub hits: u32,
    pub misses: u32,
    pub uncalled: u32,
    pub void: u32,
    pub open: u32,
    /// Hits divided by hits and misses. None before the first.
    pub accuracy: Option<f64>,
    /// The accuracy of the last 20.
    pub recent_accuracy: Option<f64>,
    /// The mean of (probability of yes − outcome)². 0 is best, 0.25 is a coin flip.
    pub brier: Option<f64>,
    pub bands: Vec<Band>,
}

/// Calls of similar confidence: the average confidence, and how many were right.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Band {
    /// In percent, `from..to`. The last band includes 100.
    pub from: u32,
    pub to: u32,
    pub calls: u32,
    pub hits: u32,
}
