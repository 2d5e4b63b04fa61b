//! Signals: machine-readable claims at the end of a report (STAND-7).
//!
//! Parses them however badly they are formatted, removes them from the text, and cuts the text to its length limit. The cross-check
//! compares signals.

mod block;
mod entry;
mod wording;

#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

use kernel::ids::PersonaSlug;

pub use wording::{cut_at_sentence, is_quiet};

/// A claim in a report.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Signal {
    /// The subject in a few words: `checkout latency`.
    pub subject: String,
    pub direction: Direction,
    /// 0 to 1.
    pub confidence: f64,
    pub evidence: Option<Evidence>,
}

/// A moving signal with at least this confidence becomes a hint.
const NOTABLE: f64 = 0.6;

impl Signal {
    /// Whether later speakers get a hint.
    pub fn is_notable(&self) -> bool {
        self.confidence >= NOTABLE && self.direction != Direction::Flat
    }
}

/// The direction of a subject.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    Up,
    Down,
    Flat,
    Good,
    Bad,
}

impl Direction {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Up => "up",
            Self::Down => "down",
            Self::Flat => "flat",
            Self::Good => "good",
            Self::Bad => "bad",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Evidence {
    /// The declared name of the feed.
    pub feed: String,
    /// The value with its unit.
    pub value: String,
}

/// A signal and its author.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Claim {
    pub by: PersonaSlug,
    pub signal: Signal,
}

/// A parsed report.
#[derive(Debug, Clone, PartialEq)]
pub struct ParsedReport {
    /// The text for people.
    pub text: String,
    pub signals: Vec<Signal>,
    /// Format errors, as text.
    pub problems: Vec<String>,
}

/// The most signals of a report. More would not be selective.
const MOST: usize = 8;

/// Splits an answer into text and signals.
///
/// Anything that looks like a signal block is removed, even if it cannot be parsed, so that JSON is never posted. A text without one is
/// only trimmed.
pub fn parse_report(answer: &str) -> ParsedReport {
    let mut parsed = ParsedReport { text: String::new(), signals: Vec::new(), problems: Vec::new() };
    let mut rest = answer.trim();
    while let Some(found) = block::find_block(rest) {
        parsed.add_text(block::without_heading(&rest[..found.whole.start]));
        parsed.read_block(&rest[found.content]);
        rest = &rest[found.whole.end..];
    }
    parsed.add_text(rest);
    if parsed.signals.len() > MOST {
        parsed.problems.push(format!("{} signals were given; the first {MOST} are kept", parsed.signals.len()));
        parsed.signals.truncate(MOST);
    }
    parsed
}

impl ParsedReport {
    fn add_text(&mut self, text: &str) {
        let text = text.trim();
        if !self.text.is_empty() && !text.is_empty() {
            self.text.push_str("\n\n");
        }
        self.text.push_str(text);
    }

    fn read_block(&mut self, content: &str) {
        let (entries, cut_off) = block::list_entries(content);
        if cut_off {
            self.problems.push("the last signal is cut off".to_owned());
        } else if entries.is_empty() && content.chars().any(char::is_alphanumeric) {
            self.problems.push("the block of signals holds no JSON object".to_owned());
        }
        // Reads more entries than are kept, but not all, so that a hostile answer cannot fill the log.
        for written in entries.into_iter().take(4 * MOST) {
            match entry::parse_entry(written) {
                Ok((signal, problem)) => {
                    self.signals.push(signal);
                    self.problems.extend(problem);
                }
                Err(problem) => self.problems.push(problem),
            }
        }
    }
}
