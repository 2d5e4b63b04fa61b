//! Errors as the Web API answers them: HTTP 200 with `ok: false`.

use serde_json::{Map, Value, json};

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ApiError {
    pub(crate) code: String,
    /// Sent as `response_metadata.messages`.
    messages: Vec<String>,
    /// Further fields, such as `needed`.
    fields: Map<String, Value>,
    /// Seconds for the header `Retry-After`. The status is 429 if this is set.
    pub(crate) retry_after: Option<u64>,
}

impl ApiError {
    pub(crate) fn new(code: &str) -> Self {
        Self { code: code.to_owned(), messages: Vec::new(), fields: Map::new(), retry_after: None }
    }

    pub(crate) fn with(mut self, field: &str, value: Value) -> Self {
        self.fields.insert(field.to_owned(), value);
        self
    }

    /// An argument is missing or has the wrong form.
    pub(crate) fn arguments(message: &str) -> Self {
        Self { messages: vec![format!("[ERROR] {message}")], ..Self::new("invalid_arguments") }
    }

    pub(crate) fn missing(argument: &str) -> Self {
        Self::arguments(&format!("missing required field: {argument}"))
    }

    /// The error for invalid blocks. Each complaint has its place as a JSON pointer.
    pub(crate) fn blocks(code: &str, complaints: &[String]) -> Self {
        let messages = complaints.iter().map(|complaint| format!("[ERROR] {complaint}")).collect();
        Self { messages, ..Self::new(code) }.with("errors", json!(complaints))
    }

    pub(crate) fn missing_scope(needed: &str, provided: &str) -> Self {
        Self::new("missing_scope").with("needed", json!(needed)).with("provided", json!(provided))
    }

    pub(crate) fn rate_limited(retry_after: u64) -> Self {
        Self { retry_after: Some(retry_after), ..Self::new("ratelimited") }
    }

    pub(crate) fn answer(&self) -> Value {
        let mut answer = json!({ "ok": false, "error": self.code });
        for (field, value) in &self.fields {
            answer[field.as_str()] = value.clone();
        }
        if !self.messages.is_empty() {
            answer["response_metadata"] = json!({ "messages": self.messages });
        }
        answer
    }
}
