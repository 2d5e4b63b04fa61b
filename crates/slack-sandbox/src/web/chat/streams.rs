//! Streamed messages: `chat.startStream`, `chat.appendStream`, `chat.stopStream`.

use serde_json::{Value, json};

use super::super::blocks::{Surface, check};
use super::{ApiError, Call, Channel, ChannelKind, Message, Outcome};
use crate::state::{Change, normalize};

/// "Limit this field to 12,000 characters", for each call.
const MARKDOWN_LIMIT: usize = 12_000;

pub(crate) fn start_stream(call: &mut Call) -> Outcome {
    let channel = call.target()?;
    call.arguments.text("thread_ts")?;
    let thread = call.thread(&channel)?;
    if channel.kind != ChannelKind::Direct {
        for recipient in ["recipient_team_id", "recipient_user_id"] {
            if !call.arguments.has(recipient) {
                return Err(ApiError::new(&format!("missing_{recipient}")));
            }
        }
    }
    let said = said(call)?.unwrap_or_default();
    let mut message = Message::new(call.author(), "");
    message.thread = thread;
    message.streaming = Some(call.core.now() + call.core.world.windows.stream);
    let block = call.world().ids.next("b");
    extend(&mut message, &said, &block);
    let ts = call.world().post(&channel.id, message);
    Ok(json!({ "channel": channel.id, "ts": ts.to_string() }))
}

pub(crate) fn append_stream(call: &mut Call) -> Outcome {
    let (channel, message) = streamed(call)?;
    let said = said(call)?.ok_or_else(|| ApiError::new("no_text"))?;
    let block = call.world().ids.next("b");
    // Apps get no event for appended text.
    if let Some(message) = call.world().channels.get_mut(&channel.id).and_then(|found| found.messages.get_mut(&message.ts)) {
        extend(message, &said, &block);
    }
    call.world().changes.push(Change::message(&channel.id, message.ts));
    Ok(json!({ "channel": channel.id, "ts": message.ts.to_string() }))
}

pub(crate) fn stop_stream(call: &mut Call) -> Outcome {
    let (channel, message) = streamed(call)?;
    let said = said(call)?.unwrap_or_default();
    let blocks = match call.arguments.json("blocks", "invalid_blocks_format")? {
        Some(blocks) => check(&blocks, Surface::Message, || call.core.world.ids.next("b"))?,
        None => Vec::new(),
    };
    let metadata = call.arguments.json("metadata", "invalid_metadata_format")?;
    let block = call.world().ids.next("b");
    call.world().edit(&channel.id, message.ts, None, |message| {
        extend(message, &said, &block);
        message.blocks.extend(blocks);
        message.metadata = metadata.or(message.metadata.take());
        message.streaming = None;
    });
    Ok(call.posted(&channel.id, message.ts))
}

/// The message that is streamed. Slack ends a stream after some minutes.
fn streamed(call: &mut Call) -> Result<(Channel, Message), ApiError> {
    let channel = call.channel("channel")?;
    let message = call.own_message(&channel, "message_not_owned_by_app")?;
    match message.streaming {
        Some(until) if call.core.now() < until => Ok((channel, message)),
        Some(_) => {
            call.world().edit(&channel.id, message.ts, None, |message| message.streaming = None);
            Err(ApiError::new("message_not_in_streaming_state"))
        }
        None => Err(ApiError::new("message_not_in_streaming_state")),
    }
}

/// What a call adds: `markdown_text`, or the texts of its chunks.
fn said(call: &Call) -> Result<Option<String>, ApiError> {
    let chunks = call.arguments.json("chunks", "invalid_chunks")?;
    let text = match (call.arguments.find("markdown_text"), chunks) {
        (Some(text), _) => Some(text),
        (None, Some(Value::Array(chunks))) => {
            let text = |chunk: &Value| chunk["text"].as_str().or(chunk["title"].as_str()).map(str::to_owned);
            Some(chunks.iter().filter_map(text).collect())
        }
        (None, Some(_)) => return Err(ApiError::new("invalid_chunks")),
        (None, None) => None,
    };
    match text {
        Some(text) if text.chars().count() > MARKDOWN_LIMIT => Err(ApiError::new("msg_too_long")),
        text => Ok(text),
    }
}

/// Adds text to a streamed message, which consists of one block of Markdown.
fn extend(message: &mut Message, said: &str, new_block: &str) {
    message.text.push_str(&normalize(said));
    match message.blocks.first_mut() {
        Some(block) => block["text"] = json!(format!("{}{said}", block["text"].as_str().unwrap_or_default())),
        None if !said.is_empty() => {
            message.blocks.push(json!({ "type": "markdown", "block_id": new_block, "text": said }));
        }
        None => {}
    }
}
