//! Chat completions, as OpenAI defined them and most other servers speak them.

use reqwest::RequestBuilder;
use serde::Deserialize;
use serde_json::{Value, json};

use super::draft::{Draft, Stop};
use super::failure::Complaint;
use super::{Protocol, Trouble};
use crate::domain::usage::TokenUsage;
use crate::llm::{ModelMessage, ModelRequest, ToolCall};

pub(super) struct OpenAi;

impl Protocol for OpenAi {
    fn path(&self) -> &'static str {
        "/chat/completions"
    }

    fn sign(&self, request: RequestBuilder, key: &str) -> RequestBuilder {
        request.bearer_auth(key)
    }

    fn write_request(&self, base_url: &str, model: &str, request: &ModelRequest) -> Value {
        let system = (!request.system.is_empty()).then(|| json!({"role": "system", "content": request.system}));
        let messages: Vec<_> = system.into_iter().chain(request.messages.iter().map(write_message)).collect();
        let mut body = json!({
            "model": model,
            "messages": messages,
            "stream": true,
            "stream_options": {"include_usage": true},
        });
        // OpenAI's newer models refuse `max_tokens`; most other servers know nothing else.
        let limit = if base_url.contains("//api.openai.com") { "max_completion_tokens" } else { "max_tokens" };
        body[limit] = request.max_output_tokens.into();
        if !request.tools.is_empty() {
            body["tools"] = request
                .tools
                .iter()
                .map(|tool| json!({"type": "function", "function": {"name": tool.name, "description": tool.description, "parameters": tool.parameters}}))
                .collect();
        }
        if let Some(schema) = &request.schema {
            body["response_format"] = json!({"type": "json_schema", "json_schema": {"name": schema.name, "schema": schema.schema}});
        }
        body
    }

    fn read_event(&self, data: &str, draft: &mut Draft) -> Result<(), Trouble> {
        if data.trim() == "[DONE]" {
            draft.end();
            return Ok(());
        }
        let chunk: Completion = draft.parse(data)?;
        if chunk.error.is_some() {
            return Err(Trouble::Reported(Complaint::parse(data)));
        }
        take_in(chunk, draft)
    }

    fn read_whole(&self, body: &str, draft: &mut Draft) -> Result<(), Trouble> {
        let completion: Completion = draft.parse(body)?;
        if completion.error.is_some() {
            return Err(Trouble::Reported(Complaint::parse(body)));
        }
        if completion.choices.is_empty() {
            return Err(draft.garbled("it has no choices").into());
        }
        take_in(completion, draft)
    }
}

fn write_message(message: &ModelMessage) -> Value {
    match message {
        ModelMessage::User(text) => json!({"role": "user", "content": text}),
        ModelMessage::Assistant { text, calls } if calls.is_empty() => json!({"role": "assistant", "content": text}),
        ModelMessage::Assistant { text, calls } => {
            let content = if text.is_empty() { Value::Null } else { text.as_str().into() };
            json!({"role": "assistant", "content": content, "tool_calls": calls.iter().map(write_call).collect::<Vec<_>>()})
        }
        ModelMessage::ToolResult { call, text } => json!({"role": "tool", "tool_call_id": call, "content": text}),
    }
}

fn write_call(call: &ToolCall) -> Value {
    json!({"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments.to_string()}})
}

/// A whole completion or a chunk of one. Servers send `null` for what they leave out.
#[derive(Deserialize)]
struct Completion {
    #[serde(default)]
    choices: Vec<Choice>,
    usage: Option<Usage>,
    error: Option<Value>,
}

#[derive(Deserialize)]
struct Choice {
    #[serde(alias = "message")]
    delta: Option<Delta>,
    finish_reason: Option<String>,
}

#[derive(Deserialize)]
struct Delta {
    content: Option<String>,
    refusal: Option<String>,
    tool_calls: Option<Vec<CallDelta>>,
}

#[derive(Deserialize)]
struct CallDelta {
    /// Missing in whole answers and in the streams of some local servers, which send each call in one piece.
    index: Option<u64>,
    id: Option<String>,
    function: Option<FunctionDelta>,
}

#[derive(Deserialize)]
struct FunctionDelta {
    name: Option<String>,
    arguments: Option<String>,
}

#[derive(Deserialize)]
struct Usage {
    #[serde(default)]
    prompt_tokens: u64,
    #[serde(default)]
    completion_tokens: u64,
    prompt_tokens_details: Option<PromptDetails>,
    /// DeepSeek's name for cached tokens.
    prompt_cache_hit_tokens: Option<u64>,
}

#[derive(Deserialize)]
struct PromptDetails {
    cached_tokens: Option<u64>,
}

fn take_in(chunk: Completion, draft: &mut Draft) -> Result<(), Trouble> {
    if let Some(usage) = chunk.usage {
        let cached = usage.prompt_tokens_details.and_then(|details| details.cached_tokens).or(usage.prompt_cache_hit_tokens);
        *draft.usage_mut() = TokenUsage { input: usage.prompt_tokens, cached: cached.unwrap_or_default(), output: usage.completion_tokens };
    }
    let Some(choice) = chunk.choices.into_iter().next() else { return Ok(()) };
    if let Some(delta) = choice.delta {
        draft.push_text(delta.content.as_deref().unwrap_or_default())?;
        for (position, call) in (0..).zip(delta.tool_calls.unwrap_or_default()) {
            let (name, arguments) = call.function.map_or((None, None), |function| (function.name, function.arguments));
            let index = call.index.unwrap_or(position);
            draft.push_call(index, call.id.as_deref(), name.as_deref(), arguments.as_deref().unwrap_or_default())?;
        }
        if delta.refusal.is_some_and(|refusal| !refusal.is_empty()) {
            draft.stop(Stop::Filtered);
            return Ok(());
        }
    }
    match choice.finish_reason.as_deref() {
        None => {}
        Some("length") => draft.stop(Stop::Length),
        Some("content_filter") => draft.stop(Stop::Filtered),
        Some("error") => return Err(Trouble::Reported(Complaint::parse("the upstream model failed"))),
        // "stop", "tool_calls", and whatever servers make up. A refusal that came before stays one.
        Some(_) if draft.has_stopped() => {}
        Some(_) => draft.stop(Stop::Done),
    }
    Ok(())
}
