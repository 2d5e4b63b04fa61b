//! Interactions that a bot may still answer. They live in memory: a token does not outlive a restart usefully.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::Reference;
use crate::sandbox::snowflake::Snowflake;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum InteractionKind {
    Command,
    Component,
    Autocomplete,
    Modal,
}

impl InteractionKind {
    pub(crate) fn parse(code: u64) -> Option<Self> {
        match code {
            2 => Some(Self::Command),
            3 => Some(Self::Component),
            4 => Some(Self::Autocomplete),
            5 => Some(Self::Modal),
            _ => None,
        }
    }

    /// Discord's number for it.
    pub(crate) fn code(self) -> u8 {
        match self {
            Self::Command => 2,
            Self::Component => 3,
            Self::Autocomplete => 4,
            Self::Modal => 5,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    /// Nobody has answered yet.
    Waiting,
    /// The deadline passed first.
    Missed,
    /// "… is thinking": the first follow-up becomes the answer.
    Thinking,
    Given,
}

#[derive(Clone, Debug)]
pub(crate) struct Interaction {
    pub(crate) id: Snowflake,
    pub(crate) token: String,
    pub(crate) application: Snowflake,
    pub(crate) user: Snowflake,
    pub(crate) channel: Snowflake,
    pub(crate) kind: InteractionKind,
    /// The client's mark, given back to it with the outcome.
    pub(crate) nonce: Option<Value>,
    pub(crate) command: Option<String>,
    /// The message whose component was used.
    pub(crate) source: Option<Reference>,
    /// The message that `@original` means.
    pub(crate) original: Option<Reference>,
    pub(crate) answer: Answer,
    pub(crate) created: Instant,
}

/// Interactions whose token ran out are kept this much longer, so that their use is told from that of an unknown one.
const MEMORY_AFTER_EXPIRY: Duration = Duration::from_secs(60 * 60);

#[derive(Debug, Default)]
pub(crate) struct Interactions {
    by_token: HashMap<String, Interaction>,
}

impl Interactions {
    pub(crate) fn insert(&mut self, interaction: Interaction, token_window: Duration) {
        self.by_token.retain(|_, old| old.created.elapsed() < token_window + MEMORY_AFTER_EXPIRY);
        self.by_token.insert(interaction.token.clone(), interaction);
    }

    pub(crate) fn find(&self, token: &str) -> Option<&Interaction> {
        self.by_token.get(token)
    }

    pub(crate) fn find_mut(&mut self, token: &str) -> Option<&mut Interaction> {
        self.by_token.get_mut(token)
    }
}
