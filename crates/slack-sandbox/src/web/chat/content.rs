//! What a message says: text, blocks, attachments, metadata.

use serde_json::{Value, json};

use super::super::arguments::{structured, text_of};
use super::super::blocks::{Surface, check};
use super::{ApiError, Call, Message};
use crate::state::{World, normalize, rich_text};

/// "Slack will truncate messages containing more than 40,000 characters."
const TEXT_LIMIT: usize = 40_000;
/// "The `text` field cannot exceed 4,000 characters", for `chat.update`.
const UPDATE_LIMIT: usize = 4_000;
const MARKDOWN_LIMIT: usize = 12_000;
const ATTACHMENT_LIMIT: usize = 100;

#[derive(Clone, Debug, Default)]
pub(crate) struct Content {
    text: String,
    /// `None` if the argument is missing.
    blocks: Option<Vec<Value>>,
    attachments: Option<Vec<Value>>,
    metadata: Option<Value>,
    was_truncated: bool,
    /// The id of the block that is made from the text.
    text_block: String,
}

impl Content {
    /// The content of a new message.
    pub(crate) fn read(call: &mut Call) -> Result<Self, ApiError> {
        let body = call.arguments.to_json();
        let content = Self::parse(&mut call.core.world, &body)?;
        content.require_something()?;
        if content.was_truncated {
            call.warnings.push("message_truncated");
        }
        Ok(content)
    }

    /// The new content of a message that is updated.
    pub(super) fn read_update(call: &mut Call) -> Result<Self, ApiError> {
        let too_long = call.arguments.find("text").is_some_and(|text| text.chars().count() > UPDATE_LIMIT);
        if too_long {
            return Err(ApiError::new("msg_too_long"));
        }
        let body = call.arguments.to_json();
        let content = Self::parse(&mut call.core.world, &body)?;
        let changes_nothing = content.text.is_empty() && content.blocks.is_none() && content.attachments.is_none();
        if changes_nothing && !call.arguments.has("file_ids") { Err(ApiError::new("no_text")) } else { Ok(content) }
    }

    /// Reads the fields of arguments, or of the answer to an interaction.
    pub(crate) fn parse(world: &mut World, body: &Value) -> Result<Self, ApiError> {
        let mut content = Self { text_block: world.ids.next("b"), ..Self::default() };
        let (text, markdown) = (text_of(&body["text"]), text_of(&body["markdown_text"]));
        if let Some(blocks) = structured(&body["blocks"], "invalid_blocks_format")? {
            content.blocks = Some(check(&blocks, Surface::Message, || world.ids.next("b"))?);
        }
        if let Some(markdown) = markdown {
            if text.is_some() || content.blocks.is_some() {
                return Err(ApiError::new("markdown_text_conflict"));
            }
            if markdown.chars().count() > MARKDOWN_LIMIT {
                return Err(ApiError::new("msg_too_long"));
            }
            content.blocks = Some(vec![json!({ "type": "markdown", "block_id": content.text_block, "text": markdown })]);
            content.text = normalize(&markdown);
        }
        if let Some(text) = text {
            content.was_truncated = text.chars().count() > TEXT_LIMIT;
            content.text = normalize(&text.chars().take(TEXT_LIMIT).collect::<String>());
        }
        if let Some(attachments) = structured(&body["attachments"], "invalid_attachments")? {
            content.attachments = Some(read_attachments(attachments)?);
        }
        if let Some(metadata) = structured(&body["metadata"], "invalid_metadata_format")? {
            content.metadata = Some(read_metadata(metadata)?);
        }
        Ok(content)
    }

    pub(crate) fn require_something(&self) -> Result<(), ApiError> {
        let is_empty = |list: &Option<Vec<Value>>| list.as_ref().is_none_or(Vec::is_empty);
        let says_nothing = self.text.trim().is_empty() && is_empty(&self.blocks) && is_empty(&self.attachments);
        if says_nothing { Err(ApiError::new("no_text")) } else { Ok(()) }
    }

    /// The blocks to show: those that were sent, or one that is made of the text.
    fn shown_blocks(&self) -> Vec<Value> {
        match &self.blocks {
            Some(blocks) if !blocks.is_empty() => blocks.clone(),
            _ if self.text.is_empty() => Vec::new(),
            _ => vec![rich_text(&self.text, &self.text_block)],
        }
    }

    /// Puts the content into a new message.
    pub(crate) fn fill(self, message: &mut Message) {
        message.blocks = self.shown_blocks();
        message.attachments = self.attachments.unwrap_or_default();
        message.metadata = self.metadata;
        message.text = self.text;
    }

    /// Changes a message. A new text without blocks replaces the old blocks. Without a list of attachments the old ones stay.
    pub(crate) fn change(self, message: &mut Message, has_text: bool) {
        if self.blocks.is_some() || has_text {
            message.blocks = self.shown_blocks();
        }
        if has_text {
            message.text = self.text;
        }
        if let Some(attachments) = self.attachments {
            message.attachments = attachments;
        }
        if let Some(metadata) = self.metadata {
            message.metadata = Some(metadata);
        }
    }
}

fn read_attachments(attachments: Value) -> Result<Vec<Value>, ApiError> {
    let Value::Array(mut attachments) = attachments else { return Err(ApiError::new("invalid_attachments")) };
    if attachments.len() > ATTACHMENT_LIMIT {
        return Err(ApiError::new("too_many_attachments"));
    }
    for (index, attachment) in attachments.iter_mut().enumerate().filter(|(_, attachment)| attachment.is_object()) {
        attachment["id"] = json!(index + 1);
        if attachment["fallback"].is_null() {
            attachment["fallback"] = json!("[no preview available]");
        }
    }
    Ok(attachments)
}

fn read_metadata(metadata: Value) -> Result<Value, ApiError> {
    let has_type = metadata["event_type"].as_str().is_some_and(|name| !name.is_empty());
    if !metadata.is_object() {
        Err(ApiError::new("invalid_metadata_format"))
    } else if !(has_type && metadata["event_payload"].is_object()) {
        Err(ApiError::new("invalid_metadata_schema"))
    } else {
        Ok(metadata)
    }
}
