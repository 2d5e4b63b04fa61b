//! Providers of models: one attempt over HTTP.
//!
//! A [`Protocol`] only translates, so that it can be tested without a socket; [`HttpModel`] does the talking for all of them. Whether a
//! failed attempt is made again, and who pays, is decided by `models`.

mod anthropic;
mod draft;
mod events;
mod failure;
mod http;
mod openai;

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
use self::failure::Complaint;
use self::http::Peer;
use crate::llm::settings::{ProviderKind, ProviderSettings};
use crate::llm::{FailedAttempt, LanguageModel, ModelError, ModelReply, ModelRequest};

/// How long the end of a stream is waited for once the answer is complete. Most servers send it at once; the answer is not to wait for the rest.
const FAREWELL: Duration = Duration::from_millis(50);

/// How one family of providers words requests and answers.
trait Protocol: Send + Sync {
    /// Below the base URL.
    fn path(&self) -> &'static str;
    fn sign(&self, request: RequestBuilder, key: &str) -> RequestBuilder;
    fn write_request(&self, base_url: &str, model: &str, request: &ModelRequest) -> Value;
    /// Takes in the data of one server-sent event.
    fn read_event(&self, data: &str, draft: &mut Draft) -> Result<(), Trouble>;
    /// Takes in an answer that came in one piece.
    fn read_whole(&self, body: &str, draft: &mut Draft) -> Result<(), Trouble>;
}

/// Why an answer cannot be taken in.
enum Trouble {
    Unreadable(ModelError),
    /// The provider reports an error after it had begun with a status of 200.
    Reported(Complaint),
}

impl From<ModelError> for Trouble {
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
    /// Set once the endpoint has refused a schema. Structured prompts word their schema too, so the call can go on without.
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

    /// Asks, and asks once more without the schema if that is what the endpoint objects to. A refused request costs nothing.
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

    /// Takes in the answer, in events or, from servers that do not stream, in one piece.
    async fn read(&self, response: Response, draft: &mut Draft<'_>) -> Result<(), ModelError> {
        let streams = response.headers().get(CONTENT_TYPE).is_some_and(|kind| kind.as_bytes().starts_with(b"text/event-stream"));
        let taken = if streams {
            self.read_stream(response, draft).await
        } else {
            let body = self.peer().text(response).await?;
            self.protocol.read_whole(&body, draft)
        };
        taken.map_err(|trouble| match trouble {
            Trouble::Unreadable(error) => error,
            Trouble::Reported(complaint) => complaint.in_stream(&self.provider.name, self.peer().key),
        })
    }

    async fn read_stream(&self, response: Response, draft: &mut Draft<'_>) -> Result<(), Trouble> {
        let mut events = Events::default();
        let mut body = pin!(self.peer().body(response));
        while !draft.has_ended() {
            let chunk = match body.try_next().await {
                Ok(Some(chunk)) => chunk,
                Ok(None) => break,
                // The answer is complete; what is missing is at most the count of its tokens.
                Err(_) if draft.has_stopped() => break,
                Err(error) => return Err(error.into()),
            };
            events.push(&chunk);
            while let Some(data) = events.next_event() {
                let data = data.map_err(|_| draft.garbled("it is not text"))?;
                self.protocol.read_event(&data, draft)?;
            }
        }
        // A connection serves the next call only if this answer was read to its very end.
        let rest = async { while let Ok(Some(_)) = body.try_next().await {} };
        let _ = tokio::time::timeout(FAREWELL, rest).await;
        Ok(())
    }
}

/// Whether an endpoint objects to the schema of a request, as those do that know only the older `json_object`.
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
