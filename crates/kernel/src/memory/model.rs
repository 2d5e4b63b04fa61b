use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::ids::{ChannelId, MeetingId, MemoryId, MessageId, PersonaSlug, UserId, WorkItemId};

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
    /// When it was refuted, replaced or removed by a person. It is not used in prompts any more.
    pub ended_at: Option<DateTime<Utc>>,
    /// The only place where it may be told (MEM-8). None: everywhere.
    pub place: Option<ChannelId>,
    /// The person who taught it.
    pub taught_by: Option<Teacher>,
    /// It comes from text from outside, and is not told before a person confirms it.
    pub held: bool,
    /// The older memory that it replaces.
    pub replaces: Option<MemoryId>,
    /// Who had it forgotten. Its text is gone.
    pub forgotten_by: Option<String>,
    /// For what was said or posted in a channel.
    pub origin: Option<Box<Origin>>,
}

impl Memory {
    /// The tag of memories from runs with text from outside.
    pub const OUTSIDE: &str = "outside";

    /// The significance of what a person teaches (MEM-4).
    pub const TAUGHT: f64 = 0.9;

    /// A memory of the whole team, told everywhere.
    pub fn new(kind: MemoryKind, text: impl Into<String>, source: MemorySource, at: DateTime<Utc>) -> Self {
        Self {
            id: MemoryId::generate(),
            kind,
            persona: None,
            text: text.into(),
            tags: Vec::new(),
            significance: 0.5,
            source,
            created_at: at,
            ended_at: None,
            place: None,
            taught_by: None,
            held: false,
            replaces: None,
            forgotten_by: None,
            origin: None,
        }
    }

    /// Whether it may repeat text from outside (TRUST-1): it has the tag, or comes from a meeting, whose page contains feeds. What a person
    /// teaches is the person's own word.
    pub fn may_quote_outside(&self) -> bool {
        let is_outside =
            matches!(self.source, MemorySource::Meeting(_)) || self.kind == MemoryKind::Document || self.has_tag(Self::OUTSIDE);
        is_outside && self.taught_by.is_none()
    }

    fn has_tag(&self, tag: &str) -> bool {
        self.tags.iter().any(|own| own == tag)
    }

    /// The text that is searched.
    pub fn searched(&self) -> String {
        let tags = self.tags.iter().map(String::as_str).filter(|tag| *tag != Self::OUTSIDE);
        let part = self.origin.as_ref().and_then(|origin| origin.part.as_ref());
        let titles = part.into_iter().flat_map(|part| [Some(part.document.as_str()), part.heading.as_deref()]).flatten();
        std::iter::once(self.text.as_str()).chain(tags).chain(titles).collect::<Vec<_>>().join(" ")
    }

    /// The message that it comes from.
    pub fn message(&self) -> Option<&MessageId> {
        match &self.source {
            MemorySource::Message(message) => Some(message),
            MemorySource::Meeting(_) | MemorySource::WorkItem(_) | MemorySource::Command => None,
        }
    }

    /// The person whose words it repeats.
    pub fn person(&self) -> Option<&Teacher> {
        self.taught_by.as_ref().or(self.origin.as_ref().map(|origin| &origin.by))
    }

    /// The id that people read and type.
    pub fn short_id(&self) -> String {
        short_id(&self.id)
    }
}

/// Six letters and digits that stand for an id. Hashed, because ids of learnings have no random part.
pub fn short_id(id: &MemoryId) -> String {
    // Without letters that look like digits.
    const SIGNS: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
    Sha256::digest(id.as_str())[..6].iter().map(|byte| char::from(SIGNS[usize::from(byte % 32)])).collect()
}

/// The person who taught a memory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Teacher {
    /// None: at the command line.
    pub id: Option<UserId>,
    pub name: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MemoryKind {
    /// Included in later prompts.
    Lesson,
    /// How an accepted work item was done. Included in the prompts of similar work.
    Approach,
    /// What a person taught. Included in later prompts, before the lessons.
    Fact,
    /// Personas contradicted each other.
    Disagreement,
    /// A person's message.
    Conversation,
    /// A part of a file or a page.
    Document,
}

impl MemoryKind {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Lesson => "lesson",
            Self::Approach => "approach",
            Self::Fact => "fact",
            Self::Disagreement => "disagreement",
            Self::Conversation => "conversation",
            Self::Document => "document",
        }
    }
}

/// A message, or a part of what was posted with one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    pub by: Teacher,
    pub channel: ChannelId,
    /// Without `#`. Empty in a direct conversation.
    pub channel_name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part: Option<DocumentPart>,
}

/// A part of a document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DocumentPart {
    /// The name of the file, or the address of the page.
    pub document: String,
    /// The nearest heading.
    pub heading: Option<String>,
    /// The first and the last line.
    pub lines: (usize, usize),
}

/// The source of a memory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MemorySource {
    Meeting(MeetingId),
    Message(MessageId),
    WorkItem(WorkItemId),
    /// `/memory teach`, in a chat or at the command line.
    Command,
}
