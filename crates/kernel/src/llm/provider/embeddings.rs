//! `OpenAI`'s embeddings API, which most other servers support too.

use std::time::Duration;

use secrecy::ExposeSecret;
use serde::Deserialize;
use serde_json::json;

use crate::llm::provider::http::Peer;
use crate::llm::provider::lenient::read_count;
use crate::llm::settings::ProviderSettings;
use crate::llm::{Counted, FailedAttempt, ModelError};
use crate::money::TokenUsage;

/// An embeddings model behind an HTTP endpoint.
pub(in crate::llm) struct HttpEmbeddings {
    http: reqwest::Client,
    provider: ProviderSettings,
    model: String,
    dimensions: Option<u32>,
}

#[derive(Deserialize)]
struct Answer {
    data: Vec<Embedding>,
    #[serde(default)]
    usage: Usage,
}

#[derive(Deserialize)]
struct Embedding {
    /// Servers may answer in another order.
    #[serde(default)]
    index: Option<usize>,
    embedding: Vec<f32>,
}

#[derive(Default, Deserialize)]
struct Usage {
    #[serde(default, deserialize_with = "read_count")]
    prompt_tokens: u64,
}

impl HttpEmbeddings {
    pub(in crate::llm) fn new(http: reqwest::Client, provider: ProviderSettings, model: String, dimensions: Option<u32>) -> Self {
        Self { http, provider, model, dimensions }
    }

    /// One attempt within `limit`. `estimate`: the tokens that count if the endpoint does not tell.
    pub(in crate::llm) async fn embed(
        &self,
        texts: &[String],
        estimate: u64,
        limit: Duration,
    ) -> Result<(Vec<Vec<f32>>, TokenUsage), FailedAttempt> {
        let usage = |input| TokenUsage { input, ..TokenUsage::default() };
        let failed = |error, input| FailedAttempt { error, usage: usage(input), counted: Counted::default(), written: String::new() };
        let provider = || self.provider.name.clone();
        let Ok(asked) = tokio::time::timeout(limit, self.ask(texts, limit)).await else {
            return Err(failed(ModelError::TimedOut { provider: provider() }, estimate));
        };
        let body = asked.map_err(|(error, is_charged)| failed(error, if is_charged { estimate } else { 0 }))?;
        let garbled = |reason: String| failed(ModelError::Garbled { provider: provider(), reason }, estimate);
        let mut answer: Answer = serde_json::from_str(&body).map_err(|error| garbled(error.to_string()))?;
        answer.data.sort_by_key(|one| one.index);
        let length = answer.data.first().map_or(0, |one| one.embedding.len());
        if answer.data.len() != texts.len() || length == 0 || answer.data.iter().any(|one| one.embedding.len() != length) {
            return Err(garbled(format!("it gave {} vectors for {} texts", answer.data.len(), texts.len())));
        }
        let tokens = if answer.usage.prompt_tokens == 0 { estimate } else { answer.usage.prompt_tokens };
        Ok((answer.data.into_iter().map(|one| one.embedding).collect(), usage(tokens)))
    }

    /// The body, or why there is none, and whether it may be charged.
    async fn ask(&self, texts: &[String], limit: Duration) -> Result<String, (ModelError, bool)> {
        let url = format!("{}/embeddings", self.provider.base_url.trim_end_matches('/'));
        let mut body = json!({"model": self.model, "input": texts, "encoding_format": "float"});
        if let Some(dimensions) = self.dimensions {
            body["dimensions"] = dimensions.into();
        }
        let key = self.provider.key.as_ref().map(ExposeSecret::expose_secret);
        let mut post = self.http.post(url).json(&body);
        if let Some(key) = key {
            post = post.bearer_auth(key);
        }
        let peer = Peer { provider: &self.provider.name, key, first_byte_timeout: limit, idle_timeout: limit };
        let response = peer.open(post).await.map_err(|unopened| (unopened.error, unopened.charged))?;
        peer.text(response).await.map_err(|error| (error, true))
    }
}
