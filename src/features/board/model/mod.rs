//! The subject of a board meeting, and its state. Pure.

pub mod comment;
pub mod compression;
pub mod convergence;
pub mod discussion;
pub mod document;
pub mod figures;
pub mod found;
pub mod members;
pub mod money;

use chrono::{DateTime, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use kernel::ids::{MeetingId, OutboxId, PersonaSlug};
use kernel::memory::retrieval::{Query, terms_of};
use kernel::persona::roster::Roster;
use kernel::text::one_line;

pub use comment::{Comment, CommentKind};
pub use convergence::Ending;
pub use discussion::{Discussion, Position};
pub use document::{Document, Section, Vote};
pub use members::Member;

/// The most characters of a line of the question, and the most constraints that a model names.
pub const LINE: usize = 300;
/// Maximum length of a person's correction.
pub const REMARK: usize = 2000;
const CONSTRAINTS: usize = 6;

/// What a board meeting leaves behind.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Artefact {
    #[default]
    Recommendations,
    Decision,
    Document,
    Roadmap,
}

impl Artefact {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Recommendations => "recommendations",
            Self::Decision => "decision",
            Self::Document => "document",
            Self::Roadmap => "roadmap",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        [Self::Recommendations, Self::Decision, Self::Document, Self::Roadmap].into_iter().find(|kind| kind.as_str() == text)
    }
}

/// The order of speaking after the first round. In the first round no speaker sees the others.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Order {
    /// One after the other. Each sees all before.
    #[default]
    Sequential,
    /// All at once. Each sees the rounds before.
    Greedy,
}

/// The payload of a board meeting.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Board {
    /// The question as it was asked, or as people have corrected it.
    pub topic: String,
    pub artefact: Artefact,
    pub order: Order,
    /// The planned rounds, without those that people have added.
    pub rounds: u32,
    /// Below this share of new comments a round counts as calm.
    pub threshold: f64,
    pub members: Vec<Member>,
    /// The member that argues against the majority.
    pub advocate: Option<PersonaSlug>,
    /// The round that is on, from 0.
    pub round: u32,
    /// The most engaged members of the first round. Later they are asked on the highest tier.
    pub promoted: Vec<PersonaSlug>,
    /// The name of the person who called it.
    #[serde(default)]
    pub asked_by: Option<String>,
}

/// The material of the meeting, which all speakers know.
#[derive(Debug, Default, Clone, PartialEq, Serialize, Deserialize)]
pub struct Material {
    /// The question in one sentence.
    pub question: String,
    pub constraints: Vec<String>,
    /// What would count as an answer.
    pub answered_by: String,
    /// Passages of the documents that were handed in.
    pub passages: Vec<Passage>,
    /// The team's memories about the question.
    pub remembered: Vec<String>,
    /// What the members' feeds say about the question in numbers.
    #[serde(default)]
    pub figures: Vec<String>,
    /// The number of remarks that the question includes, and the number of times that a model has restated it with them.
    #[serde(default)]
    pub remarks: usize,
    #[serde(default)]
    pub corrections: u32,
    pub prepared_at: DateTime<Utc>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Passage {
    /// The document and the place in it.
    pub place: String,
    pub text: String,
}

/// What a model gives for the question, not checked yet.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct Restated {
    /// The question in one sentence.
    pub question: String,
    #[serde(default)]
    pub constraints: Vec<String>,
    /// What would count as an answer, in one sentence.
    #[serde(default)]
    pub answered_by: String,
}

impl Material {
    /// Replaces the question, the constraints and the criterion by a restatement, from a model or not.
    #[must_use]
    pub fn restated(self, restated: Restated) -> Self {
        let line = |text: String| one_line(&text, LINE);
        Self {
            question: line(restated.question),
            constraints: restated.constraints.into_iter().map(line).filter(|line| !line.is_empty()).take(CONSTRAINTS).collect(),
            answered_by: line(restated.answered_by),
            ..self
        }
    }

    /// Adds people's remarks as constraints and leaves the question as it is. For a team without a model.
    #[must_use]
    pub fn constrained_by(mut self, remarks: &[Comment], roster: &Roster) -> Self {
        self.constraints.extend(remarks.iter().map(|remark| one_line(&format!("{}: {}", remark.by.name(roster), remark.text), REMARK)));
        // Drops the oldest constraints.
        let surplus = self.constraints.len().saturating_sub(2 * CONSTRAINTS);
        self.constraints.drain(..surplus);
        self
    }
}

/// The row of a board meeting beside that of the meeting.
#[derive(Debug, Clone, PartialEq)]
pub struct BoardRecord {
    pub meeting: MeetingId,
    /// Names and texts of the documents that were handed in.
    pub documents: Vec<(String, String)>,
    /// Rounds that people have added.
    pub extra_rounds: u32,
    /// How many remarks people have made.
    pub remarks: u32,
    /// Who ended it early.
    pub stopped_by: Option<String>,
    /// Why it ended, once that is decided. From then on no rounds or remarks are added.
    pub ending: Option<Ending>,
    pub document: Option<Document>,
    pub created_at: DateTime<Utc>,
}

/// The id of one of the meeting's messages. There is one message of each kind.
pub fn message_id(meeting: &MeetingId, what: &str) -> OutboxId {
    OutboxId::new(format!("board-{meeting}-{what}"))
}

/// Whether a message has one of these ids.
pub fn is_of_meeting(message: &OutboxId) -> bool {
    message.as_str().starts_with("board-")
}

/// The meeting whose thread hangs on this message, which may be an edit of it.
pub fn meeting_of(opening: &OutboxId) -> Option<MeetingId> {
    let (meeting, _) = opening.as_str().strip_prefix("board-")?.split_once("-opening")?;
    Some(MeetingId::new(meeting))
}

/// The share of a question's subject that a text speaks of, from 0 to 1.
fn share_of_terms(question: &str, text: &str) -> f64 {
    let (asked, said) = (Query::parse(question, &[]).terms, terms_of(text));
    let sum = |terms: &mut dyn Iterator<Item = &(String, f64)>| terms.map(|(_, weight)| weight).sum::<f64>();
    let all = sum(&mut asked.iter());
    if all > 0.0 { sum(&mut asked.iter().filter(|(term, _)| said.contains(term))) / all } else { 0.0 }
}

#[cfg(test)]
mod tests;
