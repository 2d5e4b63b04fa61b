use std::fmt;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::features::backlog::model::Judge;
use kernel::ids::PersonaSlug;

/// A judgement of a result by somebody other than its author.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Review {
    /// From 1 for each item.
    pub number: u32,
    /// The run whose result was judged.
    pub run: u32,
    pub author: Option<PersonaSlug>,
    pub by: Judge,
    pub accepted: bool,
    /// In words, also for the author.
    pub note: String,
    /// One for each criterion. A person's word has none.
    pub findings: Vec<Finding>,
    /// Scores are only kept; acceptance does not depend on them. None: the reviewer gave none.
    pub scores: Option<Scores>,
    pub at: DateTime<Utc>,
}

/// The result of checking a criterion.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    pub criterion: String,
    pub met: bool,
    /// The passage that shows it, or what is missing.
    pub text: String,
    /// None if code has not found the passage in a file.
    #[serde(default)]
    pub place: Option<FilePlace>,
    /// It is not met, and nobody on the team can meet it.
    #[serde(default)]
    pub needs_person: bool,
}

/// A line of a file, from 1.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FilePlace {
    pub file: String,
    pub line: usize,
}

impl fmt::Display for FilePlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, line {}", self.file, self.line)
    }
}

/// What a reviewer thinks of a result, each from 1 to 5; 3 is good work, 5 is rare.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Scores {
    pub depth: u8,
    pub accuracy: u8,
    pub actionability: u8,
    pub completeness: u8,
}

impl Scores {
    /// `depth 3, accuracy 4, actionability 4, completeness 3`.
    pub fn describe(&self) -> String {
        let Self { depth, accuracy, actionability, completeness } = self;
        format!("depth {depth}, accuracy {accuracy}, actionability {actionability}, completeness {completeness}")
    }
}
