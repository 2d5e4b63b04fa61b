//! `OpenAI`'s transcription API, which most other servers support too.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use reqwest::multipart::{Form, Part};
use secrecy::ExposeSecret;
use serde::Deserialize;
use serde_json::Value;

use crate::llm::provider::http::Peer;
use crate::llm::settings::ProviderSettings;
use crate::llm::{Counted, FailedAttempt, ModelError};
use crate::money::TokenUsage;

/// A model that transcribes, behind an HTTP endpoint.
pub(in crate::llm) struct HttpTranscription {
    http: reqwest::Client,
    provider: ProviderSettings,
    model: String,
    /// The endpoint refused to say how sure it is.
    is_plain: AtomicBool,
}

/// What a model heard.
pub(in crate::llm) struct Heard {
    pub(in crate::llm) text: String,
    /// Parts of the text with how sure the model is of each, if the endpoint says so.
    pub(in crate::llm) segments: Vec<Segment>,
    /// How long the recording is, if the endpoint says so.
    pub(in crate::llm) length: Option<Duration>,
    pub(in crate::llm) usage: TokenUsage,
}

/// A part of a transcript. Servers leave out what they do not know.
#[derive(Debug, Default, Clone, PartialEq, Deserialize)]
#[serde(default)]
pub(in crate::llm) struct Segment {
    pub(in crate::llm) text: String,
    /// From 0 to 1.
    pub(in crate::llm) no_speech_prob: Option<f64>,
    /// 0 is certain, and less is less so.
    pub(in crate::llm) avg_logprob: Option<f64>,
    /// How much its words repeat each other.
    pub(in crate::llm) compression_ratio: Option<f64>,
}

#[derive(Deserialize)]
struct Answer {
    text: String,
    #[serde(default)]
    segments: Value,
    #[serde(default)]
    duration: Option<f64>,
    #[serde(default)]
    usage: Usage,
}

/// By seconds or by tokens.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Usage {
    seconds: Option<f64>,
    input_tokens: u64,
    output_tokens: u64,
}

impl HttpTranscription {
    pub(in crate::llm) fn new(http: reqwest::Client, provider: ProviderSettings, model: String) -> Self {
        Self { http, provider, model, is_plain: AtomicBool::new(false) }
    }

    /// One attempt within `limit`. `name`: of the file, whose ending tells the endpoint what it is. `estimate`: what counts as used if it fails.
    pub(in crate::llm) async fn transcribe(
        &self,
        (name, bytes): (&str, Vec<u8>),
        estimate: TokenUsage,
        limit: Duration,
    ) -> Result<Heard, FailedAttempt> {
        let failed = |error, usage| FailedAttempt { error, usage, counted: Counted::default(), written: String::new() };
        let provider = || self.provider.name.clone();
        let Ok(asked) = tokio::time::timeout(limit, self.ask(name, bytes, limit)).await else {
            return Err(failed(ModelError::TimedOut { provider: provider() }, estimate));
        };
        let body = asked.map_err(|(error, is_charged)| failed(error, if is_charged { estimate } else { TokenUsage::default() }))?;
        let answer: Answer = serde_json::from_str(&body)
            .map_err(|error| failed(ModelError::Garbled { provider: provider(), reason: error.to_string() }, estimate))?;
        let usage = TokenUsage { input: answer.usage.input_tokens, cached: 0, output: answer.usage.output_tokens };
        let length = answer.usage.seconds.or(answer.duration).and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
        // Segments of another shape say nothing, and the text is good without them.
        let segments = serde_json::from_value(answer.segments).unwrap_or_default();
        Ok(Heard { text: answer.text, segments, length, usage })
    }

    /// The body, or why there is none, and whether it may be charged. Models that do not say how sure they are refuse to be asked for it.
    async fn ask(&self, name: &str, bytes: Vec<u8>, limit: Duration) -> Result<String, (ModelError, bool)> {
        if self.is_plain.load(Ordering::Relaxed) {
            return self.post("json", name, bytes, limit).await.map_err(|(error, charged, _)| (error, charged));
        }
        match self.post("verbose_json", name, bytes.clone(), limit).await {
            Err((_, false, Some(400 | 422))) => {
                let body = self.post("json", name, bytes, limit).await.map_err(|(error, charged, _)| (error, charged))?;
                self.is_plain.store(true, Ordering::Relaxed);
                Ok(body)
            }
            asked => asked.map_err(|(error, charged, _)| (error, charged)),
        }
    }

    /// The body, or why there is none, whether it may be charged, and the status of a refusal.
    async fn post(
        &self,
        format: &'static str,
        name: &str,
        bytes: Vec<u8>,
        limit: Duration,
    ) -> Result<String, (ModelError, bool, Option<u16>)> {
        let form = Form::new()
            .text("model", self.model.clone())
            .text("response_format", format)
            .part("file", Part::bytes(bytes).file_name(name.to_owned()));
        let key = self.provider.key.as_ref().map(ExposeSecret::expose_secret);
        let mut post = self.http.post(format!("{}/audio/transcriptions", self.provider.base_url.trim_end_matches('/'))).multipart(form);
        if let Some(key) = key {
            post = post.bearer_auth(key);
        }
        let peer = Peer { provider: &self.provider.name, key, first_byte_timeout: limit, idle_timeout: limit };
        let response = peer.open(post).await.map_err(|unopened| {
            let status = unopened.reported.and_then(|(status, _)| status);
            (unopened.error, unopened.charged, status)
        })?;
        peer.text(response).await.map_err(|error| (error, true, None))
    }
}
