//! An ask: one persona puts a question to another.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use super::decision::Block;
use super::ids::{AskId, ChainId, ChannelId, MessageId, PersonaSlug};

/// A question from one persona to another, durable from before it is put until its answer was posted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Ask {
    pub id: AskId,
    pub message: MessageId,
    pub chain: ChainId,
    pub channel: ChannelId,
    pub asker: PersonaSlug,
    pub askee: PersonaSlug,
    pub question: String,
    /// Everybody on the way from the person's message to here, the asker last (CHAT-18). Its length is the depth.
    pub path: Vec<PersonaSlug>,
    pub state: AskState,
    pub answer: Option<String>,
    pub asked_at: DateTime<Utc>,
    pub deadline: DateTime<Utc>,
}

/// Where an ask stands. `Asked → Answered`, or `Asked → Expired → Late` when the answer came after the deadline; either may end `Failed`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AskState {
    Asked,
    Answered,
    /// The deadline passed and the channel was told; the answer is still awaited.
    Expired,
    /// Answered after the deadline and delivered all the same.
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

/// Whether the persona at the end of `path` may ask `askee`.
///
/// # Errors
/// The guard's reason: too deep, or `askee` is on the way already.
pub fn may_ask(path: &[PersonaSlug], askee: &PersonaSlug, max_depth: usize) -> Result<(), Block> {
    if path.contains(askee) {
        Err(Block::AskedAlready)
    } else if path.len() > max_depth {
        Err(Block::AskDepth)
    } else {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(slugs: &[&str]) -> Vec<PersonaSlug> {
        slugs.iter().map(|slug| PersonaSlug::new(*slug)).collect()
    }

    #[test]
    fn an_ask_never_returns_to_somebody_on_its_way() {
        assert_eq!(may_ask(&path(&["kelly", "vince"]), &"kelly".into(), 5), Err(Block::AskedAlready));
        assert_eq!(may_ask(&path(&["kelly"]), &"kelly".into(), 5), Err(Block::AskedAlready));
    }

    #[test]
    fn an_ask_goes_no_deeper_than_the_limit() {
        assert_eq!(may_ask(&path(&["kelly"]), &"vince".into(), 2), Ok(()));
        assert_eq!(may_ask(&path(&["kelly", "vince"]), &"solus".into(), 2), Ok(()));
        assert_eq!(may_ask(&path(&["kelly", "vince", "solus"]), &"echo".into(), 2), Err(Block::AskDepth));
    }
}
