//! Open interactions. They are in memory only.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::{Attachment, InteractionMetadata, Reference};
use crate::snowflake::Snowflake;

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
    /// The deadline passed without an answer.
    Missed,
    /// "… is thinking": the first follow-up becomes the response.
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
    /// The client's nonce. The client gets it back with the result.
    pub(crate) nonce: Option<Value>,
    pub(crate) command: Option<String>,
    /// The message whose component was used.
    pub(crate) source: Option<Reference>,
    /// For a submitted modal: the interaction that the modal was the response to.
    pub(crate) opened_by: Option<Box<InteractionMetadata>>,
    /// The message that `@original` means.
    pub(crate) original: Option<Reference>,
    pub(crate) answer: Answer,
    pub(crate) created: Instant,
}

impl Interaction {
    /// The metadata for its messages. Only the first response shows the command's name.
    pub(crate) fn metadata(&self, is_first: bool) -> InteractionMetadata {
        let command = self.command.clone().filter(|_| is_first);
        InteractionMetadata {
            id: self.id,
            kind: self.kind.code(),
            user: self.user,
            command,
            used_on: self.source.and_then(|source| source.message).filter(|_| self.kind == InteractionKind::Component),
            opened_by: self.opened_by.clone(),
        }
    }
}

/// An open modal.
#[derive(Clone, Debug)]
pub(crate) struct Modal {
    /// The message whose component opened it.
    pub(crate) source: Option<Reference>,
    pub(crate) opened_by: InteractionMetadata,
    pub(crate) components: Vec<Value>,
}

/// Expired interactions are kept this much longer, so that an expired token and an unknown one give different errors.
const MEMORY_AFTER_EXPIRY: Duration = Duration::from_hours(1);

#[derive(Debug, Default)]
pub(crate) struct Interactions {
    by_token: HashMap<String, Interaction>,
    /// By application, person and custom id.
    modals: HashMap<(Snowflake, Snowflake, String), Modal>,
    /// Files given to commands, which belong to no message.
    files: HashMap<Snowflake, (Snowflake, Attachment)>,
}

impl Interactions {
    pub(crate) fn insert(&mut self, interaction: Interaction, token_window: Duration) {
        self.by_token.retain(|_, old| old.created.elapsed() < token_window + MEMORY_AFTER_EXPIRY);
        self.by_token.insert(interaction.token.clone(), interaction);
    }

    pub(crate) fn find(&self, token: &str) -> Option<&Interaction> {
        self.by_token.get(token)
    }

    pub(crate) fn show_modal(&mut self, interaction: &Interaction, modal: &Value) {
        let custom_id = modal["custom_id"].as_str().unwrap_or_default().to_owned();
        let components = modal["components"].as_array().cloned().unwrap_or_default();
        let modal = Modal { source: interaction.source, opened_by: interaction.metadata(false), components };
        self.modals.insert((interaction.application, interaction.user, custom_id), modal);
    }

    pub(crate) fn find_modal(&self, application: Snowflake, user: Snowflake, custom_id: &str) -> Option<&Modal> {
        self.modals.get(&(application, user, custom_id.to_owned()))
    }

    pub(crate) fn close_modal(&mut self, application: Snowflake, user: Snowflake, custom_id: &str) {
        self.modals.remove(&(application, user, custom_id.to_owned()));
    }

    pub(crate) fn keep_files(&mut self, channel: Snowflake, files: Vec<Attachment>) {
        self.files.extend(files.into_iter().map(|file| (file.id, (channel, file))));
    }

    pub(crate) fn find_file(&self, channel: Snowflake, id: Snowflake) -> Option<&Attachment> {
        self.files.get(&id).filter(|(place, _)| *place == channel).map(|(_, file)| file)
    }

    pub(crate) fn find_mut(&mut self, token: &str) -> Option<&mut Interaction> {
        self.by_token.get_mut(token)
    }
}
