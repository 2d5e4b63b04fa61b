use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use tokio_util::sync::CancellationToken;

use crate::ids::LedgerId;
use crate::llm::limiter::ProviderLimiter;
use crate::llm::price::Prices;
use crate::llm::provider::HttpEmbeddings;
use crate::llm::settings::{ModelRef, ModelSettings};
use crate::llm::{Meter, ModelError, UnknownProvider, tokens_of};
use crate::memory::embedder::Embedder;
use crate::money::{CallOutcome, Purpose, Reservation, Settlement};
use crate::persona::Tier;
use crate::time::SharedClock;

/// The configured embeddings model of an endpoint. Every call is in the ledger, within the budgets.
pub struct Embeddings {
    /// As in the settings, with the length that is asked for.
    name: String,
    model: ModelRef,
    adapter: HttpEmbeddings,
    limiter: ProviderLimiter,
    prices: Prices,
    meter: Arc<dyn Meter>,
    clock: SharedClock,
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
        let provider = settings.providers.iter().find(|provider| provider.name == model.provider).cloned();
        let provider = provider.ok_or_else(|| UnknownProvider { tier: "embeddings", provider: model.provider.clone() })?;
        let limiter = ProviderLimiter::new(provider.name.clone(), provider.parallel);
        let length = settings.embedding_dimensions.map_or(String::new(), |length| format!(", {length} dimensions"));
        Ok(Some(Self {
            name: format!("{}/{}{length}", model.provider, model.model),
            adapter: HttpEmbeddings::new(http.clone(), provider, model.model.clone(), settings.embedding_dimensions),
            model,
            limiter,
            prices: Prices::new(settings.prices.clone()),
            meter,
            clock,
        }))
    }

    async fn attempt(&self, texts: &[String], patience: Duration) -> Result<Vec<Vec<f32>>, ModelError> {
        let tokens = texts.iter().map(|text| tokens_of(text.chars().count())).sum();
        let reservation = Reservation {
            id: LedgerId::generate(),
            at: self.clock.now(),
            persona: None,
            purpose: Purpose::Memory,
            subject: "memory".into(),
            provider: self.model.provider.clone(),
            model: self.model.model.clone(),
            tier: Tier::T1,
            tokens,
            allowance: None,
            cost: self.prices.worst_case(&self.model.model, tokens, 0),
        };
        self.meter.reserve(&reservation).await?;
        let since = Instant::now();
        let result = self.adapter.embed(texts, tokens, patience).await;
        let (usage, outcome) = match &result {
            Ok((_, usage)) => (*usage, CallOutcome::Answered),
            Err(failed) => (failed.usage, CallOutcome::Failed),
        };
        let latency_ms = u64::try_from(since.elapsed().as_millis()).unwrap_or(u64::MAX);
        let cost = self.prices.cost(&self.model.model, usage);
        if let Err(error) = self.meter.settle(&Settlement { id: reservation.id.clone(), usage, cost, latency_ms, outcome }).await {
            tracing::error!(ledger = %reservation.id, %error, "a model call could not be settled and stays at its worst case");
        }
        result.map(|(vectors, _)| vectors).map_err(|failed| failed.error)
    }
}

#[async_trait]
impl Embedder for Embeddings {
    fn name(&self) -> &str {
        &self.name
    }

    /// One attempt: a question does not wait for a second one, and the job that fills gaps comes back.
    async fn embed(&self, texts: &[String], patience: Duration) -> Result<Vec<Vec<f32>>, ModelError> {
        let _slot = self.limiter.enter(patience, || self.clock.now(), &CancellationToken::new()).await?;
        let result = self.attempt(texts, patience).await;
        self.limiter.learn(result.as_ref().map(|_| ()), self.clock.now());
        let (provider, model) = (self.model.provider.clone(), self.model.model.clone());
        let outcome = result.as_ref().map_or_else(ModelError::kind, |_| "answered");
        metrics::counter!("teamroom_model_calls_total", "provider" => provider, "model" => model, "outcome" => outcome).increment(1);
        result
    }
}
