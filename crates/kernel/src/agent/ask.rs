use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::ids::{AskId, ChainId, ChannelId, MessageId, PersonaSlug};

/// A question from one persona to another. Stored from before it is sent until its answer is posted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Ask {
    pub id: AskId,
    pub message: MessageId,
    pub chain: ChainId,
    pub channel: ChannelId,
    pub asker: PersonaSlug,
    pub askee: PersonaSlug,
    pub question: String,
    /// The personas on the way from the person's message to here, the asker last (CHAT-18). Its length is the depth.
    pub path: Vec<PersonaSlug>,
    pub state: AskState,
    pub answer: Option<String>,
    pub asked_at: DateTime<Utc>,
    pub deadline: DateTime<Utc>,
}

/// The state of an ask: `Asked → Answered`, or `Asked → Expired → Late` if the answer comes after the deadline. Each can end as `Failed`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AskState {
    Asked,
    Answered,
    /// The deadline has passed and the channel was told. The answer is still awaited.
    Expired,
    /// Answered after the deadline, and delivered.
    Late,
    Failed,
}

impl AskState {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Asked => "asked",
            Self::Answered => "answered",
            Self::Expired => "expired",
            Self::Late => "late",
            Self::Failed => "failed",
        }
    }
}
