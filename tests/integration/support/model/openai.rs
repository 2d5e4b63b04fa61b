use axum::http::HeaderMap;
use kernel::llm::settings::ProviderKind;
use serde_json::{Value, json};

use super::script::{Answer, Stop};
use super::{Asked, Said, list, text_of};

pub(super) fn read_request(headers: &HeaderMap, body: Value) -> Result<Asked, String> {
    if text_of(&body, "model").is_empty() {
        return Err("you must provide a model parameter".to_owned());
    }
    let mut messages: Vec<Said> = list(&body, "messages").map(read_message).collect();
    let system = if messages.first().is_some_and(|said| said.role == "system") { messages.remove(0).text } else { String::new() };
    let is_bad = |part: &Value| part["type"] == "image_url" && !is_picture(text_of(&part["image_url"], "url"));
    if list(&body, "messages").flat_map(|message| list(message, "content")).any(is_bad) {
        return Err("invalid image".to_owned());
    }
    if messages.is_empty() {
        return Err("messages: too short".to_owned());
    }
    let key = headers.get("authorization").and_then(|value| value.to_str().ok()).and_then(|value| value.strip_prefix("Bearer "));
    Ok(Asked {
        number: 0,
        protocol: ProviderKind::OpenAi,
        model: text_of(&body, "model").to_owned(),
        system,
        messages,
        tools: list(&body, "tools").map(|tool| text_of(&tool["function"], "name").to_owned()).collect(),
        schema: body.pointer("/response_format/json_schema/schema").cloned(),
        stream: body["stream"] == true,
        key: key.map(str::to_owned),
        body,
    })
}

fn is_picture(url: &str) -> bool {
    ["png", "jpeg", "gif", "webp"].iter().any(|kind| url.starts_with(&format!("data:image/{kind};base64,")))
}

fn read_message(message: &Value) -> Said {
    let calls = list(message, "tool_calls").map(|call| format!("{}({})", call["function"]["name"], call["function"]["arguments"]));
    let parts = list(message, "content").map(|part| text_of(part, "text").to_owned());
    let text = std::iter::once(text_of(message, "content").to_owned()).chain(parts).chain(calls).collect::<Vec<_>>().join("\n");
    Said { role: text_of(message, "role").to_owned(), text: text.trim().to_owned() }
}

fn finish_reason(answer: &Answer) -> &'static str {
    match answer.stop {
        Stop::Length => "length",
        Stop::Filtered => "content_filter",
        Stop::Done if answer.call.is_some() => "tool_calls",
        Stop::Done => "stop",
    }
}

fn usage(answer: &Answer) -> Value {
    let counted = answer.counted;
    json!({
        "prompt_tokens": counted.input,
        "completion_tokens": counted.output,
        "total_tokens": counted.input + counted.output,
        "prompt_tokens_details": {"cached_tokens": counted.cached},
    })
}

/// A structured answer is plain text in this protocol.
fn text(answer: &Answer) -> String {
    answer.json.as_ref().map_or_else(|| answer.pieces.concat(), Value::to_string)
}

pub(super) fn whole(asked: &Asked, answer: &Answer) -> Value {
    let mut message = json!({"role": "assistant", "content": text(answer)});
    if let Some((tool, arguments)) = &answer.call {
        message["tool_calls"] =
            json!([{"id": "call_1", "type": "function", "function": {"name": tool, "arguments": arguments.to_string()}}]);
    }
    json!({
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": asked.model,
        "choices": [{"index": 0, "message": message, "finish_reason": finish_reason(answer)}],
        "usage": usage(answer),
    })
}

pub(super) fn frames(asked: &Asked, answer: &Answer) -> Vec<String> {
    let choice = |delta: Value, finish: Value| json!([{"index": 0, "delta": delta, "finish_reason": finish}]);
    let mut choices = vec![choice(json!({"role": "assistant", "content": ""}), Value::Null)];
    let pieces = if answer.json.is_some() { vec![text(answer)] } else { answer.pieces.clone() };
    choices.extend(pieces.into_iter().map(|piece| choice(json!({"content": piece}), Value::Null)));
    if let Some((tool, arguments)) = &answer.call {
        let arguments = arguments.to_string();
        let (first, second) = arguments.split_at(arguments.floor_char_boundary(arguments.len() / 2));
        let function = json!({"index": 0, "id": "call_1", "type": "function", "function": {"name": tool, "arguments": ""}});
        choices.push(choice(json!({"tool_calls": [function]}), Value::Null));
        for part in [first, second] {
            choices.push(choice(json!({"tool_calls": [{"index": 0, "function": {"arguments": part}}]}), Value::Null));
        }
    }
    choices.push(choice(json!({}), finish_reason(answer).into()));
    let counts = asked.body["stream_options"]["include_usage"] == true;
    let last = counts.then(|| (json!([]), usage(answer)));
    let chunks = choices.into_iter().map(|choices| (choices, Value::Null)).chain(last).map(|(choices, usage)| {
        let chunk = json!({
            "id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": asked.model, "choices": choices, "usage": usage,
        });
        format!("data: {chunk}\n\n")
    });
    chunks.chain(["data: [DONE]\n\n".to_owned()]).collect()
}
