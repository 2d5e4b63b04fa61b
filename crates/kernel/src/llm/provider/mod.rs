//! Model providers: one attempt over HTTP.
//!
//! A [`Protocol`] converts requests and answers, without I/O. [`HttpModel`] does the I/O for all of them. `models` decides about retries
//! and costs.

mod anthropic;
mod draft;
mod embeddings;
mod events;
mod failure;
mod http;
mod openai;

pub(super) use embeddings::HttpEmbeddings;

use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use futures_util::TryStreamExt;
use reqwest::header::CONTENT_TYPE;
use reqwest::{RequestBuilder, Response};
use secrecy::ExposeSecret;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use self::draft::Draft;
use self::events::Events;
use self::failure::ProviderError;
use self::http::Peer;
use crate::llm::settings::{ProviderKind, ProviderSettings};
use crate::llm::{FailedAttempt, LanguageModel, ModelError, ModelReply, ModelRequest};

/// How long to wait for the end of the stream after the answer is complete. Most servers send it at once.
const STREAM_END_TIMEOUT: Duration = Duration::from_millis(50);

/// The request and answer format of a family of providers.
trait Protocol: Send + Sync {
    /// Relative to the base URL.
    fn path(&self) -> &'static str;
    fn sign(&self, request: RequestBuilder, key: &str) -> RequestBuilder;
    fn write_request(&self, base_url: &str, model: &str, request: &ModelRequest) -> Value;
    /// Parses the data of a server-sent event.
    fn read_event(&self, data: &str, draft: &mut Draft) -> Result<(), ReadError>;
    /// Parses a complete response.
    fn read_whole(&self, body: &str, draft: &mut Draft) -> Result<(), ReadError>;
}

/// Why an answer cannot be parsed.
enum ReadError {
    Unreadable(ModelError),
    /// The provider reported an error after a status of 200.
    Reported(ProviderError),
}

impl From<ModelError> for ReadError {
    fn from(error: ModelError) -> Self {
        Self::Unreadable(error)
    }
}

/// A model behind an HTTP endpoint.
pub(super) struct HttpModel {
    http: reqwest::Client,
    provider: ProviderSettings,
    model: String,
    idle_timeout: Duration,
    protocol: &'static dyn Protocol,
    /// Set after the endpoint has rejected a schema. The prompt describes the schema too, so later calls omit it.
    schema_refused: AtomicBool,
}

impl HttpModel {
    pub(super) fn new(http: reqwest::Client, provider: ProviderSettings, model: String, idle_timeout: Duration) -> Self {
        let protocol: &'static dyn Protocol = match provider.kind {
            ProviderKind::OpenAi => &openai::OpenAi,
            ProviderKind::Anthropic => &anthropic::Anthropic,
        };
        Self { http, provider, model, idle_timeout, protocol, schema_refused: AtomicBool::new(false) }
    }

    fn peer(&self) -> Peer<'_> {
        let key = self.provider.key.as_ref().map(ExposeSecret::expose_secret);
        Peer { provider: &self.provider.name, key, idle_timeout: self.idle_timeout }
    }

    /// Asks, and retries once without the schema if the endpoint rejects it. A rejected request costs nothing.
    async fn ask(&self, request: &ModelRequest, draft: &mut Draft<'_>) -> Result<(), ModelError> {
        let with_schema = request.schema.is_some() && !self.schema_refused.load(Ordering::Relaxed);
        let mut opened = self.open(request, with_schema).await;
        if with_schema && opened.as_ref().is_err_and(|unopened| names_schema(&unopened.error)) {
            self.schema_refused.store(true, Ordering::Relaxed);
            opened = self.open(request, false).await;
        }
        match opened {
            Ok(response) => self.read(response, draft).await,
            Err(unopened) => Err(unopened.noted_in(draft)),
        }
    }

    async fn open(&self, request: &ModelRequest, with_schema: bool) -> Result<Response, http::Unopened> {
        let plain;
        let request = if with_schema || request.schema.is_none() {
            request
        } else {
            plain = ModelRequest { schema: None, ..request.clone() };
            &plain
        };
        let url = format!("{}{}", self.provider.base_url.trim_end_matches('/'), self.protocol.path());
        let mut post = self.http.post(url).json(&self.protocol.write_request(&self.provider.base_url, &self.model, request));
        let peer = self.peer();
        if let Some(key) = peer.key {
            post = self.protocol.sign(post, key);
        }
        peer.open(post).await
    }

    /// Reads the answer as events, or as one response from servers that do not stream.
    async fn read(&self, response: Response, draft: &mut Draft<'_>) -> Result<(), ModelError> {
        let streams = response.headers().get(CONTENT_TYPE).is_some_and(|kind| kind.as_bytes().starts_with(b"text/event-stream"));
        let taken = if streams {
            self.read_stream(response, draft).await
        } else {
            let body = self.peer().text(response).await?;
            self.protocol.read_whole(&body, draft)
        };
        taken.map_err(|trouble| match trouble {
            ReadError::Unreadable(error) => error,
            ReadError::Reported(reported) => reported.in_stream(&self.provider.name, self.peer().key),
        })
    }

    async fn read_stream(&self, response: Response, draft: &mut Draft<'_>) -> Result<(), ReadError> {
        let mut events = Events::default();
        let mut body = pin!(self.peer().body(response));
        while !draft.has_ended() {
            let chunk = match body.try_next().await {
                Ok(Some(chunk)) => chunk,
                Ok(None) => break,
                // The answer is complete. At most the token count is missing.
                Err(_) if draft.has_stopped() => break,
                Err(error) => return Err(error.into()),
            };
            events.push(&chunk);
            while let Some(data) = events.next_event() {
                let data = data.map_err(|_| draft.garbled("it is not text"))?;
                self.protocol.read_event(&data, draft)?;
            }
        }
        // A connection can be reused only if its response was read to the end.
        let rest = async { while let Ok(Some(_)) = body.try_next().await {} };
        let _ = tokio::time::timeout(STREAM_END_TIMEOUT, rest).await;
        Ok(())
    }
}

/// Whether the endpoint rejected the schema. Some support only the older `json_object`.
fn names_schema(error: &ModelError) -> bool {
    matches!(error, ModelError::Refused { reason, .. } if ["response_format", "json_schema", "input_schema"].iter().any(|word| reason.contains(word)))
}

#[async_trait]
impl LanguageModel for HttpModel {
    async fn complete(&self, request: &ModelRequest, limit: Duration, cancel: &CancellationToken) -> Result<ModelReply, FailedAttempt> {
        let mut draft = Draft::new(&self.provider.name, request);
        let asked = tokio::select! {
            biased;
            () = cancel.cancelled() => Err(ModelError::Cancelled),
            asked = self.ask(request, &mut draft) => asked,
            () = tokio::time::sleep(limit) => Err(ModelError::TimedOut { provider: self.provider.name.clone() }),
        };
        let usage = draft.usage();
        let replied = asked.and_then(|()| draft.take_reply(&self.model));
        replied.map_err(|error| FailedAttempt { error, usage, written: draft.into_text() })
    }
}
