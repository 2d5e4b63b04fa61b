use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::ids::{MeetingId, MemoryId, MessageId, PersonaSlug, WorkItemId};

/// A memory (MEM-1).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Memory {
    pub id: MemoryId,
    pub kind: MemoryKind,
    /// The persona it belongs to. None: the whole team.
    pub persona: Option<PersonaSlug>,
    pub text: String,
    pub tags: Vec<String>,
    /// 0 to 1.
    pub significance: f64,
    pub source: MemorySource,
    pub created_at: DateTime<Utc>,
    /// When it was refuted or removed by a person. It is not used in prompts any more.
    pub ended_at: Option<DateTime<Utc>>,
}

impl Memory {
    /// The tag of memories from runs with text from outside.
    pub const OUTSIDE: &str = "outside";

    /// Whether it may repeat text from outside (TRUST-1): it has the tag, or comes from a meeting, whose page contains feeds.
    pub fn may_quote_outside(&self) -> bool {
        matches!(self.source, MemorySource::Meeting(_)) || self.tags.iter().any(|tag| tag == Self::OUTSIDE)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MemoryKind {
    /// Included in later prompts.
    Lesson,
    /// Personas contradicted each other.
    Disagreement,
}

impl MemoryKind {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Lesson => "lesson",
            Self::Disagreement => "disagreement",
        }
    }
}

/// The origin of a memory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MemorySource {
    Meeting(MeetingId),
    Message(MessageId),
    WorkItem(WorkItemId),
}
