//! How long a provider asks to wait, by its headers or its body.

use std::time::Duration;

use chrono::DateTime;
use reqwest::header::{DATE, HeaderMap, RETRY_AFTER};
use serde_json::Value;

use crate::llm::LONG_WAIT;

/// The words before the wait in an error: Groq and `OpenAI`, Gemini.
const WORDS: [&str; 2] = ["try again in ", "retry in "];

/// What an error's body says about the wait.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Wait {
    after: Option<Duration>,
    /// Milliseconds since 1970 (`OpenRouter`).
    until: Option<i64>,
}

impl Wait {
    /// Gemini's `RetryInfo`, `OpenRouter`'s copied headers, or words.
    pub(super) fn parse(error: &Value, message: &str) -> Self {
        let details = error.get("details").and_then(Value::as_array).into_iter().flatten();
        let delay = details.filter_map(|detail| detail.get("retryDelay")?.as_str()).find_map(read_duration);
        let reset = error.pointer("/metadata/headers/X-RateLimit-Reset");
        let reset = reset.and_then(|reset| reset.as_i64().or_else(|| reset.as_str()?.parse().ok()));
        Self { after: delay.or_else(|| find_in_words(message)), until: reset }
    }

    /// The wait that the provider asks for. Beside `retry-after`, only long waits count: a short one is tried at our own pace.
    pub(super) fn find(&self, headers: &HeaderMap) -> Option<Duration> {
        let long = || {
            let now = text(headers, DATE.as_str()).and_then(|date| DateTime::parse_from_rfc2822(date).ok());
            let until =
                self.until.and_then(DateTime::from_timestamp_millis).zip(now).and_then(|(until, now)| (until - now.to_utc()).to_std().ok());
            self.after.or(until).or_else(|| find_reset(headers)).filter(|wait| *wait >= LONG_WAIT)
        };
        parse_retry_after(headers).or_else(long)
    }
}

fn text<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name).and_then(|value| value.to_str().ok()).map(str::trim)
}

/// `retry-after` in seconds or as a date, and OpenAI's `retry-after-ms`. A date is compared with the provider's clock.
fn parse_retry_after(headers: &HeaderMap) -> Option<Duration> {
    if let Some(millis) = text(headers, "retry-after-ms").and_then(|millis| millis.parse::<f64>().ok()) {
        return Duration::try_from_secs_f64(millis / 1000.0).ok();
    }
    let after = text(headers, RETRY_AFTER.as_str())?;
    if let Ok(seconds) = after.parse::<f64>() {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    let until = DateTime::parse_from_rfc2822(after).ok()?;
    let now = DateTime::parse_from_rfc2822(text(headers, DATE.as_str())?).ok()?;
    (until - now).to_std().ok()
}

/// When the limit that is used up is filled again (`OpenAI`, Groq).
fn find_reset(headers: &HeaderMap) -> Option<Duration> {
    ["requests", "tokens"].into_iter().find_map(|of| {
        let is_used_up = text(headers, &format!("x-ratelimit-remaining-{of}")) == Some("0");
        is_used_up.then(|| read_duration(text(headers, &format!("x-ratelimit-reset-{of}"))?)).flatten()
    })
}

fn find_in_words(message: &str) -> Option<Duration> {
    let said = message.to_lowercase();
    let after = WORDS.iter().find_map(|words| said.split_once(words))?.1;
    read_duration(after.split_whitespace().next()?.trim_end_matches(['.', ',']))
}

/// `7m12.5s`, `20h`, `54000s`, `250ms`.
fn read_duration(text: &str) -> Option<Duration> {
    let (mut rest, mut seconds) = (text, 0.0);
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !(c.is_ascii_digit() || c == '.'))?;
        let number: f64 = rest[..digits].parse().ok()?;
        let unit = &rest[digits..];
        let length = unit.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(unit.len());
        seconds += number
            * match &unit[..length] {
                "ms" => 0.001,
                "s" => 1.0,
                "m" => 60.0,
                "h" => 3600.0,
                "d" => 86400.0,
                _ => return None,
            };
        rest = &unit[length..];
    }
    Duration::try_from_secs_f64(seconds).ok().filter(|wait| !wait.is_zero())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn headers(pairs: &[(&'static str, &'static str)]) -> HeaderMap {
        pairs.iter().map(|(name, value)| (name.parse().expect("a name"), value.parse().expect("a value"))).collect()
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

    #[test]
    fn a_long_wait_is_found_where_each_provider_says_it_and_a_short_one_is_not_asked_for() {
        let hours = |hours| Some(Duration::from_hours(hours));
        let date = ("date", "Sat, 21 Nov 2026 10:00:00 GMT");
        for (pairs, body, wait) in [
            (vec![], json!({"message": "Rate limit reached on tokens per day (TPD). Please try again in 2h0m0.0s. Upgrade"}), hours(2)),
            (vec![], json!({"message": "Please try again in 7.66s."}), None),
            (vec![], json!({"message": "Quota exceeded", "details": [{"@type": "x"}, {"retryDelay": "54000s"}]}), hours(15)),
            (vec![date], json!({"message": "", "metadata": {"headers": {"X-RateLimit-Reset": "1795266000000"}}}), hours(3)),
            (vec![("x-ratelimit-remaining-requests", "0"), ("x-ratelimit-reset-requests", "5h")], json!({}), hours(5)),
            (vec![("x-ratelimit-remaining-requests", "7"), ("x-ratelimit-reset-requests", "5h")], json!({}), None),
            (vec![("retry-after", "9")], json!({"message": "try again in 5h"}), Some(Duration::from_secs(9))),
            (vec![], json!({"message": "try again in a while"}), None),
        ] {
            let message = body["message"].as_str().unwrap_or_default();
            assert_eq!(Wait::parse(&body, message).find(&headers(&pairs)), wait, "{pairs:?} {body}");
        }
    }
}
