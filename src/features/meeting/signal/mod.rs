//! Signals: what a report claims, in a form that code can compare (STAND-7).
//!
//! A persona is told to end its report with a fenced block of signals. This folder takes such an answer apart, however badly the block is
//! written, and cuts what is left to its cap. What signals mean beside each other is the cross-check's business.

mod block;
mod entry;
mod wording;

#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

use kernel::ids::PersonaSlug;

pub use wording::{cut_at_sentence, is_quiet};

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

/// From this confidence on a signal that says something moved is worth a hint.
const NOTABLE: f64 = 0.6;

impl Signal {
    /// Whether later speakers should hear of it.
    pub fn is_notable(&self) -> bool {
        self.confidence >= NOTABLE && self.direction != Direction::Flat
    }
}

/// Which way a subject goes.
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

/// The most signals of one report. Whoever claims more has not decided what matters.
const MOST: usize = 8;

/// Takes an answer apart: what people read, and the signals in it.
///
/// Whatever looks like a block of signals is taken out of the text even where nothing in it can be read: nobody is posted JSON. A text without
/// one stays as it is, but for the space around it.
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
        // Far more than are kept, and few enough that a hostile answer fills no log.
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
