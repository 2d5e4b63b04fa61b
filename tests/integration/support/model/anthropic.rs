use axum::http::HeaderMap;
use kernel::llm::settings::ProviderKind;
use serde_json::{Value, json};

use super::script::{Answer, Stop};
use super::{Asked, Said, list, text_of};

pub(super) fn read_request(headers: &HeaderMap, body: Value) -> Result<Asked, String> {
    let header = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).map(str::to_owned);
    if header("anthropic-version").is_none() {
        return Err("anthropic-version: header is required".to_owned());
    }
    if body["max_tokens"].as_u64().is_none_or(|tokens| tokens == 0) {
        return Err("max_tokens: Field required".to_owned());
    }
    check_messages(&body)?;
    let answer_tool = find_answer_tool(&body);
    let tools = list(&body, "tools").filter(|tool| Some(*tool) != answer_tool);
    Ok(Asked {
        number: 0,
        protocol: ProviderKind::Anthropic,
        model: text_of(&body, "model").to_owned(),
        system: list(&body, "system").map(|block| text_of(block, "text")).collect(),
        messages: list(&body, "messages").map(read_message).collect(),
        tools: tools.map(|tool| text_of(tool, "name").to_owned()).collect(),
        schema: answer_tool.map(|tool| tool["input_schema"].clone()),
        stream: body["stream"] == true,
        key: header("x-api-key"),
        body,
    })
}

/// The tool for a schema: the one that must be called, or the last one if any tool must be called.
fn find_answer_tool(body: &Value) -> Option<&Value> {
    match text_of(&body["tool_choice"], "type") {
        "tool" => list(body, "tools").find(|tool| tool["name"] == body["tool_choice"]["name"]),
        "any" => list(body, "tools").last(),
        _ => None,
    }
}

/// Checks rules of the real API that are easily violated.
fn check_messages(body: &Value) -> Result<(), String> {
    let roles: Vec<&str> = list(body, "messages").map(|message| text_of(message, "role")).collect();
    if roles.first() != Some(&"user") {
        return Err("messages: first message must use the \"user\" role".to_owned());
    }
    if roles.windows(2).any(|pair| pair[0] == pair[1]) {
        return Err("messages: roles must alternate".to_owned());
    }
    let mut pictures = list(body, "messages").flat_map(|message| list(message, "content")).filter(|block| block["type"] == "image");
    let is_picture = |block: &Value| {
        let kinds = ["image/png", "image/jpeg", "image/gif", "image/webp"];
        block["source"]["type"] == "base64"
            && kinds.contains(&text_of(&block["source"], "media_type"))
            && block["source"]["data"].is_string()
    };
    if !pictures.all(is_picture) {
        return Err("messages: image: could not process image".to_owned());
    }
    let mut blocks = list(body, "messages").flat_map(|message| list(message, "content"));
    if blocks.any(|block| block["type"] == "text" && text_of(block, "text").trim().is_empty()) {
        return Err("messages: text content blocks must be non-empty".to_owned());
    }
    Ok(())
}

fn read_message(message: &Value) -> Said {
    let text = list(message, "content").map(|block| match text_of(block, "type") {
        "tool_use" => format!("{}({})", block["name"], block["input"]),
        "tool_result" => text_of(block, "content").to_owned(),
        _ => text_of(block, "text").to_owned(),
    });
    Said { role: text_of(message, "role").to_owned(), text: text.collect::<Vec<_>>().join("\n") }
}

fn stop_reason(answer: &Answer) -> &'static str {
    match answer.stop {
        Stop::Length => "max_tokens",
        Stop::Filtered => "refusal",
        Stop::Done if answer.call.is_some() || answer.json.is_some() => "tool_use",
        Stop::Done => "end_turn",
    }
}

/// The usage without output tokens, which are counted at the end.
fn input_usage(answer: &Answer) -> Value {
    let counted = answer.counted;
    json!({
        "input_tokens": counted.input - counted.cached - counted.cache_written,
        "cache_read_input_tokens": counted.cached,
        "cache_creation_input_tokens": counted.cache_written,
        "output_tokens": 1,
    })
}

/// The tool call of an answer. A structured answer is a call of the schema's tool, or text without one.
fn call(asked: &Asked, answer: &Answer) -> Option<(String, Value)> {
    let structured = answer.json.clone().zip(find_answer_tool(&asked.body)).map(|(json, tool)| (text_of(tool, "name").to_owned(), json));
    answer.call.clone().or(structured)
}

fn pieces(asked: &Asked, answer: &Answer) -> Vec<String> {
    match &answer.json {
        Some(json) if asked.schema.is_none() => vec![json.to_string()],
        _ => answer.pieces.clone(),
    }
}

pub(super) fn whole(asked: &Asked, answer: &Answer) -> Value {
    let text = pieces(asked, answer).concat();
    let text = (!text.is_empty()).then(|| json!({"type": "text", "text": text}));
    let call = call(asked, answer).map(|(name, input)| json!({"type": "tool_use", "id": "toolu_1", "name": name, "input": input}));
    let mut usage = input_usage(answer);
    usage["output_tokens"] = answer.counted.output.into();
    json!({
        "id": "msg_1", "type": "message", "role": "assistant", "model": asked.model,
        "content": text.into_iter().chain(call).collect::<Vec<_>>(),
        "stop_reason": stop_reason(answer), "stop_sequence": null, "usage": usage,
    })
}

pub(super) fn frames(asked: &Asked, answer: &Answer) -> Vec<String> {
    let message = json!({
        "id": "msg_1", "type": "message", "role": "assistant", "model": asked.model, "content": [],
        "stop_reason": null, "stop_sequence": null, "usage": input_usage(answer),
    });
    let mut events = vec![json!({"type": "message_start", "message": message}), json!({"type": "ping"})];
    let texts = pieces(asked, answer);
    if !texts.is_empty() {
        events.push(json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}));
        events.extend(
            texts.iter().map(|text| json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text}})),
        );
        events.push(json!({"type": "content_block_stop", "index": 0}));
    }
    if let Some((name, input)) = call(asked, answer) {
        let input = input.to_string();
        let (first, second) = input.split_at(input.floor_char_boundary(input.len() / 2));
        let block = json!({"type": "tool_use", "id": "toolu_1", "name": name, "input": {}});
        events.push(json!({"type": "content_block_start", "index": 1, "content_block": block}));
        for part in ["", first, second] {
            events.push(json!({"type": "content_block_delta", "index": 1, "delta": {"type": "input_json_delta", "partial_json": part}}));
        }
        events.push(json!({"type": "content_block_stop", "index": 1}));
    }
    let end = json!({"stop_reason": stop_reason(answer), "stop_sequence": null});
    events.push(json!({"type": "message_delta", "delta": end, "usage": {"output_tokens": answer.counted.output}}));
    events.push(json!({"type": "message_stop"}));
    events.into_iter().map(|event| format!("event: {}\ndata: {event}\n\n", text_of(&event, "type"))).collect()
}
