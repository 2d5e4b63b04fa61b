//! Calls of Slack's Web API.

mod failure;

use std::collections::HashMap;
use std::fmt;
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use futures_util::StreamExt;
use kernel::chat::DownloadError;
use kernel::ids::PersonaSlug;
use reqwest::header::{HeaderMap, RETRY_AFTER};
use reqwest::{Response, Url};
use secrecy::{ExposeSecret, SecretString};
use serde_json::{Map, Value};
use tokio::time::Instant;
use tracing::{Instrument as _, info_span};

pub(super) use failure::Failure;

/// Where the API is, without `/api`.
const SLACK: &str = "https://slack.com";

/// Where Slack keeps files.
const FILES: &str = "https://files.slack.com";

/// How long to wait after a rate limit if Slack does not say.
const WAIT: Duration = Duration::from_secs(30);

/// How long to wait before an answer to a command is tried again, if there was no connection.
const PAUSE: Duration = Duration::from_secs(2);

/// The most bytes of an answer.
const ANSWER: usize = 8 * 1024 * 1024;

/// What a token is for: calls, or connections.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Token {
    Bot,
    App,
}

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Bot => "bot",
            Self::App => "app",
        })
    }
}

/// A token and its persona.
#[derive(Debug, Clone)]
pub(super) struct Credential {
    pub(super) persona: PersonaSlug,
    pub(super) kind: Token,
    pub(super) token: SecretString,
}

pub(super) struct Api {
    http: reqwest::Client,
    base: Url,
    /// The only place that files are read from.
    files: Url,
    /// Rate limits: when a method may be called again with a token.
    waits: Mutex<HashMap<(PersonaSlug, &'static str), Instant>>,
}

/// The arguments of a call. Each is text. Nested values are JSON in text, which all methods accept.
#[derive(Debug, Default, Clone)]
pub(super) struct Arguments(Vec<(&'static str, String)>);

impl Arguments {
    #[must_use]
    pub(super) fn with(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.0.push((name, value.into()));
        self
    }

    #[must_use]
    pub(super) fn with_some(self, name: &'static str, value: Option<impl Into<String>>) -> Self {
        match value {
            Some(value) => self.with(name, value),
            None => self,
        }
    }

    #[must_use]
    pub(super) fn json(self, name: &'static str, value: &Value) -> Self {
        self.with(name, value.to_string())
    }
}

impl Api {
    /// `address` is that of another API, in place of Slack itself.
    ///
    /// # Errors
    /// The address is invalid, or no HTTP client can be created.
    pub(super) fn new(address: Option<&str>, timeout: Duration) -> anyhow::Result<Self> {
        let base = Url::parse(address.unwrap_or(SLACK))?;
        let files = Url::parse(address.unwrap_or(FILES))?;
        // No redirects, so that a token is sent to this host only.
        let http = kernel::network::client()
            .redirect(reqwest::redirect::Policy::none())
            .connect_timeout(timeout.min(Duration::from_secs(5)))
            .timeout(timeout)
            .user_agent(concat!("teamroom/", env!("CARGO_PKG_VERSION")))
            .build()?;
        Ok(Self { http, base, files, waits: Mutex::default() })
    }

    /// The chat page of a local Slack, which ends with a slash. None for Slack itself.
    pub(super) fn local_page(&self) -> Option<&str> {
        Some(self.base.as_str()).filter(|_| self.base.scheme() == "http")
    }

    /// Calls a method, and returns its answer if that is `ok`.
    pub(super) async fn call(&self, with: &Credential, method: &'static str, arguments: Arguments) -> Result<Map<String, Value>, Failure> {
        Ok(self.call_with_headers(with, method, arguments).await?.0)
    }

    async fn call_with_headers(
        &self,
        with: &Credential,
        method: &'static str,
        arguments: Arguments,
    ) -> Result<(Map<String, Value>, HeaderMap), Failure> {
        let span = info_span!("platform_call", call = method, persona = %with.persona);
        self.make_call(with, method, arguments).instrument(span).await
    }

    async fn make_call(
        &self,
        with: &Credential,
        method: &'static str,
        arguments: Arguments,
    ) -> Result<(Map<String, Value>, HeaderMap), Failure> {
        let key = (with.persona.clone(), method);
        if let Some(wait) =
            self.waits().get(&key).map(|until| until.saturating_duration_since(Instant::now())).filter(|wait| !wait.is_zero())
        {
            return Err(Failure::RateLimited(wait));
        }
        let url = self.base.join(&format!("/api/{method}")).map_err(|_| Failure::Refused("no address".to_owned()))?;
        let request = self.http.post(url).bearer_auth(with.token.expose_secret().trim()).form(&arguments.0);
        let response = request.send().await.map_err(|error| Failure::Unreachable(plain(&error)))?;
        let status = response.status();
        if status == reqwest::StatusCode::TOO_MANY_REQUESTS {
            let wait = retry_after(&response);
            self.waits().insert(key, Instant::now() + wait);
            return Err(Failure::RateLimited(wait));
        }
        if !status.is_success() {
            return Err(Failure::Unreachable(format!("HTTP {}", status.as_u16())));
        }
        let headers = response.headers().clone();
        let body = read_at_most(response, ANSWER).await?;
        let unreadable = || Failure::Unreachable("an answer that cannot be read".to_owned());
        let answer: Map<String, Value> = serde_json::from_slice(&body).map_err(|_| unreadable())?;
        if answer.get("ok").and_then(Value::as_bool) == Some(true) {
            return Ok((answer, headers));
        }
        let text = |name: &str| answer.get(name).and_then(Value::as_str);
        let error = text("error").ok_or_else(unreadable)?;
        Err(Failure::from_answer(error, text("needed"), with))
    }

    /// Whose bot token it is, and the scopes that it has. Slack says them with each answer.
    pub(super) async fn introduce(&self, with: &Credential) -> Result<(Map<String, Value>, Vec<String>), Failure> {
        let (answer, headers) = self.call_with_headers(with, "auth.test", Arguments::default()).await?;
        let scopes = headers.get("x-oauth-scopes").and_then(|value| value.to_str().ok()).unwrap_or_default();
        Ok((answer, scopes.split(',').map(|scope| scope.trim().to_owned()).filter(|scope| !scope.is_empty()).collect()))
    }

    /// Uploads the content of a file to the address that Slack gave for it.
    pub(super) async fn upload(&self, url: &str, content: Vec<u8>) -> Result<(), Failure> {
        let url = Url::parse(url)
            .ok()
            .filter(|url| self.is_ours(url))
            .ok_or_else(|| Failure::Refused("a foreign address for a file".to_owned()))?;
        let response = self.http.post(url).body(content).send().await.map_err(|error| Failure::Unreachable(plain(&error)))?;
        if response.status().is_success() { Ok(()) } else { Err(Failure::Unreachable(format!("HTTP {}", response.status().as_u16()))) }
    }

    /// Downloads a file, which requires a token.
    pub(super) async fn download(&self, with: &Credential, url: &str, limit: u64) -> Result<Bytes, DownloadError> {
        let url = Url::parse(url).ok().filter(|url| self.is_ours(url)).ok_or(DownloadError::ForeignHost)?;
        let failed = |error: &reqwest::Error| DownloadError::Failed(plain(error));
        let response = self.http.get(url).bearer_auth(with.token.expose_secret().trim()).send().await.map_err(|error| failed(&error))?;
        if !response.status().is_success() {
            return Err(DownloadError::Failed(format!("HTTP {}", response.status().as_u16())));
        }
        // Without permission Slack answers with its login page.
        let is_page = response.headers().get("content-type").is_some_and(|kind| kind.as_bytes().starts_with(b"text/html"));
        if is_page && response.headers().get("x-slack-req-id").is_some() {
            return Err(DownloadError::Failed("the app may not read files (files:read)".to_owned()));
        }
        let (mut content, mut stream) = (BytesMut::new(), response.bytes_stream());
        while let Some(piece) = stream.next().await {
            let piece = piece.map_err(|error| failed(&error))?;
            if (content.len() + piece.len()) as u64 > limit {
                return Err(DownloadError::TooLarge(limit));
            }
            content.extend_from_slice(&piece);
        }
        Ok(content.freeze())
    }

    /// Posts an answer to the address that came with a command or a button.
    pub(super) async fn respond(&self, url: &str, answer: &Value) -> Result<(), Failure> {
        let url = Url::parse(url).ok().filter(|url| self.is_hook(url)).ok_or_else(|| Failure::Refused("a foreign address".to_owned()))?;
        let mut sent = self.http.post(url.clone()).json(answer).send().await;
        if sent.as_ref().is_err_and(reqwest::Error::is_connect) {
            // Nothing was sent.
            tokio::time::sleep(PAUSE).await;
            sent = self.http.post(url).json(answer).send().await;
        }
        let response = sent.map_err(|error| Failure::Unreachable(plain(&error)))?;
        match response.status() {
            status if status.is_success() => Ok(()),
            reqwest::StatusCode::TOO_MANY_REQUESTS => Err(Failure::RateLimited(retry_after(&response))),
            // The address has expired, or was used too often.
            status if status.is_client_error() => Err(Failure::Refused(format!("HTTP {}", status.as_u16()))),
            status => Err(Failure::Unreachable(format!("HTTP {}", status.as_u16()))),
        }
    }

    fn is_ours(&self, url: &Url) -> bool {
        let same = |known: &Url| {
            (url.scheme(), url.host(), url.port_or_known_default()) == (known.scheme(), known.host(), known.port_or_known_default())
        };
        same(&self.files) || same(&self.base)
    }

    fn is_hook(&self, url: &Url) -> bool {
        self.is_ours(url) || (self.base.as_str().starts_with(SLACK) && url.scheme() == "https" && url.host_str() == Some("hooks.slack.com"))
    }

    fn waits(&self) -> MutexGuard<'_, HashMap<(PersonaSlug, &'static str), Instant>> {
        self.waits.lock().expect("no code panics while it holds the waits")
    }
}

fn retry_after(response: &Response) -> Duration {
    let seconds = response.headers().get(RETRY_AFTER).and_then(|value| value.to_str().ok()).and_then(|text| text.parse().ok());
    seconds.map_or(WAIT, Duration::from_secs)
}

async fn read_at_most(response: Response, limit: usize) -> Result<BytesMut, Failure> {
    let (mut content, mut stream) = (BytesMut::new(), response.bytes_stream());
    while let Some(piece) = stream.next().await {
        let piece = piece.map_err(|error| Failure::Unreachable(plain(&error)))?;
        if content.len() + piece.len() > limit {
            return Err(Failure::Unreachable("an answer that is too long".to_owned()));
        }
        content.extend_from_slice(&piece);
    }
    Ok(content)
}

/// An error of the HTTP client without the address.
fn plain(error: &reqwest::Error) -> String {
    let what = if error.is_timeout() {
        "no answer in time"
    } else if error.is_connect() {
        "no connection"
    } else {
        "the connection broke"
    };
    what.to_owned()
}
