//! Classifies providers' errors.

use reqwest::StatusCode;
use reqwest::header::HeaderMap;
use serde_json::Value;

use crate::llm::provider::quirks::Part;
use crate::llm::provider::wait::Wait;
use crate::llm::provider::window;
use crate::llm::{Cause, ModelError};

/// The most characters of a provider's message in our errors.
const QUOTE_CHARS: usize = 300;
/// The same where it stands in a sentence.
const SHORT_QUOTE_CHARS: usize = 120;

/// Permanent error types. Unknown types count as temporary, because providers add new ones, and retries are few.
const LASTING: [&str; 12] = [
    "authentication_error",
    "content_filter",
    "context_length_exceeded",
    "insufficient_quota",
    "billing_error",
    "billing_hard_limit_reached",
    "invalid_api_key",
    "invalid_request_error",
    "model_not_found",
    "not_found_error",
    "permission_error",
    "request_too_large",
];

/// Error types for exhausted credit. Some providers send them as 429.
const MONEY: [&str; 3] = ["insufficient_quota", "billing_error", "billing_hard_limit_reached"];

/// Words in the types and messages of errors, in lower case, and the causes that they mean. From errors of OpenAI, Azure, Anthropic, Gemini,
/// `OpenRouter`, `DeepSeek`, Groq, vLLM, llama.cpp, Ollama and LM Studio. The first match counts. Without a match people get a less precise sentence.
const CAUSES: [(Cause, &[&str]); 7] = [
    (Cause::Filter, &["content_filter", "content management policy", "responsibleaipolicy", "content_policy", "flagged", "moderation"]),
    (
        Cause::ContextLength,
        &[
            "context_length",
            "context length",
            "context size",
            "context window",
            "exceed_context",
            "maximum context",
            "prompt is too long",
            "too many tokens",
            "n_ctx",
            "maximum number of tokens",
            "max_tokens must be at least 1",
            "tokens to keep from the initial prompt",
            "input is too long",
            "request_too_large",
        ],
    ),
    (Cause::Credit, &["insufficient_quota", "billing", "credit", "insufficient balance", "payment"]),
    (Cause::Key, &["invalid_api_key", "api key", "api_key", "authentication", "unauthorized"]),
    (Cause::Quota, &["quota", "per day", "daily limit", "spend limit"]),
    (Cause::Loading, &["loading model", "model is loading", "is currently loading", "model loading"]),
    (
        Cause::MissingModel,
        &[
            "model_not_found",
            "not a valid model",
            "unknown model",
            "no such model",
            "deploymentnotfound",
            "model does not exist",
            "no models loaded",
        ],
    ),
];

/// A provider's error.
#[derive(Debug, Default, PartialEq)]
pub(super) struct ProviderError {
    /// `type`, `code` and `status`.
    kinds: Vec<String>,
    /// An HTTP status instead of a code, which routers send inside a stream.
    status: Option<u16>,
    /// The parameter that is wrong.
    param: Option<String>,
    /// The context window in tokens (llama.cpp).
    n_ctx: Option<u64>,
    message: String,
    wait: Wait,
    /// The categories by which a filter blocked the prompt (Azure, `OpenRouter`).
    categories: Vec<String>,
    /// What the model wrote where a call was expected (Groq).
    pub(super) generated: Option<String>,
}

impl ProviderError {
    /// Parses `{"error": {"type", "code", "message"}}`, `{"error": "…"}`, `{"message": "…"}`, `{"detail": "…"}`, or any text.
    pub(super) fn parse(body: &str) -> Self {
        let Ok(value) = serde_json::from_str::<Value>(body) else { return Self { message: body.to_owned(), ..Self::default() } };
        // Gemini puts its errors into a list.
        let value = value.get(0).unwrap_or(&value);
        let error = value.get("error").filter(|error| !error.is_null() && !error.is_boolean()).unwrap_or(value);
        let text = |key| error.get(key).and_then(Value::as_str).map(str::to_owned);
        let code = error.get("code").and_then(Value::as_u64).and_then(|code| u16::try_from(code).ok());
        let message = text("message").or_else(|| text("detail")).or_else(|| error.as_str().map(str::to_owned));
        let message = message.unwrap_or_else(|| error.to_string());
        Self {
            kinds: [text("type"), text("code"), text("status")].into_iter().flatten().collect(),
            status: code.filter(|code| (400..600).contains(code)),
            param: text("param").filter(|param| !param.is_empty()),
            n_ctx: error.get("n_ctx").and_then(Value::as_u64),
            generated: text("failed_generation"),
            categories: find_categories(error),
            wait: Wait::parse(error, &message),
            message,
        }
    }

    fn is_any_of(&self, kinds: &[&str]) -> bool {
        self.kinds.iter().any(|kind| kinds.contains(&kind.as_str()))
    }

    /// Everything that is said about the error, in lower case.
    fn said(&self) -> String {
        self.kinds.iter().chain([&self.message]).map(|text| text.to_lowercase()).collect::<Vec<_>>().join("\n")
    }

    /// Whether the model tried to call a tool and the server could not read it (Groq).
    pub(super) fn is_spoilt_call(&self) -> bool {
        self.is_any_of(&["tool_use_failed"])
    }

    /// The context window in tokens, if the error is about it and names it.
    pub(super) fn find_window(&self) -> Option<usize> {
        if self.cause(None) != Cause::ContextLength {
            return None;
        }
        window::read_tokens(self.n_ctx.or_else(|| window::find_in_words(&self.message))?)
    }

    /// The cause of the error. Words come before the status, which proxies choose freely.
    fn cause(&self, status: Option<u16>) -> Cause {
        let said = self.said();
        let by_words = CAUSES.iter().find(|(_, words)| words.iter().any(|word| said.contains(word))).map(|(cause, _)| *cause);
        let not_found = said.contains("model") && said.contains("not found");
        match (status, by_words) {
            // "Rate limit reached for requests per min. Visit …/billing to raise it."
            (Some(429), Some(Cause::Credit)) if !self.is_any_of(&MONEY) && !said.contains("balance") => Cause::RateLimit,
            (_, Some(cause)) => cause,
            (Some(401 | 403), None) => Cause::Key,
            (Some(402), None) => Cause::Credit,
            (Some(404), None) => Cause::MissingModel,
            (Some(413), None) => Cause::ContextLength,
            (Some(429), None) => Cause::RateLimit,
            (Some(500 | 502 | 504), None) => Cause::Other,
            (Some(503 | 529), None) => Cause::Overloaded,
            (_, None) if not_found => Cause::MissingModel,
            (_, None) if said.contains("overloaded") => Cause::Overloaded,
            (_, None) => Cause::Other,
        }
    }

    /// The part of the request that the endpoint does not take, of those that could be left out. `may_guess`: also if the error names none.
    pub(super) fn find_refused(&self, status: Option<u16>, rest: &[Part], may_guess: bool) -> Option<Part> {
        let status = status.or(self.status);
        let is_lasting = matches!(status, None | Some(400 | 404 | 405 | 415 | 422 | 501));
        // llama.cpp and LM Studio report what their templates cannot do as a fault of the server.
        let cause = self.cause(status);
        if rest.contains(&Part::Pictures) && self.is_about_pictures(status, cause) {
            return Some(Part::Pictures);
        }
        if self.is_spoilt_call() || !(is_lasting || status == Some(500)) || matches!(cause, Cause::ContextLength | Cause::Filter) {
            return None;
        }
        let find = |part: Part| rest.contains(&part).then_some(part);
        if let Some(part) = self.param.as_deref().and_then(named_by_param) {
            return find(part);
        }
        let said = self.message.to_lowercase();
        let has = |words: &[&str]| words.iter().any(|word| said.contains(word));
        let is_about_support = has(&["support", "require", "must", "unavailable", "not allowed", "not enabled"]);
        let named = [
            (has(&["stream_options"]), Part::StreamOptions),
            (has(&["max_completion_tokens", "max_tokens"]), Part::Limit),
            (has(&["response_format", "json_schema", "input_schema", "structured output", "guided_json"]), Part::Schema),
            (has(&["alternat", "consecutive", "unexpected role", "last role"]), Part::RepeatedRole),
            (
                has(&["system role", "system message", "developer instruction", "role 'system'", "role \"system\"", "role system"]),
                Part::SystemRole,
            ),
            (has(&["tool", "function call"]), Part::Tools),
            (has(&["schema", "grammar"]), Part::Schema),
            (has(&["streaming", "stream"]), Part::Stream),
        ];
        let part = named.into_iter().filter(|(is_named, _)| *is_named).find_map(|(_, part)| find(part));
        // Other errors of a server, and models that are missing, may hold these words by chance.
        if part.is_some() && (is_about_support || !matches!(status, Some(404 | 500))) {
            return part;
        }
        let is_unexplained = matches!(status, Some(400 | 422 | 501)) && cause == Cause::Other;
        if is_unexplained && let Some(pictures) = find(Part::Pictures) {
            return Some(pictures);
        }
        (may_guess && is_unexplained).then(|| [Part::Schema, Part::Tools].into_iter().find_map(find)).flatten()
    }

    /// Whether the error of a request with pictures is probably about them. If it fails in the same way without them, they were not the reason.
    fn is_about_pictures(&self, status: Option<u16>, cause: Cause) -> bool {
        let names_another = self.param.as_deref().and_then(named_by_param).is_some();
        let said = self.said();
        let names_them = ["image", "picture", "vision", "multimodal"].iter().any(|word| said.contains(word));
        match status {
            _ if names_another || self.is_spoilt_call() => false,
            // Filters look at pictures too.
            Some(400 | 403 | 422) if cause == Cause::Filter => true,
            // Servers limit the size of a request, which is mostly pictures.
            Some(413) => true,
            // llama.cpp and routers report models that do not see as a fault of the server, or as missing.
            None | Some(400 | 403 | 404 | 415 | 422 | 500 | 501) => cause != Cause::ContextLength && names_them,
            Some(_) => false,
        }
    }

    /// What the endpoint said about a picture, for people.
    pub(super) fn in_short(&self, key: Option<&str>) -> String {
        quote(&self.message, key).chars().take(SHORT_QUOTE_CHARS).collect()
    }

    /// The error for a response with an error status.
    pub(super) fn with_status(&self, provider: &str, status: StatusCode, headers: &HeaderMap, key: Option<&str>) -> ModelError {
        let (provider, reason) = (provider.to_owned(), format!("{} {}", status.as_u16(), quote(&self.message, key)));
        if self.is_spoilt_call() {
            return ModelError::Garbled { provider, reason };
        }
        let cause = self.cause(Some(status.as_u16()));
        if cause == Cause::Filter {
            return self.declined(provider);
        }
        let passing = matches!(status.as_u16(), 408 | 409 | 429) || status.is_server_error();
        if passing && !self.is_any_of(&MONEY) && cause != Cause::ContextLength {
            ModelError::Busy { provider, reason, cause, retry_after: self.wait.find(headers) }
        } else {
            ModelError::Refused { provider, reason, cause }
        }
    }

    fn declined(&self, provider: String) -> ModelError {
        let said = (!self.categories.is_empty()).then(|| quote(&self.categories.join(", "), None));
        ModelError::Declined { provider, said }
    }

    /// The error for a stream that fails after a status of 200.
    pub(super) fn in_stream(&self, provider: &str, key: Option<&str>) -> ModelError {
        if let Some(status) = self.status.and_then(|status| StatusCode::from_u16(status).ok()) {
            return self.with_status(provider, status, &HeaderMap::new(), key);
        }
        let (provider, reason, cause) = (provider.to_owned(), quote(&self.message, key), self.cause(None));
        if self.is_spoilt_call() {
            return ModelError::Garbled { provider, reason };
        }
        if cause == Cause::Filter {
            return self.declined(provider);
        }
        let is_lasting = matches!(cause, Cause::ContextLength | Cause::Credit | Cause::Key | Cause::MissingModel);
        if is_lasting || self.is_any_of(&LASTING) {
            ModelError::Refused { provider, reason, cause }
        } else {
            ModelError::Busy { provider, reason, cause, retry_after: self.wait.find(&HeaderMap::new()) }
        }
    }
}

/// The categories that Azure and `OpenRouter` name for a blocked prompt.
fn find_categories(error: &Value) -> Vec<String> {
    let results = error.pointer("/innererror/content_filter_result").and_then(Value::as_object);
    let filtered = results.into_iter().flatten().filter(|(_, result)| result["filtered"] == true).map(|(name, _)| name.as_str());
    let reasons = error.pointer("/metadata/reasons").and_then(Value::as_array);
    filtered.chain(reasons.into_iter().flatten().filter_map(Value::as_str)).map(|name| name.replace('_', " ")).collect()
}

/// `messages[0].role`, `tools`, `response_format.type`.
fn named_by_param(param: &str) -> Option<Part> {
    let name = param.split(['.', '[']).next().unwrap_or_default();
    match name {
        "tools" | "tool_choice" | "functions" | "parallel_tool_calls" => Some(Part::Tools),
        "response_format" => Some(Part::Schema),
        "max_tokens" | "max_completion_tokens" => Some(Part::Limit),
        "stream_options" => Some(Part::StreamOptions),
        "stream" => Some(Part::Stream),
        "messages" if param.ends_with("role") => Some(Part::SystemRole),
        _ => None,
    }
}

/// A provider's message for logs and chats: one short line without the key.
pub(super) fn quote(text: &str, key: Option<&str>) -> String {
    let without_key = key.filter(|key| !key.is_empty()).map_or_else(|| text.to_owned(), |key| text.replace(key, "[redacted]"));
    let is_key = |word: &str| word.trim_start_matches(|c: char| !c.is_alphanumeric()).starts_with("sk-");
    let words = without_key.split_whitespace().map(|word| if is_key(word) { "[redacted]" } else { word });
    words.collect::<Vec<_>>().join(" ").chars().take(QUOTE_CHARS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind_of(status: u16, body: &str) -> &'static str {
        let status = StatusCode::from_u16(status).expect("a status");
        ProviderError::parse(body).with_status("p", status, &HeaderMap::new(), None).kind()
    }

    #[test]
    fn statuses_that_pass_are_busy_and_the_others_are_refusals() {
        for status in [408, 409, 429, 500, 502, 503, 504, 529] {
            assert_eq!(kind_of(status, "{}"), "busy", "{status}");
        }
        for status in [301, 400, 401, 402, 403, 404, 413, 422] {
            assert_eq!(kind_of(status, "{}"), "refused", "{status}");
        }
    }

    #[test]
    fn money_that_is_gone_is_a_refusal_even_as_429() {
        assert_eq!(kind_of(429, r#"{"error":{"type":"insufficient_quota","message":"You exceeded your current quota"}}"#), "refused");
        assert_eq!(kind_of(429, r#"{"error":{"type":"requests","code":"rate_limit_exceeded","message":"slow down"}}"#), "busy");
    }

    #[test]
    fn a_refusal_is_tried_without_pictures_where_they_may_be_the_reason() {
        let about_pictures = |status, message: &str| {
            let body = serde_json::json!({"error": {"message": message}}).to_string();
            ProviderError::parse(&body).find_refused(Some(status), &[Part::Pictures, Part::Tools], false) == Some(Part::Pictures)
        };
        for (status, message) in [
            (400, "Invalid image data"),
            (400, "messages.0.content.0: at least one of the dimensions exceeds 8000 pixels"),
            (400, "The response was filtered by the content management policy"),
            (413, "Request Entity Too Large"),
            (404, "No endpoints found that support image input"),
            (500, "image input is not supported"),
        ] {
            assert!(about_pictures(status, message), "{status} {message}");
        }
        for (status, message) in [
            (400, "This model's maximum context length is 8192 tokens"),
            (401, "Invalid API key"),
            (402, "Your credit balance is too low"),
            (404, "The model does not exist"),
            (429, "Rate limit reached"),
            (500, "upstream"),
            (503, "Overloaded"),
        ] {
            assert!(!about_pictures(status, message), "{status} {message}");
        }
    }

    #[test]
    fn errors_inside_a_stream_are_sorted_by_type_or_by_the_status_they_carry() {
        let kind = |body| ProviderError::parse(body).in_stream("p", None).kind();
        assert_eq!(kind(r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#), "busy");
        assert_eq!(kind(r#"{"type":"error","error":{"type":"a_type_of_next_year","message":"?"}}"#), "busy");
        assert_eq!(kind(r#"{"type":"error","error":{"type":"billing_error","message":"pay"}}"#), "refused");
        assert_eq!(kind(r#"{"error":{"code":502,"message":"upstream"}}"#), "busy");
        assert_eq!(kind(r#"{"error":{"code":402,"message":"credits"}}"#), "refused");
    }

    #[test]
    fn every_usual_shape_of_an_error_gives_its_message() {
        for body in [r#"{"error":{"message":"no"}}"#, r#"{"error":"no"}"#, r#"{"message":"no"}"#, r#"{"detail":"no"}"#, "no"] {
            assert_eq!(ProviderError::parse(body).message, "no", "{body}");
        }
    }

    #[test]
    fn quotes_are_short_on_one_line_and_without_keys() {
        let text = format!("bad key KEY-1\nnor 'sk-ant-abc' at risk-level {}", "x".repeat(999));
        let quoted = quote(&text, Some("KEY-1"));
        assert!(quoted.starts_with("bad key [redacted] nor [redacted] at risk-level xxx"), "{quoted}");
        assert_eq!(quoted.chars().count(), QUOTE_CHARS);
    }

    /// Real errors: the cause of each, and the part of the request that it refuses.
    #[test]
    fn errors_of_real_servers_are_told_apart() {
        let all: Vec<Part> = Part::ALL.into_iter().filter(|part| *part != Part::Pictures).collect();
        for (status, body, cause, refused) in [
            (
                400,
                r#"{"error":{"message":"registry.ollama.ai/library/gemma3:4b does not support tools","type":"api_error"}}"#,
                Cause::Other,
                Some(Part::Tools),
            ),
            (
                500,
                r#"{"error":{"code":500,"message":"tools param requires --jinja flag","type":"server_error"}}"#,
                Cause::Other,
                Some(Part::Tools),
            ),
            (500, r#"{"error":{"code":500,"message":"Unsupported param: tools","type":"server_error"}}"#, Cause::Other, Some(Part::Tools)),
            (500, r#"{"error":{"code":500,"message":"Failed to parse tool call arguments as JSON"}}"#, Cause::Other, None),
            (
                404,
                r#"{"error":{"message":"No endpoints found that support tool use.","code":404}}"#,
                Cause::MissingModel,
                Some(Part::Tools),
            ),
            (404, r#"{"error":{"message":"model \"tool-llama\" not found, try pulling it first"}}"#, Cause::MissingModel, None),
            (400, r#"{"object":"error","message":"System role not supported","code":400}"#, Cause::Other, Some(Part::SystemRole)),
            (
                500,
                r#"{"error":{"message":"Jinja Exception: After the optional system message, conversation roles must alternate user and assistant"}}"#,
                Cause::Other,
                Some(Part::RepeatedRole),
            ),
            (
                400,
                r#"{"error":{"message":"This response_format type is unavailable now","type":"invalid_request_error"}}"#,
                Cause::Other,
                Some(Part::Schema),
            ),
            (400, r#"{"error":"'response_format.type' must be 'json_schema' or 'text'"}"#, Cause::Other, Some(Part::Schema)),
            (
                400,
                r#"{"error":{"message":"Unsupported parameter: 'max_tokens'","param":"max_tokens","code":"unsupported_parameter"}}"#,
                Cause::Other,
                Some(Part::Limit),
            ),
            (400, r#"{"error":{"message":"max_tokens must be at least 1, got -186."}}"#, Cause::ContextLength, None),
            (
                400,
                r#"{"error":{"message":"This model's maximum context length is 16384 tokens.","code":"context_length_exceeded"}}"#,
                Cause::ContextLength,
                None,
            ),
            (
                400,
                r#"{"error":{"message":"the request exceeds the available context size","type":"exceed_context_size_error","n_ctx":8192}}"#,
                Cause::ContextLength,
                None,
            ),
            (400, r#"[{"error":{"code":400,"message":"API key not valid.","status":"INVALID_ARGUMENT"}}]"#, Cause::Key, None),
            (400, r#"{"error":{"message":"Failed to call a function.","code":"tool_use_failed"}}"#, Cause::Other, None),
            (429, r#"{"error":{"message":"Rate limit reached. Please add a payment method"}}"#, Cause::RateLimit, None),
            (429, r#"{"error":{"message":"You exceeded your current quota","type":"insufficient_quota"}}"#, Cause::Credit, None),
            (400, r#"{"error":{"message":"Your credit balance is too low"}}"#, Cause::Credit, None),
            (503, r#"{"error":{"code":503,"message":"Loading model"}}"#, Cause::Loading, None),
            (400, r#"{"error":{"message":"blocked","code":"content_filter"}}"#, Cause::Filter, None),
            (400, r#"{"error":{"message":"The tools were flagged by moderation, which does not support them"}}"#, Cause::Filter, None),
        ] {
            let error = ProviderError::parse(body);
            // Without `may_guess`, a part that the error does not name is not left out.
            assert_eq!((error.cause(Some(status)), error.find_refused(Some(status), &all, false)), (cause, refused), "{status} {body}");
        }
    }

    #[test]
    fn a_context_window_is_read_from_the_error_that_names_it() {
        for (body, window) in [
            (
                r#"{"error":{"message":"This model's maximum context length is 16384 tokens. However, you requested 20000 tokens (18000 in the messages, 2000 in the completion).","code":"context_length_exceeded"}}"#,
                Some(16384),
            ),
            (
                r#"{"error":{"message":"the request exceeds the available context size","type":"exceed_context_size_error","n_ctx":8192}}"#,
                Some(8192),
            ),
            (r#"{"error":{"message":"prompt is too long: 210,500 tokens > 200,000 maximum"}}"#, Some(200_000)),
            (r#"{"error":{"message":"the model is loaded with context length of only 4096 tokens, and n_ctx is too small"}}"#, Some(4096)),
            (r#"{"error":{"message":"prompt is too long"}}"#, None),
            (r#"{"error":{"message":"limit of 30000 tokens per minute, tokens > 20000","type":"rate_limit_error"}}"#, None),
        ] {
            assert_eq!(ProviderError::parse(body).find_window(), window, "{body}");
        }
    }

    #[test]
    fn an_error_without_a_reason_leads_to_a_guess_if_there_is_something_to_leave_out() {
        let error = ProviderError::parse("Bad request");
        assert_eq!(error.find_refused(Some(400), &[Part::Tools, Part::Schema], true), Some(Part::Schema));
        assert_eq!(error.find_refused(Some(400), &[Part::Tools], true), Some(Part::Tools));
        assert_eq!(error.find_refused(Some(400), &[Part::Stream, Part::SystemRole], true), None);
        assert_eq!(error.find_refused(Some(503), &[Part::Tools], true), None);
    }
}
