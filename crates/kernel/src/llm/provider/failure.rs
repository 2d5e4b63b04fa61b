//! Classifies providers' errors.

use std::time::Duration;

use chrono::DateTime;
use reqwest::StatusCode;
use reqwest::header::{DATE, HeaderMap, RETRY_AFTER};
use serde_json::Value;

use crate::llm::ModelError;

/// The most characters of a provider's message in our errors.
const QUOTE_CHARS: usize = 300;

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

/// A provider's error.
#[derive(Debug, Default, PartialEq)]
pub(super) struct ProviderError {
    /// `type` and `code`.
    kinds: Vec<String>,
    /// An HTTP status instead of a code, which routers send inside a stream.
    status: Option<u16>,
    message: String,
}

impl ProviderError {
    /// Parses `{"error": {"type", "code", "message"}}`, `{"error": "…"}`, `{"message": "…"}`, `{"detail": "…"}`, or any text.
    pub(super) fn parse(body: &str) -> Self {
        let Ok(value) = serde_json::from_str::<Value>(body) else { return Self { message: body.to_owned(), ..Self::default() } };
        let error = value.get("error").filter(|error| !error.is_null()).unwrap_or(&value);
        let text = |key| error.get(key).and_then(Value::as_str).map(str::to_owned);
        let code = error.get("code").and_then(Value::as_u64).and_then(|code| u16::try_from(code).ok());
        Self {
            kinds: [text("type"), text("code")].into_iter().flatten().collect(),
            status: code.filter(|code| (400..600).contains(code)),
            message: text("message")
                .or_else(|| text("detail"))
                .or_else(|| error.as_str().map(str::to_owned))
                .unwrap_or_else(|| error.to_string()),
        }
    }

    fn is_any_of(&self, kinds: &[&str]) -> bool {
        self.kinds.iter().any(|kind| kinds.contains(&kind.as_str()))
    }

    /// The error for a response with an error status.
    pub(super) fn with_status(&self, provider: &str, status: StatusCode, headers: &HeaderMap, key: Option<&str>) -> ModelError {
        let reason = format!("{} {}", status.as_u16(), quote(&self.message, key));
        let passing = matches!(status.as_u16(), 408 | 409 | 429) || status.is_server_error();
        if passing && !self.is_any_of(&MONEY) {
            ModelError::Busy { provider: provider.to_owned(), reason, retry_after: parse_retry_after(headers) }
        } else {
            ModelError::Refused { provider: provider.to_owned(), reason }
        }
    }

    /// The error for a stream that fails after a status of 200.
    pub(super) fn in_stream(&self, provider: &str, key: Option<&str>) -> ModelError {
        if let Some(status) = self.status.and_then(|status| StatusCode::from_u16(status).ok()) {
            return self.with_status(provider, status, &HeaderMap::new(), key);
        }
        let (provider, reason) = (provider.to_owned(), quote(&self.message, key));
        if self.is_any_of(&LASTING) {
            ModelError::Refused { provider, reason }
        } else {
            ModelError::Busy { provider, reason, retry_after: None }
        }
    }
}

/// A provider's message for logs and chats: one short line without the key.
pub(super) fn quote(text: &str, key: Option<&str>) -> String {
    let without_key = key.filter(|key| !key.is_empty()).map_or_else(|| text.to_owned(), |key| text.replace(key, "[redacted]"));
    let is_key = |word: &str| word.trim_start_matches(|c: char| !c.is_alphanumeric()).starts_with("sk-");
    let words = without_key.split_whitespace().map(|word| if is_key(word) { "[redacted]" } else { word });
    words.collect::<Vec<_>>().join(" ").chars().take(QUOTE_CHARS).collect()
}

/// `retry-after` in seconds or as a date, and OpenAI's `retry-after-ms`. A date is compared with the provider's clock.
fn parse_retry_after(headers: &HeaderMap) -> Option<Duration> {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).map(str::trim);
    if let Some(millis) = text("retry-after-ms").and_then(|millis| millis.parse::<f64>().ok()) {
        return Duration::try_from_secs_f64(millis / 1000.0).ok();
    }
    let after = text(RETRY_AFTER.as_str())?;
    if let Ok(seconds) = after.parse::<f64>() {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    let until = DateTime::parse_from_rfc2822(after).ok()?;
    let now = DateTime::parse_from_rfc2822(text(DATE.as_str())?).ok()?;
    (until - now).to_std().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(&'static str, &'static str)]) -> HeaderMap {
        pairs.iter().map(|(name, value)| (name.parse().expect("a name"), value.parse().expect("a value"))).collect()
    }

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

    #[test]
    fn retry_after_is_read_as_seconds_milliseconds_or_a_date() {
        assert_eq!(parse_retry_after(&headers(&[("retry-after", "1.5")])), Some(Duration::from_millis(1500)));
        assert_eq!(parse_retry_after(&headers(&[("retry-after", "9"), ("retry-after-ms", "250")])), Some(Duration::from_millis(250)));
        let dated = headers(&[("date", "Sat, 21 Nov 2026 10:00:00 GMT"), ("retry-after", "Sat, 21 Nov 2026 10:01:00 GMT")]);
        assert_eq!(parse_retry_after(&dated), Some(Duration::from_mins(1)));
        for bad in ["-3", "soon", "NaN", "1e300"] {
            assert_eq!(parse_retry_after(&headers(&[("retry-after", bad)])), None, "{bad}");
        }
    }
}
