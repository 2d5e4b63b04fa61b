use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;

use crate::llm::endpoint::{Endpoint, Planned};
use crate::llm::provider::HttpEmbeddings;
use crate::llm::settings::ModelSettings;
use crate::llm::{Meter, ModelError, UnknownProvider, tokens_of};
use crate::memory::embedder::Embedder;
use crate::money::Purpose;
use crate::time::SharedClock;

/// The configured embeddings model of an endpoint.
pub struct Embeddings {
    /// The name from the settings, with the vector length that is requested.
    name: String,
    adapter: HttpEmbeddings,
    endpoint: Endpoint,
}

impl Embeddings {
    /// None if no endpoint is configured.
    ///
    /// # Errors
    /// The provider is unknown.
    pub fn new(
        settings: &ModelSettings,
        http: &reqwest::Client,
        meter: Arc<dyn Meter>,
        clock: SharedClock,
    ) -> Result<Option<Self>, UnknownProvider> {
        let Some(model) = settings.embeddings.clone() else { return Ok(None) };
        let (endpoint, provider) = Endpoint::new(model, "embeddings", settings, meter, clock)?;
        let model = &endpoint.model;
        let length = settings.embedding_dimensions.map_or(String::new(), |length| format!(", {length} dimensions"));
        Ok(Some(Self {
            name: format!("{}/{}{length}", model.provider, model.model),
            adapter: HttpEmbeddings::new(http.clone(), provider, model.model.clone(), settings.embedding_dimensions),
            endpoint,
        }))
    }
}

#[async_trait]
impl Embedder for Embeddings {
    fn name(&self) -> &str {
        &self.name
    }

    /// One attempt: a question does not wait for a second one, and the job that fills gaps comes back.
    async fn embed(&self, texts: &[String], patience: Duration) -> Result<Vec<Vec<f32>>, ModelError> {
        let tokens = texts.iter().map(|text| tokens_of(text.chars().count())).sum();
        let Endpoint { model, prices, .. } = &self.endpoint;
        let planned = Planned {
            purpose: Purpose::Memory,
            subject: "memory",
            persona: None,
            tokens,
            cost: prices.worst_case(&model.model, tokens, 0),
            patience,
        };
        let work = self.adapter.embed(texts, tokens, patience);
        let (vectors, _) = self.endpoint.call(planned, work, |(_, usage)| (*usage, prices.cost(&model.model, *usage))).await?;
        Ok(vectors)
    }
}
