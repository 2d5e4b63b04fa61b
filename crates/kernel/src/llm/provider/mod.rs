//! Model providers: one attempt over HTTP.
//!
//! A [`Protocol`] converts requests and answers, without I/O. [`HttpModel`] does the I/O for all of them. `models` decides about retries
//! and costs.

mod anthropic;
mod arguments;
mod content;
mod draft;
mod embeddings;
mod events;
mod failure;
mod http;
mod lenient;
mod openai;
mod pictures;
mod quirks;
mod speech;
mod transcription;
mod wait;
mod window;

pub(super) use embeddings::HttpEmbeddings;
pub(super) use quirks::TOOL_CALLS;
pub(super) use speech::HttpSpeech;
pub(super) use transcription::{Heard, HttpTranscription, Segment};

use std::pin::pin;
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
use self::http::{Peer, Unopened};
use self::pictures::RefusedPictures;
use self::quirks::{Part, Quirks, Without, adapt};
use crate::llm::settings::{ModelSettings, ProviderKind, ProviderSettings};
use crate::llm::{FailedAttempt, LanguageModel, ModelError, ModelReply, ModelRequest};

/// How long to wait for the end of the stream after the answer is complete. Most servers send it at once.
const STREAM_END_TIMEOUT: Duration = Duration::from_millis(50);

/// The request and answer format of a family of providers.
trait Protocol: Send + Sync {
    /// Relative to the base URL.
    fn path(&self) -> &'static str;
    fn sign(&self, request: RequestBuilder, key: &str) -> RequestBuilder;
    /// `without`: what the endpoint does not take. Tools, schema and roles are left out of `request` already.
    fn write_request(&self, base_url: &str, model: &str, request: &ModelRequest, without: &Without) -> Value;
    /// Parses the data of a server-sent event.
    fn read_event(&self, data: &str, draft: &mut Draft) -> Result<(), ReadError>;
    /// Parses a complete response.
    fn read_whole(&self, body: &str, draft: &mut Draft) -> Result<(), ReadError>;
}

/// Why an answer cannot be parsed.
enum ReadError {
    Unreadable(ModelError),
    /// The provider reported an error after a status of 200.
    Reported(Box<ProviderError>),
}

impl From<ModelError> for ReadError {
    fn from(error: ModelError) -> Self {
        Self::Unreadable(error)
    }
}

impl From<ProviderError> for ReadError {
    fn from(error: ProviderError) -> Self {
        Self::Reported(Box::new(error))
    }
}

/// A model behind an HTTP endpoint.
pub(super) struct HttpModel {
    http: reqwest::Client,
    provider: ProviderSettings,
    model: String,
    first_byte_timeout: Duration,
    idle_timeout: Duration,
    protocol: &'static dyn Protocol,
    quirks: Quirks,
    refused: RefusedPictures,
}

impl HttpModel {
    pub(super) fn new(http: reqwest::Client, provider: ProviderSettings, model: String, settings: &ModelSettings) -> Self {
        let protocol: &'static dyn Protocol = match provider.kind {
            // The settings refuse `ElevenLabs` for tiers.
            ProviderKind::OpenAi | ProviderKind::ElevenLabs => &openai::OpenAi,
            ProviderKind::Anthropic => &anthropic::Anthropic,
        };
        let (first_byte_timeout, idle_timeout) = (settings.first_byte_timeout, settings.idle_timeout);
        Self {
            http,
            provider,
            model,
            first_byte_timeout,
            idle_timeout,
            protocol,
            quirks: Quirks::default(),
            refused: RefusedPictures::default(),
        }
    }

    fn peer(&self) -> Peer<'_> {
        let key = self.provider.key.as_ref().map(ExposeSecret::expose_secret);
        Peer { provider: &self.provider.name, key, first_byte_timeout: self.first_byte_timeout, idle_timeout: self.idle_timeout }
    }

    /// Asks, and asks again at once without the parts that the endpoint does not take. A rejected request costs nothing.
    ///
    /// Errors that name no part lead to a guess. A part that explains nothing is put back. Returns what to tell the person about pictures.
    async fn ask(&self, request: &ModelRequest, draft: &mut Draft<'_>) -> Result<Vec<String>, ModelError> {
        let left_out = self.refused.leave_out(request);
        let (request, mut remarks) = left_out.as_ref().map_or((request, Vec::new()), |(rest, remarks)| (rest, remarks.clone()));
        let mut refusal = String::new();
        let mut without = self.quirks.without();
        let mut rest = without.rest(request);
        let mut first: Option<ModelError> = None;
        loop {
            let failed = match self.attempt(request, &without, draft).await {
                Ok(()) => {
                    self.quirks.learn(&without);
                    if without.has(Part::Pictures) {
                        remarks.push(self.refused.add(&request.pictures, refusal));
                    }
                    return Ok(remarks);
                }
                Err(failed) => failed,
            };
            let Some((status, reported)) = &failed.reported else { return Err(failed.noted_in(draft)) };
            if let Some(written) = &reported.generated {
                return draft.take_generated(written).map(|()| remarks);
            }
            if let Some(window) = reported.find_window() {
                self.quirks.learn_window(window);
            }
            let part = reported.find_refused(*status, &rest, self.quirks.may_guess());
            // The same error as before means that the last part was not the reason.
            if first.as_ref() == Some(&failed.error)
                && let Some(last) = without.last()
            {
                without.remove(last);
            }
            let Some(part) = part else {
                if first.is_some() {
                    self.quirks.give_up_guessing();
                }
                return Err(failed.noted_in(draft));
            };
            if part == Part::Pictures {
                refusal = reported.in_short(self.peer().key);
            }
            rest.retain(|known| *known != part);
            without.add(part);
            first = Some(failed.error);
        }
    }

    /// One request and its answer.
    async fn attempt(&self, request: &ModelRequest, without: &Without, draft: &mut Draft<'_>) -> Result<(), Unopened> {
        let response = self.open(request, without).await?;
        let read = self.read(response, draft).await;
        read.map_err(|trouble| match trouble {
            ReadError::Unreadable(error) => Unopened { error, charged: true, reported: None },
            ReadError::Reported(reported) => {
                let error = reported.in_stream(&self.provider.name, self.peer().key);
                // Text that came before the error cannot be taken back.
                let reported = draft.is_untouched().then_some((None, *reported));
                Unopened { error, charged: true, reported }
            }
        })
    }

    async fn open(&self, request: &ModelRequest, without: &Without) -> Result<Response, Unopened> {
        let url = format!("{}{}", self.provider.base_url.trim_end_matches('/'), self.protocol.path());
        let body = self.protocol.write_request(&self.provider.base_url, &self.model, &adapt(request, without), without);
        let mut post = self.http.post(url).json(&body);
        let peer = self.peer();
        if let Some(key) = peer.key {
            post = self.protocol.sign(post, key);
        }
        peer.open(post).await
    }

    /// Reads the answer as events, or as one response from servers that do not stream. Some mislabel either.
    async fn read(&self, response: Response, draft: &mut Draft<'_>) -> Result<(), ReadError> {
        let streams = response.headers().get(CONTENT_TYPE).is_some_and(|kind| kind.as_bytes().starts_with(b"text/event-stream"));
        if streams {
            return self.read_stream(response, draft).await;
        }
        let body = self.peer().text(response).await?;
        if !["data:", "event:", ": "].iter().any(|field| body.trim_start().starts_with(field)) {
            return self.protocol.read_whole(&body, draft);
        }
        let mut events = Events::default();
        events.push(body.as_bytes());
        events.push(b"\n\n");
        while let Some(data) = events.next_event() {
            let data = data.map_err(|_| draft.garbled("it is not text"))?;
            self.protocol.read_event(&data, draft)?;
        }
        Ok(())
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
            // A whole answer that is labelled as a stream.
            if events.is_empty() && chunk.trim_ascii_start().starts_with(b"{") {
                let mut bytes = chunk.to_vec();
                while let Some(chunk) = body.try_next().await? {
                    bytes.extend_from_slice(&chunk);
                }
                let text = String::from_utf8(bytes).map_err(|_| draft.garbled("it is not text"))?;
                return self.protocol.read_whole(&text, draft);
            }
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
        let (usage, counted) = (draft.usage(), draft.counted());
        let replied = asked.and_then(|remarks| Ok(ModelReply { remarks, ..draft.take_reply(&self.model)? }));
        let replied = replied.map_err(|error| FailedAttempt { error, usage, counted, written: draft.take_written() });
        if draft.has_reasoned() {
            self.quirks.learn_that_it_reasons();
        }
        replied
    }

    fn room_for(&self, answer: u32) -> u32 {
        self.quirks.room_for(answer)
    }

    fn writes_cache(&self) -> bool {
        self.provider.kind == ProviderKind::Anthropic
    }

    fn lacks(&self) -> Vec<&'static str> {
        self.quirks.lacks()
    }

    fn window(&self) -> Option<usize> {
        self.quirks.window()
    }

    async fn learn_window(&self) {
        let url = format!("{}/models", self.provider.base_url.trim_end_matches('/'));
        let mut get = self.http.get(url).timeout(window::PATIENCE);
        if let Some(key) = self.peer().key {
            get = self.protocol.sign(get, key);
        }
        let listed = async { get.send().await?.error_for_status()?.json::<Value>().await };
        match listed.await {
            Ok(listed) => window::find(&listed, &self.model).into_iter().for_each(|window| self.quirks.learn_window(window)),
            Err(error) => tracing::debug!(provider = self.provider.name, %error, "an endpoint lists no models"),
        }
    }
}
