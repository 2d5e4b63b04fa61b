//! Conditions on feed values, as operators write them.

use serde::{Deserialize, Serialize};

use crate::figure;

/// A condition that cannot be parsed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{given:?} is not a valid condition. Give {allowed}")]
pub struct UnknownTerm {
    pub given: String,
    pub allowed: &'static str,
}

impl UnknownTerm {
    pub fn new(given: &str, allowed: &'static str) -> Self {
        Self { given: given.chars().take(60).collect(), allowed }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub enum Comparison {
    #[serde(rename = ">")]
    Above,
    #[serde(rename = ">=")]
    AtLeast,
    #[serde(rename = "<")]
    Below,
    #[serde(rename = "<=")]
    AtMost,
    #[serde(rename = "==")]
    Equals,
}

/// How code settles a prediction. Absolute, and fixed when the prediction is made.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SettlingRule {
    pub feed: String,
    pub value: String,
    pub unit: String,
    pub comparison: Comparison,
    pub threshold: f64,
}

/// What an operator expects of a feed's value: `failed: "== 0"`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Expectation {
    pub value: String,
    pub comparison: Comparison,
    pub threshold: f64,
}

impl Expectation {
    pub const ALLOWED: &str = "a table of value names, each with a comparison and a number, such as {failed: \"== 0\", latency: \"< 300\"}";

    /// Reads `< 300`.
    pub fn parse(value: &str, condition: &str) -> Option<Self> {
        let condition = condition.trim();
        let end = condition.find(|c: char| !"<>=≤≥".contains(c))?;
        let (comparison, threshold) = condition.split_at(end);
        let threshold = threshold.trim().parse().ok().filter(|threshold: &f64| threshold.is_finite())?;
        Some(Self { value: value.to_owned(), comparison: Comparison::parse(comparison).ok()?, threshold })
    }

    pub fn is_met(&self, value: f64) -> bool {
        self.comparison.holds(value, self.threshold)
    }

    /// `below 300`.
    pub fn describe(&self) -> String {
        let number = figure::number(self.threshold);
        match self.comparison {
            Comparison::Above => format!("above {number}"),
            Comparison::AtLeast => format!("at least {number}"),
            Comparison::Below => format!("below {number}"),
            Comparison::AtMost => format!("at most {number}"),
            Comparison::Equals => number,
        }
    }
}

/// Values count as equal within this relative difference, because decimal fractions are inexact in binary.
const SAME: f64 = 1e-9;

impl Comparison {
    /// For error messages.
    pub const ALLOWED: &str = ">, >=, <, <= or ==";

    pub fn parse(text: &str) -> Result<Self, UnknownTerm> {
        match text.trim() {
            ">" => Ok(Self::Above),
            ">=" | "≥" => Ok(Self::AtLeast),
            "<" => Ok(Self::Below),
            "<=" | "≤" => Ok(Self::AtMost),
            "==" | "=" => Ok(Self::Equals),
            _ => Err(UnknownTerm::new(text, Self::ALLOWED)),
        }
    }

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Above => ">",
            Self::AtLeast => ">=",
            Self::Below => "<",
            Self::AtMost => "<=",
            Self::Equals => "==",
        }
    }

    /// For sentences: `at least` 512.
    pub fn in_words(self) -> &'static str {
        match self {
            Self::Above => "more than",
            Self::AtLeast => "at least",
            Self::Below => "less than",
            Self::AtMost => "at most",
            Self::Equals => "exactly",
        }
    }

    fn holds(self, value: f64, threshold: f64) -> bool {
        let same = (value - threshold).abs() <= SAME * threshold.abs().max(1.0);
        match self {
            Self::Above => value > threshold && !same,
            Self::AtLeast => value > threshold || same,
            Self::Below => value < threshold && !same,
            Self::AtMost => value < threshold || same,
            Self::Equals => same,
        }
    }
}

impl SettlingRule {
    /// Whether the condition is true for this value.
    pub fn holds(&self, value: f64) -> bool {
        self.comparison.holds(value, self.threshold)
    }

    /// `repository commits >= 512`, `checkout p95 <= 400 ms`.
    pub fn describe(&self) -> String {
        format!("{} {} {} {}", self.feed, self.value, self.comparison.as_str(), self.with_unit(self.threshold))
    }

    /// A value of this condition's feed, with its unit.
    pub fn with_unit(&self, value: f64) -> String {
        figure::amount(value, &self.value, &self.unit)
    }
}
