//! The terminal as a client of the server: REST here, the gateway beside it.

use std::{path::Path, time::Duration};

use anyhow::Context;
use reqwest::{Method, StatusCode, multipart};
use serde::de::DeserializeOwned;
use serde_json::Value;

pub(super) mod gateway;

/// How often a rate limit is waited out before the person is told.
const MAX_RETRIES: u32 = 4;
/// A limit longer than this is told instead of waited for.
const LONGEST_WAIT: Duration = Duration::from_secs(10);
const TIMEOUT: Duration = Duration::from_secs(30);

/// What the server refused, in its own words.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub(super) struct Refusal {
    message: String,
}

pub(super) struct Rest {
    http: reqwest::Client,
    base: String,
    token: String,
}

impl Rest {
    /// `api` is the server's address without a path, such as `http://127.0.0.1:8080`.
    pub(super) fn new(api: &str, token: &str) -> anyhow::Result<Self> {
        // The sandbox is on loopback: a proxy set for the rest of the machine would only be in the way.
        let http = reqwest::Client::builder().no_proxy().timeout(TIMEOUT).build().context("preparing the HTTP client")?;
        Ok(Self { http, base: format!("{}/api/v10", api.trim_end_matches('/')), token: token.to_owned() })
    }

    pub(super) async fn get<T: DeserializeOwned>(&self, path: &str) -> anyhow::Result<T> {
        let answer = self.call(Method::GET, path, None).await?;
        serde_json::from_value(answer).with_context(|| format!("reading the answer to GET {path}"))
    }

    pub(super) async fn call(&self, method: Method, path: &str, body: Option<&Value>) -> anyhow::Result<Value> {
        let mut attempt = 0;
        loop {
            let mut request = self.request(method.clone(), path);
            if let Some(body) = body {
                request = request.json(body);
            }
            let (status, answer) = send(request).await?;
            match wait_for(status, &answer) {
                Some(wait) if attempt < MAX_RETRIES => tokio::time::sleep(wait).await,
                _ => return settle(status, answer),
            }
            attempt += 1;
        }
    }

    /// Posts a message with one file read from `file`.
    pub(super) async fn upload(&self, path: &str, body: &Value, file: &Path) -> anyhow::Result<Value> {
        let bytes = tokio::fs::read(file).await.with_context(|| format!("reading {}", file.display()))?;
        let name = file.file_name().map_or_else(|| "file".to_owned(), |name| name.to_string_lossy().into_owned());
        let form =
            multipart::Form::new().text("payload_json", body.to_string()).part("files[0]", multipart::Part::bytes(bytes).file_name(name));
        let (status, answer) = send(self.request(Method::POST, path).multipart(form)).await?;
        settle(status, answer)
    }

    fn request(&self, method: Method, path: &str) -> reqwest::RequestBuilder {
        self.http.request(method, format!("{}{path}", self.base)).header("Authorization", &self.token)
    }
}

async fn send(request: reqwest::RequestBuilder) -> anyhow::Result<(StatusCode, Value)> {
    let response = request.send().await.context("the sandbox does not answer")?;
    let status = response.status();
    let text = response.text().await.context("the sandbox broke off its answer")?;
    Ok((status, serde_json::from_str(&text).unwrap_or(Value::Null)))
}

fn wait_for(status: StatusCode, answer: &Value) -> Option<Duration> {
    if status != StatusCode::TOO_MANY_REQUESTS {
        return None;
    }
    let seconds = answer["retry_after"].as_f64().unwrap_or(1.0);
    let wait = Duration::try_from_secs_f64(seconds).ok()? + Duration::from_millis(50);
    (wait <= LONGEST_WAIT).then_some(wait)
}

fn settle(status: StatusCode, answer: Value) -> anyhow::Result<Value> {
    if status.is_success() {
        return Ok(answer);
    }
    let general = || answer["message"].as_str().map_or_else(|| format!("the server answered {status}"), str::to_owned);
    let message = find_form_error(&answer["errors"]).unwrap_or_else(general);
    Err(Refusal { message }.into())
}

/// The first precise message in the nested form errors of the API.
fn find_form_error(errors: &Value) -> Option<String> {
    let errors = errors.as_object()?;
    if let Some(list) = errors.get("_errors") {
        return list[0]["message"].as_str().map(str::to_owned);
    }
    errors.values().find_map(find_form_error)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_refused_form_is_told_by_its_first_precise_message() {
        let answer = json!({ "message": "Invalid Form Body", "code": 50035, "errors": {
            "content": { "_errors": [{ "code": "BASE_TYPE_MAX_LENGTH", "message": "Must be 2000 or fewer in length." }] } } });
        let error = settle(StatusCode::BAD_REQUEST, answer).expect_err("400 is a refusal");
        assert_eq!(error.to_string(), "Must be 2000 or fewer in length.");
    }

    #[test]
    fn an_answer_that_is_no_json_is_told_by_its_status() {
        let error = settle(StatusCode::BAD_GATEWAY, Value::Null).expect_err("502 is a refusal");
        assert_eq!(error.to_string(), "the server answered 502 Bad Gateway");
    }

    #[test]
    fn only_a_short_rate_limit_is_waited_out() {
        let limited = |seconds: f64| wait_for(StatusCode::TOO_MANY_REQUESTS, &json!({ "retry_after": seconds }));
        assert_eq!(limited(0.5), Some(Duration::from_millis(550)));
        assert_eq!(limited(60.0), None);
        assert_eq!(limited(-1.0), None);
        assert_eq!(wait_for(StatusCode::OK, &Value::Null), None);
    }
}
