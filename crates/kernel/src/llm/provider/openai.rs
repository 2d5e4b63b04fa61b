//! OpenAI's chat completions API, which most other servers support too.

use reqwest::RequestBuilder;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::llm::provider::draft::{Draft, Stop};
use crate::llm::provider::failure::ProviderError;
use crate::llm::provider::lenient::{read_count, read_if_fits, read_json_text, read_optional_count, read_text};
use crate::llm::provider::quirks::{Part, Without};
use crate::llm::provider::{Protocol, ReadError};
use crate::llm::{ModelMessage, ModelRequest, Picture, ToolCall};
use crate::money::TokenUsage;

pub(super) struct OpenAi;

impl Protocol for OpenAi {
    fn path(&self) -> &'static str {
        "/chat/completions"
    }

    fn sign(&self, request: RequestBuilder, key: &str) -> RequestBuilder {
        request.bearer_auth(key)
    }

    fn write_request(&self, base_url: &str, model: &str, request: &ModelRequest, without: &Without) -> Value {
        let system = (!request.system.is_empty()).then(|| json!({"role": "system", "content": request.system}));
        let mut messages: Vec<_> = request.messages.iter().map(write_message).collect();
        if let Some(first) = messages.first_mut().filter(|_| !request.pictures.is_empty()) {
            first["content"] = with_pictures(&first["content"], &request.pictures);
        }
        let messages: Vec<_> = system.into_iter().chain(messages).collect();
        let mut body = json!({
            "model": model,
            "messages": messages,
            "stream": !without.has(Part::Stream),
        });
        if !without.has(Part::Stream) && !without.has(Part::StreamOptions) {
            body["stream_options"] = json!({"include_usage": true});
        }
        // OpenAI's newer models reject `max_tokens`; most other servers support only that.
        let is_new = base_url.contains("//api.openai.com") != without.has(Part::Limit);
        let limit = if is_new { "max_completion_tokens" } else { "max_tokens" };
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

    fn read_event(&self, data: &str, draft: &mut Draft) -> Result<(), ReadError> {
        if data.trim() == "[DONE]" {
            draft.end();
            return Ok(());
        }
        let chunk: Completion = draft.parse(data)?;
        if chunk.is_error() {
            return Err(ProviderError::parse(data).into());
        }
        take_in(chunk, draft)
    }

    fn read_whole(&self, body: &str, draft: &mut Draft) -> Result<(), ReadError> {
        let completion: Completion = draft.parse_whole(body)?;
        if completion.is_error() {
            return Err(ProviderError::parse(body).into());
        }
        if completion.prompt_feedback.is_none() && completion.choices.as_ref().is_none_or(Vec::is_empty) {
            return Err(draft.garbled("it has no choices").into());
        }
        take_in(completion, draft)
    }
}

/// A text with pictures, as parts.
fn with_pictures(text: &Value, pictures: &[Picture]) -> Value {
    let picture = |picture: &Picture| {
        let url = format!("data:{};base64,{}", picture.media_type, picture.base64());
        json!({"type": "image_url", "image_url": {"url": url}})
    };
    std::iter::once(json!({"type": "text", "text": text})).chain(pictures.iter().map(picture)).collect()
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

/// A complete response or a chunk. Servers send `null` for missing values.
#[derive(Deserialize)]
struct Completion {
    #[serde(default, deserialize_with = "read_if_fits")]
    choices: Option<Vec<Choice>>,
    #[serde(default, deserialize_with = "read_if_fits")]
    usage: Option<Usage>,
    /// Gemini's reason for blocking a prompt, which then has no choices.
    #[serde(default, alias = "promptFeedback", deserialize_with = "read_if_fits")]
    prompt_feedback: Option<PromptFeedback>,
    error: Option<Value>,
    /// vLLM's errors: `{"object": "error", "message": …}`.
    object: Option<Value>,
}

impl Completion {
    fn is_error(&self) -> bool {
        let says_something = |error: &Value| {
            error.as_object().map_or_else(|| error.as_str().is_some_and(|text| !text.is_empty()), |error| !error.is_empty())
        };
        self.error.as_ref().is_some_and(says_something) || self.object.as_ref().is_some_and(|object| object == "error")
    }
}

#[derive(Deserialize)]
struct PromptFeedback {
    #[serde(alias = "blockReason")]
    block_reason: String,
}

#[derive(Deserialize)]
struct Choice {
    #[serde(alias = "message")]
    delta: Option<Delta>,
    #[serde(default, deserialize_with = "read_text")]
    finish_reason: Option<String>,
    /// The reason of the model behind a router.
    #[serde(default, deserialize_with = "read_text")]
    native_finish_reason: Option<String>,
}

#[derive(Deserialize)]
struct Delta {
    #[serde(default, deserialize_with = "read_text")]
    content: Option<String>,
    /// `DeepSeek`, vLLM, llama.cpp and LM Studio; then Ollama, `OpenRouter` and Groq.
    #[serde(default, deserialize_with = "read_text")]
    reasoning_content: Option<String>,
    #[serde(default, deserialize_with = "read_text")]
    reasoning: Option<String>,
    #[serde(default, deserialize_with = "read_text")]
    refusal: Option<String>,
    #[serde(default)]
    tool_calls: Option<Vec<CallDelta>>,
}

#[derive(Deserialize)]
struct CallDelta {
    /// Missing in complete responses.
    #[serde(default, deserialize_with = "read_optional_count")]
    index: Option<u64>,
    #[serde(default, deserialize_with = "read_text")]
    id: Option<String>,
    function: Option<FunctionDelta>,
}

#[derive(Deserialize)]
struct FunctionDelta {
    #[serde(default, deserialize_with = "read_text")]
    name: Option<String>,
    #[serde(default, deserialize_with = "read_json_text")]
    arguments: Option<String>,
}

#[derive(Deserialize)]
struct Usage {
    #[serde(default, deserialize_with = "read_count")]
    prompt_tokens: u64,
    #[serde(default, deserialize_with = "read_count")]
    completion_tokens: u64,
    #[serde(default, deserialize_with = "read_if_fits")]
    prompt_tokens_details: Option<PromptDetails>,
    /// `DeepSeek`'s name for cached tokens.
    #[serde(default, deserialize_with = "read_optional_count")]
    prompt_cache_hit_tokens: Option<u64>,
}

#[derive(Deserialize)]
struct PromptDetails {
    #[serde(default, deserialize_with = "read_optional_count")]
    cached_tokens: Option<u64>,
}

fn take_in(chunk: Completion, draft: &mut Draft) -> Result<(), ReadError> {
    if let Some(usage) = chunk.usage {
        let cached = usage.prompt_tokens_details.and_then(|details| details.cached_tokens).or(usage.prompt_cache_hit_tokens);
        *draft.usage_mut() = TokenUsage { input: usage.prompt_tokens, cached: cached.unwrap_or_default(), output: usage.completion_tokens };
    }
    if let Some(PromptFeedback { block_reason }) = chunk.prompt_feedback {
        return Ok(draft.block(&in_plain_words(&block_reason))?);
    }
    let Some(choice) = chunk.choices.into_iter().flatten().next() else { return Ok(()) };
    if let Some(delta) = choice.delta {
        draft.push_text(delta.content.as_deref().unwrap_or_default())?;
        draft.push_reasoning(delta.reasoning_content.or(delta.reasoning).as_deref().unwrap_or_default())?;
        for (position, call) in (0..).zip(delta.tool_calls.unwrap_or_default()) {
            let (name, arguments) = call.function.map_or((None, None), |function| (function.name, function.arguments));
            let index = call.index.unwrap_or(position);
            draft.push_call(index, call.id.as_deref(), name.as_deref(), arguments.as_deref().unwrap_or_default())?;
        }
        if let Some(refusal) = delta.refusal.filter(|refusal| !refusal.is_empty()) {
            return Ok(draft.block(&refusal)?);
        }
    }
    let reason = choice.finish_reason.map(|reason| reason.to_lowercase());
    if let Some(objection) = reason.as_deref().and_then(find_objection) {
        let native = choice.native_finish_reason.as_deref().and_then(find_objection).filter(|_| objection.is_empty());
        return Ok(draft.block(&native.unwrap_or(objection))?);
    }
    match reason.as_deref() {
        None => {}
        Some("length" | "max_tokens" | "model_length") => draft.stop(Stop::Length),
        Some("error") => return Err(ProviderError::parse("the upstream model failed").into()),
        // "stop", "tool_calls", and names that servers invent. An earlier refusal is kept.
        Some(_) if draft.has_stopped() => {}
        Some(_) => draft.stop(Stop::Done),
    }
    Ok(())
}

/// Reasons of Gemini, Bedrock, GLM and routers for blocking an answer, in lower case, besides `content_filter`.
const BLOCKING: [&str; 10] = [
    "safety",
    "image_safety",
    "prohibited_content",
    "blocklist",
    "spii",
    "recitation",
    "refusal",
    "content_filtered",
    "guardrail_intervened",
    "sensitive",
];

/// What a finish reason says about blocked content: nothing in `content_filter`, and more in `content_filter: PROHIBITED_CONTENT`. None: not blocked.
fn find_objection(reason: &str) -> Option<String> {
    let reason = reason.to_lowercase();
    let more = reason.strip_prefix("content_filter").map(|more| more.trim_start_matches([':', ' ']));
    match more {
        Some(more) if !more.starts_with("ed") => Some(in_plain_words(more)),
        _ => BLOCKING.contains(&reason.as_str()).then(|| in_plain_words(&reason)),
    }
}

/// `PROHIBITED_CONTENT` as people write it.
fn in_plain_words(code: &str) -> String {
    code.to_lowercase().replace('_', " ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llm::{AnswerSchema, ModelError, ModelReply, ToolSpec};

    fn request() -> ModelRequest {
        ModelRequest {
            system: "Be short.".into(),
            messages: vec![ModelMessage::User("Hello".into())],
            tools: vec![ToolSpec { name: "look".into(), description: "Looks.".into(), parameters: json!({"type": "object"}) }],
            max_output_tokens: 9,
            ..ModelRequest::default()
        }
    }

    fn read(events: &[&str]) -> Result<ModelReply, ModelError> {
        let request = request();
        let mut draft = Draft::new("p", &request);
        for event in events {
            match OpenAi.read_event(event, &mut draft) {
                Ok(()) => {}
                Err(ReadError::Unreadable(error)) => return Err(error),
                Err(ReadError::Reported(reported)) => return Err(reported.in_stream("p", None)),
            }
        }
        draft.take_reply("m")
    }

    #[test]
    fn a_request_is_worded_as_the_protocol_has_it() {
        let mut request = request();
        let call = ToolCall { id: "c1".into(), name: "look".into(), arguments: json!({"at": 1}) };
        request.messages.push(ModelMessage::Assistant { text: String::new(), calls: vec![call] });
        request.messages.push(ModelMessage::ToolResult { call: "c1".into(), text: "seen".into() });
        request.schema = Some(AnswerSchema { name: "Plan".into(), schema: json!({"type": "object"}) });
        let expected = json!({
            "model": "m",
            "messages": [
                {"role": "system", "content": "Be short."},
                {"role": "user", "content": "Hello"},
                {"role": "assistant", "content": null, "tool_calls": [
                    {"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{\"at\":1}"}},
                ]},
                {"role": "tool", "tool_call_id": "c1", "content": "seen"},
            ],
            "stream": true,
            "stream_options": {"include_usage": true},
            "max_tokens": 9,
            "tools": [{"type": "function", "function": {"name": "look", "description": "Looks.", "parameters": {"type": "object"}}}],
            "response_format": {"type": "json_schema", "json_schema": {"name": "Plan", "schema": {"type": "object"}}},
        });
        assert_eq!(OpenAi.write_request("http://127.0.0.1:11434/v1", "m", &request, &Without::default()), expected);
        let limit = &OpenAi.write_request("https://api.openai.com/v1", "m", &request, &Without::default())["max_completion_tokens"];
        assert_eq!(*limit, 9);
    }

    #[test]
    fn pictures_are_parts_of_the_first_message() {
        let pictures =
            vec![Picture { name: "plan.png".into(), media_type: "image/png", bytes: std::sync::Arc::new(vec![1, 2, 3]), is_meant: true }];
        let request = ModelRequest { pictures, ..request() };
        let expected =
            json!([{"type": "text", "text": "Hello"}, {"type": "image_url", "image_url": {"url": "data:image/png;base64,AQID"}}]);
        assert_eq!(OpenAi.write_request("", "m", &request, &Without::default())["messages"][1]["content"], expected);
    }

    #[test]
    fn a_server_that_sends_nulls_and_no_reason_is_understood() {
        let reply = read(&[
            r#"{"choices":[{"delta":{"content":"Hi","refusal":null,"tool_calls":null},"finish_reason":null}],"usage":null,"error":null}"#,
            r#"{"choices":[],"usage":{"prompt_tokens":7,"completion_tokens":1,"prompt_cache_hit_tokens":5}}"#,
            "[DONE]",
        ])
        .expect("an answer");
        assert_eq!((reply.text.as_str(), reply.usage), ("Hi", TokenUsage { input: 7, cached: 5, output: 1 }));
    }

    #[test]
    fn an_answer_in_one_piece_may_call_tools_and_needs_a_choice() {
        let whole = |body: &str| {
            let request = request();
            let mut draft = Draft::new("p", &request);
            OpenAi.read_whole(body, &mut draft).ok()?;
            draft.take_reply("m").ok()
        };
        let call = |id: &str| json!({"id": id, "type": "function", "function": {"name": "look", "arguments": "{}"}});
        let message = json!({"role": "assistant", "content": null, "tool_calls": [call("a"), call("b")]});
        let body = json!({"choices": [{"message": message, "finish_reason": "tool_calls"}]});
        let reply = whole(&body.to_string()).expect("calls");
        assert_eq!(reply.calls.iter().map(|call| call.id.as_str()).collect::<Vec<_>>(), ["a", "b"]);
        for bad in ["{}", r#"{"choices":[]}"#, "[]", "null", r#"{"choices":[{}]}"#] {
            assert_eq!(whole(bad), None, "{bad}");
        }
    }

    #[test]
    fn two_calls_of_one_index_are_two_calls() {
        let reply = read(&[
            r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"look","arguments":"{\"n\":1}"}}]}}]}"#,
            r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"b","function":{"name":"look","arguments":"{\"n\""}}]}}]}"#,
            r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":":2}"}}]},"finish_reason":"tool_calls"}]}"#,
        ])
        .expect("calls");
        let calls: Vec<_> = reply.calls.iter().map(|call| (call.id.as_str(), call.arguments["n"].as_u64())).collect();
        assert_eq!(calls, [("a", Some(1)), ("b", Some(2))]);
    }

    #[test]
    fn a_refusal_stays_one_though_the_model_stops_well() {
        let refusal = read(&[
            r#"{"choices":[{"delta":{"refusal":"I cannot help with that."}}]}"#,
            r#"{"choices":[{"delta":{},"finish_reason":"stop"}]}"#,
        ]);
        assert_eq!(refusal, Err(ModelError::Declined { provider: "p".into(), said: Some("I cannot help with that.".into()) }));
    }

    #[test]
    fn a_blocked_answer_is_known_by_every_name_of_a_filter() {
        for (event, said) in [
            (r#"{"choices":[{"delta":{},"finish_reason":"content_filter"}]}"#, None),
            (r#"{"choices":[{"delta":{},"finish_reason":"content_filter: PROHIBITED_CONTENT"}]}"#, Some("prohibited content")),
            (r#"{"choices":[{"delta":{},"finish_reason":"content_filter","native_finish_reason":"SAFETY"}]}"#, Some("safety")),
            (r#"{"choices":[{"delta":{},"finish_reason":"content_filtered"}]}"#, Some("content filtered")),
            (r#"{"choices":[{"delta":{},"finish_reason":"SAFETY"}]}"#, Some("safety")),
            (r#"{"choices":null,"promptFeedback":{"blockReason":"BLOCKLIST"}}"#, Some("blocklist")),
        ] {
            let declined = ModelError::Declined { provider: "p".into(), said: said.map(str::to_owned) };
            assert_eq!(read(&[event, "[DONE]"]), Err(declined), "{event}");
        }
    }

    #[test]
    fn an_error_of_a_router_inside_the_stream_is_seen() {
        let busy = read(&[r#"{"error":{"code":502,"message":"upstream"},"choices":[{"delta":{"content":""},"finish_reason":"error"}]}"#]);
        assert!(matches!(busy, Err(ModelError::Busy { .. })), "{busy:?}");
    }
}
