//! What the terminal reads of the server's objects. Everything absent has a default, so that a
//! partial update or a newer server never stops the client.

use serde::Deserialize;
use serde_json::Value;

/// Message flag: only the person who used a command sees it.
const EPHEMERAL: u64 = 1 << 6;
/// Message flag: the answer to a command is still being written.
const LOADING: u64 = 1 << 7;

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(super) struct User {
    pub id: String,
    pub username: String,
    pub global_name: Option<String>,
    pub bot: bool,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(super) struct Member {
    pub user: User,
    pub nick: Option<String>,
    pub roles: Vec<String>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(super) struct Role {
    pub id: String,
    pub name: String,
    pub color: u32,
    pub position: i64,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(super) struct Channel {
    pub id: String,
    #[serde(rename = "type")]
    pub kind: u8,
    pub name: Option<String>,
    pub parent_id: Option<String>,
    pub position: i64,
    pub message_count: u64,
    pub recipients: Vec<User>,
}

impl Channel {
    pub(super) fn is_thread(&self) -> bool {
        matches!(self.kind, 10..=12)
    }

    pub(super) fn is_text(&self) -> bool {
        matches!(self.kind, 0 | 5)
    }

    pub(super) fn is_direct(&self) -> bool {
        self.kind == 1
    }
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(super) struct Message {
    pub id: String,
    pub channel_id: String,
    #[serde(rename = "type")]
    pub kind: u8,
    pub author: User,
    pub webhook_id: Option<String>,
    pub application_id: Option<String>,
    pub content: String,
    pub flags: u64,
    pub edited_timestamp: Option<String>,
    #[serde(rename = "referenced_message")]
    pub original: Option<Box<Message>>,
    pub attachments: Vec<Attachment>,
    pub embeds: Vec<Embed>,
    pub reactions: Vec<Reaction>,
    pub components: Vec<Row>,
    pub thread: Option<Channel>,
    pub interaction_metadata: Option<Value>,
    pub interaction: Option<Value>,
}

impl Message {
    pub(super) fn is_ephemeral(&self) -> bool {
        self.flags & EPHEMERAL != 0
    }

    pub(super) fn is_loading(&self) -> bool {
        self.flags & LOADING != 0
    }

    /// Buttons and selects in the order in which they are numbered on the screen.
    pub(super) fn list_controls(&self) -> Vec<&Control> {
        self.components.iter().flat_map(|row| &row.components).collect()
    }
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(super) struct Attachment {
    pub filename: String,
    pub size: u64,
    pub url: String,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(super) struct Embed {
    pub title: Option<String>,
    pub description: Option<String>,
    pub fields: Vec<Field>,
    pub image: Option<Picture>,
    pub footer: Option<Footer>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(super) struct Picture {
    pub url: String,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(super) struct Field {
    pub name: String,
    pub value: String,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(super) struct Footer {
    pub text: String,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(super) struct Emoji {
    pub name: Option<String>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(super) struct Reaction {
    pub count: u64,
    pub me: bool,
    pub emoji: Emoji,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(super) struct Row {
    #[serde(rename = "type")]
    pub kind: u8,
    pub id: Option<u64>,
    pub components: Vec<Control>,
}

/// A button, a select or a text field of a modal.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(super) struct Control {
    #[serde(rename = "type")]
    pub kind: u8,
    pub id: Option<u64>,
    pub custom_id: Option<String>,
    pub label: Option<String>,
    pub placeholder: Option<String>,
    pub url: Option<String>,
    pub disabled: bool,
    pub required: Option<bool>,
    pub options: Vec<Choice>,
}

impl Control {
    pub(super) const BUTTON: u8 = 2;
    pub(super) const TEXT_FIELD: u8 = 4;

    pub(super) fn name(&self) -> &str {
        let given = self.label.as_deref().or(self.placeholder.as_deref());
        given.unwrap_or("button")
    }
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(super) struct Choice {
    pub label: String,
    pub value: String,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(super) struct Modal {
    pub id: String,
    pub channel_id: String,
    pub custom_id: String,
    pub title: String,
    pub components: Vec<Row>,
    pub application: Owner,
    pub application_id: Option<String>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(super) struct Owner {
    pub id: String,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(super) struct Command {
    pub id: String,
    pub application_id: String,
    pub guild_id: Option<String>,
    pub version: String,
    pub name: String,
    pub description: String,
    #[serde(rename = "type")]
    pub kind: Option<u8>,
    pub options: Vec<CommandOption>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(super) struct CommandOption {
    #[serde(rename = "type")]
    pub kind: u8,
    pub name: String,
    pub description: String,
    pub required: bool,
    pub choices: Vec<OptionChoice>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(super) struct OptionChoice {
    pub name: String,
    pub value: Value,
}
