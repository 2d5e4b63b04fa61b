//! Tool calls that a model has written as text, because its server does not know its format.

use serde_json::{Map, Value};

use crate::llm::ToolSpec;
use crate::llm::provider::content::{Code, MOST_MARKS};
use crate::tools::schema;

/// A call as the model wrote it.
#[derive(Debug, PartialEq)]
pub(in crate::llm::provider) struct WrittenCall {
    pub(in crate::llm::provider) name: String,
    pub(in crate::llm::provider) arguments: Value,
}

impl WrittenCall {
    pub(super) fn parse(name: &str, arguments: &str) -> Option<Self> {
        let arguments = serde_json::from_str(arguments.trim()).ok().filter(Value::is_object)?;
        (!name.is_empty()).then(|| Self { name: name.to_owned(), arguments })
    }

    /// Whether it names an offered tool and has arguments, or needs none. Wrong arguments are refused with the reason where calls are made.
    fn is_meant(&self, tools: &[ToolSpec]) -> bool {
        let has_some = self.arguments.as_object().is_some_and(|arguments| !arguments.is_empty());
        tools.iter().any(|tool| tool.name == self.name && (has_some || schema::check(&tool.parameters, &self.arguments).is_ok()))
    }
}

/// The marks around calls: Hermes and Qwen, Claude's XML, Llama, Groq, Mistral, Phi and Granite, `DeepSeek`, Kimi. Without an end mark, the call
/// lasts to the end of the text.
const MARKS: [(&str, &str); 11] = [
    ("<tool_call>", "</tool_call>"),
    ("<tool_calls>", "</tool_calls>"),
    ("<function_calls>", "</function_calls>"),
    ("<invoke ", "</invoke>"),
    ("<function=", "</function>"),
    ("<tool-use>", "</tool-use>"),
    ("[TOOL_CALLS]", ""),
    ("<|python_tag|>", ""),
    ("<|tool_call|>", "<|/tool_call|>"),
    ("<｜tool▁calls▁begin｜>", "<｜tool▁calls▁end｜>"),
    ("<|tool_calls_section_begin|>", "<|tool_calls_section_end|>"),
];

/// Takes calls out of a text and returns what is left. Marked ones are never for people, also if they cannot be read.
pub(super) fn take(text: &str, tools: &[ToolSpec], calls: &mut Vec<WrittenCall>) -> String {
    let mut left = text.to_owned();
    for _ in 0..MOST_MARKS {
        let code = Code::of(&left);
        let marks = MARKS.iter().filter_map(|(open, close)| code.find_outside(&left, open).map(|at| (at, *open, *close)));
        let Some((at, open, close)) = marks.min_by_key(|(at, _, _)| *at) else { break };
        let inside = at + open.len();
        let closed = left[inside..].find(close).filter(|_| !close.is_empty()).map(|found| inside + found);
        let (end, after) = closed.map_or((left.len(), left.len()), |end| (end, end + close.len()));
        // The opening mark is included, because it may contain the name of the tool.
        calls.extend(read_marked(&left[at..end], tools));
        left.drain(at..after);
    }
    if tools.is_empty() {
        // Without tools, nothing could execute the calls.
        calls.clear();
    } else if calls.is_empty()
        && let Some((said, written)) = split_bare(&left, tools)
    {
        calls.extend(written);
        left.truncate(said);
    }
    left
}

/// The calls between two marks, as JSON or as XML.
fn read_marked(text: &str, tools: &[ToolSpec]) -> Vec<WrittenCall> {
    let as_xml = read_xml(text, tools);
    if !as_xml.is_empty() {
        return as_xml;
    }
    let mut calls = Vec::new();
    let mut before = 0;
    for (at, end, value) in json_values(text) {
        let named = calls_of(&value);
        if named.is_empty() && value.is_object() {
            // The name stands before its arguments.
            let mut words = text[before..at].split(|c: char| !c.is_alphanumeric() && c != '_' && c != '-');
            let name = words.rfind(|word| tools.iter().any(|tool| tool.name == *word));
            calls.extend(name.map(|name| WrittenCall { name: name.to_owned(), arguments: value }));
        } else {
            calls.extend(named);
        }
        before = end;
    }
    calls
}

/// Finds calls of offered tools at the end of a text, as bare JSON in a fence or not. Returns where they begin, and the calls. Any other JSON may be
/// what somebody asked for.
fn split_bare(text: &str, tools: &[ToolSpec]) -> Option<(usize, Vec<WrittenCall>)> {
    let trimmed = text.trim_end();
    let fenced = trimmed.strip_suffix("```").map(str::trim_end);
    let body = fenced.unwrap_or(trimmed);
    let (at, _, value) = json_values(body).into_iter().find(|(_, end, _)| *end == body.len())?;
    if fenced.is_none() && Code::of(body).holds(at) {
        return None;
    }
    let calls = calls_of(&value);
    let meant = !calls.is_empty() && calls.iter().all(|call| call.is_meant(tools));
    let fence = body[..at].trim_end().trim_end_matches(|c: char| c.is_ascii_alphanumeric() || c == '_').strip_suffix("```");
    let begins = if fenced.is_some() { fence?.len() } else { at };
    meant.then_some((begins, calls))
}

/// The calls that a value describes: one, a list, or `{"tool_calls": […]}`.
fn calls_of(value: &Value) -> Vec<WrittenCall> {
    match value {
        Value::Array(values) => values.iter().flat_map(calls_of).collect(),
        Value::Object(fields) => match fields.get("tool_calls").or_else(|| fields.get("calls")) {
            Some(calls @ Value::Array(_)) => calls_of(calls),
            _ => call_of(fields).into_iter().collect(),
        },
        _ => Vec::new(),
    }
}

fn call_of(fields: &Map<String, Value>) -> Option<WrittenCall> {
    let inner = fields.get("function").and_then(Value::as_object);
    let get = |key: &str| fields.get(key).or_else(|| inner?.get(key));
    let name = ["name", "tool", "tool_name", "function"].iter().find_map(|key| get(key)?.as_str())?;
    let given = ["arguments", "parameters", "args", "input", "tool_input"].iter().find_map(|key| get(key));
    let arguments = match given {
        Some(Value::String(text)) => serde_json::from_str(text).ok()?,
        Some(value) => value.clone(),
        None => Value::Object(Map::new()),
    };
    // A name alone does not make it a call.
    (arguments.is_object() && (given.is_some() || fields.len() == 1)).then(|| WrittenCall { name: name.to_owned(), arguments })
}

/// `<function=look><parameter=at>log</parameter></function>` and `<invoke name="look"><parameter name="at">log</parameter></invoke>`.
fn read_xml(text: &str, tools: &[ToolSpec]) -> Vec<WrittenCall> {
    let parts = text.split("<function=").skip(1).chain(text.split("<invoke name=").skip(1));
    let calls = parts.filter_map(|part| {
        let (name, body) = part.split_once('>')?;
        let name = name.trim_matches(|c: char| c == '"' || c == '\'' || c.is_whitespace());
        if !body.contains("<parameter") && !body.trim().is_empty() {
            let body = body.split("</").next().unwrap_or_default();
            return WrittenCall::parse(name, body);
        }
        let tool = tools.iter().find(|tool| tool.name == name);
        let mut arguments = Map::new();
        for parameter in body.split("<parameter").skip(1) {
            let (key, rest) = parameter.split_once('>')?;
            let key = key.trim_start_matches([' ', '=']).trim_start_matches("name=");
            let key = key.trim_matches(|c: char| c == '"' || c == '\'' || c.is_whitespace());
            let value = rest.split("</parameter>").next().unwrap_or_default().trim();
            let is_text = tool.is_some_and(|tool| tool.parameters["properties"][key]["type"] == "string");
            let parsed = serde_json::from_str(value).ok().filter(|_| !is_text);
            arguments.insert(key.to_owned(), parsed.unwrap_or_else(|| value.into()));
        }
        (!name.is_empty()).then(|| WrittenCall { name: name.to_owned(), arguments: arguments.into() })
    });
    calls.collect()
}

/// The outermost JSON objects and lists of a text, with their places.
fn json_values(text: &str) -> Vec<(usize, usize, Value)> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(start) = text[at..].find(['{', '[']).map(|start| at + start) {
        let mut values = serde_json::Deserializer::from_str(&text[start..]).into_iter::<Value>();
        at = match values.next() {
            Some(Ok(value)) => {
                let end = start + values.byte_offset();
                found.push((start, end, value));
                end
            }
            _ => start + 1,
        };
    }
    found
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn tools() -> Vec<ToolSpec> {
        let tool = |name: &str, parameters: Value| ToolSpec { name: name.into(), description: String::new(), parameters };
        let look = json!({"type": "object", "properties": {"at": {"type": "string"}, "lines": {"type": "integer"}}, "required": ["at"]});
        vec![tool("look", look), tool("read_feed", json!({"type": "object", "properties": {}}))]
    }

    fn taken(text: &str) -> (String, Vec<(String, Value)>) {
        let mut calls = Vec::new();
        let left = take(text, &tools(), &mut calls);
        (left.trim().to_owned(), calls.into_iter().map(|call| (call.name, call.arguments)).collect())
    }

    #[test]
    fn calls_are_read_in_every_usual_format() {
        for text in [
            r#"<tool_call>{"name": "look", "arguments": {"at": "log"}}</tool_call>"#,
            r#"<tool_call>{"name": "look", "arguments": {"at": "log"}}"#,
            r#"<tool_call>{"name": "look", "arguments": "{\"at\": \"log\"}"}</tool_call>"#,
            "<tool_call>\n<function=look>\n<parameter=at>\nlog\n</parameter>\n</function>\n</tool_call>",
            r#"<function=look>{"at": "log"}</function>"#,
            r#"<function_calls><invoke name="look"><parameter name="at">log</parameter></invoke></function_calls>"#,
            r#"[TOOL_CALLS][{"name": "look", "arguments": {"at": "log"}}]"#,
            r#"[TOOL_CALLS]look[ARGS]{"at": "log"}"#,
            r#"<|python_tag|>{"type": "function", "name": "look", "parameters": {"at": "log"}}"#,
            "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>look\n```json\n{\"at\": \"log\"}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
            r#"<|tool_calls_section_begin|><|tool_call_begin|>functions.look:0<|tool_call_argument_begin|>{"at": "log"}<|tool_call_end|><|tool_calls_section_end|>"#,
            r#"<tool-use>{"tool_calls": [{"id": "pending", "type": "function", "function": {"name": "look"}, "parameters": {"at": "log"}}]}</tool-use>"#,
            r#"{"name": "look", "parameters": {"at": "log"}}"#,
            "```json\n{\"tool\": \"look\", \"arguments\": {\"at\": \"log\"}}\n```",
            r#"[{"function": {"name": "look", "arguments": "{\"at\": \"log\"}"}}]"#,
        ] {
            assert_eq!(taken(text), (String::new(), vec![("look".into(), json!({"at": "log"}))]), "{text}");
        }
        let two = r#"<tool_call>{"name":"look","arguments":{"at":"a"}}</tool_call> <tool_call>{"name":"read_feed"}</tool_call>"#;
        assert_eq!(taken(two).1.len(), 2);
    }

    #[test]
    fn words_before_a_call_stay_words() {
        let call = vec![("look".to_owned(), json!({"at": "log"}))];
        for text in [
            "I look.\n<tool_call>{\"name\": \"look\", \"arguments\": {\"at\": \"log\"}}</tool_call>",
            "I look.\n```json\n{\"name\": \"look\", \"arguments\": {\"at\": \"log\"}}\n```",
            "I look. {\"name\": \"look\", \"arguments\": {\"at\": \"log\"}}",
        ] {
            assert_eq!(taken(text), ("I look.".into(), call.clone()), "{text}");
        }
    }

    #[test]
    fn json_that_is_no_call_of_an_offered_tool_is_an_answer() {
        for text in [
            r#"{"name": "Ann", "arguments": {"at": "log"}}"#,
            r#"{"name": "look"}"#,
            r#"{"name": "look", "arguments": {}}"#,
            r#"{"name": "look", "why": "because"}"#,
            "Write `<tool_call>{\"name\": \"look\"}</tool_call>` to call it.",
            "```\n<tool_call>{\"name\": \"look\", \"arguments\": {\"at\": \"log\"}}</tool_call>\n```\nis how it looks.",
            "[1, 2]",
        ] {
            assert_eq!(taken(text), (text.to_owned(), Vec::new()), "{text}");
        }
    }

    #[test]
    fn a_marked_call_that_cannot_be_read_is_not_shown() {
        for text in ["<tool_call>{\"name\": \"look\", \"argu", "<tool_call>look at the log</tool_call>", "[TOOL_CALLS] look"] {
            assert_eq!(taken(text), (String::new(), Vec::new()), "{text}");
        }
        let mut calls = Vec::new();
        let call = "Well.<tool_call>{\"name\": \"look\", \"arguments\": {}}</tool_call>";
        assert_eq!((take(call, &[], &mut calls), calls.len()), ("Well.".into(), 0), "nobody could carry it out");
    }
}
