//! What the team remembers beyond a channel's transcript.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::ids::{MeetingId, MemoryId, MessageId, PersonaSlug, WorkItemId};

/// Something worth remembering (MEM-1).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Memory {
    pub id: MemoryId,
    pub kind: MemoryKind,
    /// Whose it is; none for the whole team.
    pub persona: Option<PersonaSlug>,
    pub text: String,
    pub tags: Vec<String>,
    /// 0 to 1.
    pub significance: f64,
    pub source: MemorySource,
    pub created_at: DateTime<Utc>,
    /// Ended: refuted, or taken back by a person. It is no longer told to anybody.
    pub ended_at: Option<DateTime<Utc>>,
}

impl Memory {
    /// The tag of what came of a run that had read text from outside.
    pub const OUTSIDE: &str = "outside";

    /// It may repeat what somebody outside wrote (TRUST-1): it is tagged so, or comes of a meeting, whose page holds feeds.
    pub fn may_quote_outside(&self) -> bool {
        matches!(self.source, MemorySource::Meeting(_)) || self.tags.iter().any(|tag| tag == Self::OUTSIDE)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MemoryKind {
    /// Something that later turns are told.
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

/// Where a memory comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MemorySource {
    Meeting(MeetingId),
    Message(MessageId),
    WorkItem(WorkItemId),
}
