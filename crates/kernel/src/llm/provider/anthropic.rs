//! Anthropic's Messages API.

use reqwest::RequestBuilder;
use reqwest::header::HeaderValue;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::llm::provider::draft::{Draft, Stop};
use crate::llm::provider::failure::ProviderError;
use crate::llm::provider::lenient::{read_if_fits, read_optional_count};
use crate::llm::provider::quirks::{Part, Without};
use crate::llm::provider::{Protocol, ReadError};
use crate::llm::{ModelMessage, ModelRequest, Picture};

/// The API version.
const VERSION: &str = "2023-06-01";

pub(super) struct Anthropic;

impl Protocol for Anthropic {
    fn path(&self) -> &'static str {
        "/messages"
    }

    fn sign(&self, request: RequestBuilder, key: &str) -> RequestBuilder {
        match HeaderValue::from_str(key) {
            Ok(mut value) => {
                value.set_sensitive(true);
                request.header("x-api-key", value)
            }
            // An invalid key makes the request fail to build. That error does not contain the key.
            Err(_) => request.header("x-api-key", key),
        }
        .header("anthropic-version", VERSION)
    }

    fn write_request(&self, _base_url: &str, model: &str, request: &ModelRequest, without: &Without) -> Value {
        let mut body = json!({
            "model": model,
            "max_tokens": request.max_output_tokens,
            "messages": write_messages(request),
            "stream": !without.has(Part::Stream),
        });
        if !request.system.is_empty() {
            // The cache marker covers everything before it, including the tools.
            body["system"] = json!([{"type": "text", "text": request.system, "cache_control": {"type": "ephemeral"}}]);
        }
        let mut tools: Vec<_> = request
            .tools
            .iter()
            .map(|tool| json!({"name": tool.name, "description": tool.description, "input_schema": tool.parameters}))
            .collect();
        if let Some(schema) = &request.schema {
            // A schema is sent as a tool that must be called. With other tools, the model chooses among them.
            tools.push(json!({"name": schema.name, "description": "Gives the answer.", "input_schema": schema.schema}));
            body["tool_choice"] =
                if request.tools.is_empty() { json!({"type": "tool", "name": schema.name}) } else { json!({"type": "any"}) };
        }
        if !tools.is_empty() {
            body["tools"] = tools.into();
        }
        body
    }

    fn read_event(&self, data: &str, draft: &mut Draft) -> Result<(), ReadError> {
        match draft.parse(data)? {
            Event::MessageStart { message } => count(message.usage, draft),
            Event::ContentBlockStart { index, content_block } => take_in(index, content_block, draft)?,
            Event::ContentBlockDelta { delta: Delta::Text { text }, .. } => draft.push_text(&text)?,
            Event::ContentBlockDelta { index, delta: Delta::InputJson { partial_json } } => {
                draft.push_call(index, None, None, &partial_json)?;
            }
            Event::ContentBlockDelta { delta: Delta::Thinking { thinking }, .. } => draft.push_reasoning(&thinking)?,
            Event::MessageDelta { delta, usage } => {
                count(usage, draft);
                stop(delta, draft)?;
            }
            Event::MessageStop => draft.end(),
            Event::Error => return Err(ProviderError::parse(data).into()),
            Event::ContentBlockDelta { delta: Delta::Other, .. } | Event::Other => {}
        }
        Ok(())
    }

    fn read_whole(&self, body: &str, draft: &mut Draft) -> Result<(), ReadError> {
        match draft.parse_whole(body)? {
            Whole::Error => Err(ProviderError::parse(body).into()),
            Whole::Message { content, end, usage } => {
                count(usage, draft);
                for (index, block) in (0..).zip(content) {
                    take_in(index, block, draft)?;
                }
                stop(end, draft)
            }
        }
    }
}

/// Converts messages to alternating turns. Tool results are user messages here. Consecutive messages of one side are merged, because all
/// results of a message's calls must be in the next message.
fn write_messages(request: &ModelRequest) -> Value {
    let mut turns: Vec<(&str, Vec<Value>)> = Vec::new();
    if !request.pictures.is_empty() {
        let picture = |picture: &Picture| json!({"type": "image", "source": {"type": "base64", "media_type": picture.media_type, "data": picture.base64()}});
        turns.push(("user", request.pictures.iter().map(picture).collect()));
    }
    for message in &request.messages {
        let (role, blocks) = write_blocks(message);
        match turns.last_mut() {
            Some((last, before)) if *last == role => before.extend(blocks),
            _ if blocks.is_empty() => {}
            _ => turns.push((role, blocks)),
        }
    }
    turns.into_iter().map(|(role, content)| json!({"role": role, "content": content})).collect()
}

/// The API rejects empty text blocks, so they are left out.
fn write_blocks(message: &ModelMessage) -> (&'static str, Vec<Value>) {
    let text_block = |text: &str| (!text.trim().is_empty()).then(|| json!({"type": "text", "text": text}));
    match message {
        ModelMessage::User(text) => ("user", text_block(text).into_iter().collect()),
        ModelMessage::Assistant { text, calls } => {
            let calls = calls.iter().map(|call| json!({"type": "tool_use", "id": call.id, "name": call.name, "input": call.arguments}));
            ("assistant", text_block(text).into_iter().chain(calls).collect())
        }
        ModelMessage::ToolResult { call, text } => ("user", vec![json!({"type": "tool_result", "tool_use_id": call, "content": text})]),
    }
}

#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Event {
    MessageStart {
        message: Start,
    },
    ContentBlockStart {
        index: u64,
        content_block: Block,
    },
    ContentBlockDelta {
        index: u64,
        delta: Delta,
    },
    MessageDelta {
        delta: End,
        #[serde(default, deserialize_with = "read_if_fits")]
        usage: Option<Usage>,
    },
    MessageStop,
    Error,
    /// `ping`, `content_block_stop`, and events of later versions.
    #[serde(other)]
    Other,
}

#[derive(Deserialize)]
struct Start {
    #[serde(default, deserialize_with = "read_if_fits")]
    usage: Option<Usage>,
}

#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Block {
    Text {
        text: String,
    },
    ToolUse {
        id: String,
        name: String,
        /// Empty in a stream, where the input follows in parts.
        #[serde(default)]
        input: Value,
    },
    #[serde(other)]
    Other,
}

#[derive(Deserialize)]
#[serde(tag = "type")]
enum Delta {
    #[serde(rename = "text_delta")]
    Text { text: String },
    #[serde(rename = "input_json_delta")]
    InputJson { partial_json: String },
    #[serde(rename = "thinking_delta")]
    Thinking { thinking: String },
    /// `signature_delta` and similar.
    #[serde(other)]
    Other,
}

#[derive(Deserialize)]
struct End {
    stop_reason: Option<String>,
    #[serde(default, deserialize_with = "read_if_fits")]
    stop_details: Option<StopDetails>,
}

/// Why the model refused.
#[derive(Deserialize)]
struct StopDetails {
    category: Option<String>,
    explanation: Option<String>,
}

#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Whole {
    Message {
        content: Vec<Block>,
        #[serde(flatten)]
        end: End,
        #[serde(default, deserialize_with = "read_if_fits")]
        usage: Option<Usage>,
    },
    Error,
}

/// Running totals. Missing values have not changed.
#[derive(Deserialize)]
struct Usage {
    /// Tokens neither read from nor written to the cache.
    #[serde(default, rename = "input_tokens", deserialize_with = "read_optional_count")]
    input: Option<u64>,
    #[serde(default, rename = "cache_creation_input_tokens", deserialize_with = "read_optional_count")]
    written_to_cache: Option<u64>,
    #[serde(default, rename = "cache_read_input_tokens", deserialize_with = "read_optional_count")]
    read_from_cache: Option<u64>,
    #[serde(default, rename = "output_tokens", deserialize_with = "read_optional_count")]
    output: Option<u64>,
}

fn count(usage: Option<Usage>, draft: &mut Draft) {
    let Some(usage) = usage else { return };
    let written = draft.cache_written_mut();
    *written = usage.written_to_cache.unwrap_or(*written);
    let written = *written;
    let total = draft.usage_mut();
    if let Some(input) = usage.input {
        total.cached = usage.read_from_cache.unwrap_or(total.cached);
        total.input = input + total.cached + written;
    }
    total.output = usage.output.unwrap_or(total.output);
}

fn take_in(index: u64, block: Block, draft: &mut Draft) -> Result<(), ReadError> {
    match block {
        Block::Text { text } => draft.push_text(&text)?,
        Block::ToolUse { id, name, input } => {
            let whole = input.as_object().filter(|input| !input.is_empty()).map(|_| input.to_string());
            draft.push_call(index, Some(&id), Some(&name), whole.as_deref().unwrap_or_default())?;
        }
        Block::Other => {}
    }
    Ok(())
}

fn stop(end: End, draft: &mut Draft) -> Result<(), ReadError> {
    match end.stop_reason.as_deref() {
        None => {}
        Some("max_tokens" | "model_context_window_exceeded") => draft.stop(Stop::Length),
        Some("refusal") => {
            let said = end.stop_details.and_then(|details| details.explanation.or(details.category));
            draft.block(&said.unwrap_or_default())?;
        }
        Some(_) => draft.stop(Stop::Done),
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llm::{AnswerSchema, ToolCall, ToolSpec};
    use crate::money::TokenUsage;

    #[test]
    fn a_request_is_worded_as_the_protocol_has_it() {
        let call = |id: &str| ToolCall { id: id.into(), name: "look".into(), arguments: json!({"at": 1}) };
        let result = |id: &str| ModelMessage::ToolResult { call: id.into(), text: "seen".into() };
        let request = ModelRequest {
            system: "Be short.".into(),
            messages: vec![
                ModelMessage::User("Hello".into()),
                ModelMessage::Assistant { text: " ".into(), calls: vec![call("c1"), call("c2")] },
                result("c1"),
                result("c2"),
                ModelMessage::User("And now?".into()),
            ],
            pictures: Vec::new(),
            tools: vec![ToolSpec { name: "look".into(), description: "Looks.".into(), parameters: json!({"type": "object"}) }],
            named_tools: Vec::new(),
            schema: None,
            max_output_tokens: 9,
        };
        let expected = json!({
            "model": "m",
            "max_tokens": 9,
            "stream": true,
            "system": [{"type": "text", "text": "Be short.", "cache_control": {"type": "ephemeral"}}],
            "messages": [
                {"role": "user", "content": [{"type": "text", "text": "Hello"}]},
                {"role": "assistant", "content": [
                    {"type": "tool_use", "id": "c1", "name": "look", "input": {"at": 1}},
                    {"type": "tool_use", "id": "c2", "name": "look", "input": {"at": 1}},
                ]},
                {"role": "user", "content": [
                    {"type": "tool_result", "tool_use_id": "c1", "content": "seen"},
                    {"type": "tool_result", "tool_use_id": "c2", "content": "seen"},
                    {"type": "text", "text": "And now?"},
                ]},
            ],
            "tools": [{"name": "look", "description": "Looks.", "input_schema": {"type": "object"}}],
        });
        assert_eq!(Anthropic.write_request("", "m", &request, &Without::default()), expected);
    }

    #[test]
    fn pictures_stand_before_the_first_text() {
        let pictures =
            vec![Picture { name: "plan.png".into(), media_type: "image/png", bytes: std::sync::Arc::new(vec![1, 2, 3]), is_meant: true }];
        let request = ModelRequest { messages: vec![ModelMessage::User("Look!".into())], pictures, ..ModelRequest::default() };
        let expected = json!([{"role": "user", "content": [
            {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AQID"}},
            {"type": "text", "text": "Look!"},
        ]}]);
        assert_eq!(Anthropic.write_request("", "m", &request, &Without::default())["messages"], expected);
    }

    #[test]
    fn a_schema_is_a_tool_that_has_to_be_called() {
        let schema = Some(AnswerSchema { name: "Plan".into(), schema: json!({"type": "object"}) });
        let body = Anthropic.write_request("", "m", &ModelRequest { schema, ..ModelRequest::default() }, &Without::default());
        assert_eq!(body["tool_choice"], json!({"type": "tool", "name": "Plan"}));
        assert_eq!(body["tools"][0]["input_schema"], json!({"type": "object"}));
    }

    #[test]
    fn an_answer_in_one_piece_may_call_tools() {
        let tools = vec![ToolSpec { name: "look".into(), description: String::new(), parameters: json!({}) }];
        let request = ModelRequest { tools, ..ModelRequest::default() };
        let mut draft = Draft::new("p", &request);
        let content = json!([{"type": "text", "text": "I look."}, {"type": "tool_use", "id": "c1", "name": "look", "input": {"at": 1}}]);
        let body =
            json!({"type": "message", "content": content, "stop_reason": "tool_use", "usage": {"input_tokens": 3, "output_tokens": 4}});
        assert!(Anthropic.read_whole(&body.to_string(), &mut draft).is_ok());
        let reply = draft.take_reply("m").expect("an answer");
        assert_eq!((reply.text.as_str(), reply.usage.total()), ("I look.", 7));
        assert_eq!(reply.calls, [ToolCall { id: "c1".into(), name: "look".into(), arguments: json!({"at": 1}) }]);
    }

    #[test]
    fn thinking_and_unknown_events_are_passed_over_and_tokens_add_up() {
        let request = ModelRequest::default();
        let mut draft = Draft::new("p", &request);
        for event in [
            r#"{"type":"message_start","message":{"usage":{"input_tokens":10,"cache_creation_input_tokens":20,"cache_read_input_tokens":70,"output_tokens":1}}}"#,
            r#"{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":""}}"#,
            r#"{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"Hm."}}"#,
            r#"{"type":"an_event_of_next_year","content":[]}"#,
            r#"{"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"Yes."}}"#,
            r#"{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":12}}"#,
            r#"{"type":"message_stop"}"#,
        ] {
            assert!(Anthropic.read_event(event, &mut draft).is_ok(), "{event}");
        }
        let reply = draft.take_reply("m").expect("an answer");
        assert_eq!((reply.text.as_str(), reply.usage), ("Yes.", TokenUsage { input: 100, cached: 70, output: 12 }));
    }
}
