use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio_util::sync::CancellationToken;

use crate::ids::{LedgerId, PersonaSlug};
use crate::llm::limiter::ProviderLimiter;
use crate::llm::price::Prices;
use crate::llm::settings::{ModelRef, ModelSettings, ProviderSettings};
use crate::llm::{FailedAttempt, Meter, ModelError, UnknownProvider};
use crate::money::{CallOutcome, Money, Purpose, Reservation, Settlement, TokenUsage};
use crate::persona::Tier;
use crate::time::SharedClock;

/// A model that no tier has: one that embeds, speaks or transcribes. Every call is in the ledger, stays within the budgets, and is a single attempt.
pub(super) struct Endpoint {
    pub(super) model: ModelRef,
    pub(super) prices: Prices,
    limiter: ProviderLimiter,
    meter: Arc<dyn Meter>,
    clock: SharedClock,
}

/// A call before it is made.
pub(super) struct Planned<'a> {
    pub(super) purpose: Purpose,
    pub(super) subject: &'a str,
    pub(super) persona: Option<&'a PersonaSlug>,
    /// The worst case, like `cost`.
    pub(super) tokens: u64,
    pub(super) cost: Money,
    /// The longest wait for a free place of the provider.
    pub(super) patience: Duration,
}

impl Endpoint {
    /// `what`: the setting that names the model.
    ///
    /// # Errors
    /// The provider is unknown.
    pub(super) fn new(
        model: ModelRef,
        what: &'static str,
        settings: &ModelSettings,
        meter: Arc<dyn Meter>,
        clock: SharedClock,
    ) -> Result<(Self, ProviderSettings), UnknownProvider> {
        let provider = settings.providers.iter().find(|provider| provider.name == model.provider).cloned();
        let provider = provider.ok_or_else(|| UnknownProvider { tier: what, provider: model.provider.clone() })?;
        let limiter = ProviderLimiter::new(provider.name.clone(), provider.parallel);
        Ok((Self { model, prices: Prices::new(settings.prices.clone()), limiter, meter, clock }, provider))
    }

    /// Makes a call: reserves its worst case, waits for `work`, and settles with the usage and cost that `bill` gives for the answer.
    pub(super) async fn call<T>(
        &self,
        planned: Planned<'_>,
        work: impl Future<Output = Result<T, FailedAttempt>> + Send,
        bill: impl Fn(&T) -> (TokenUsage, Money) + Send,
    ) -> Result<T, ModelError> {
        let _slot = self.limiter.enter(planned.patience, || self.clock.now(), &CancellationToken::new()).await?;
        let result = self.attempt(planned, work, bill).await;
        self.limiter.learn(result.as_ref().map(|_| ()), self.clock.now());
        let (provider, model) = (self.model.provider.clone(), self.model.model.clone());
        let outcome = result.as_ref().map_or_else(ModelError::kind, |_| "answered");
        metrics::counter!("teamroom_model_calls_total", "provider" => provider, "model" => model, "outcome" => outcome).increment(1);
        result
    }

    async fn attempt<T>(
        &self,
        planned: Planned<'_>,
        work: impl Future<Output = Result<T, FailedAttempt>> + Send,
        bill: impl Fn(&T) -> (TokenUsage, Money) + Send,
    ) -> Result<T, ModelError> {
        let reservation = Reservation {
            id: LedgerId::generate(),
            at: self.clock.now(),
            persona: planned.persona.cloned(),
            purpose: planned.purpose,
            subject: planned.subject.to_owned(),
            provider: self.model.provider.clone(),
            model: self.model.model.clone(),
            tier: Tier::T1,
            tokens: planned.tokens,
            allowance: None,
            cost: planned.cost,
        };
        self.meter.reserve(&reservation).await?;
        let since = Instant::now();
        let result = work.await;
        let ((usage, cost), outcome) = match &result {
            Ok(done) => (bill(done), CallOutcome::Answered),
            // A call that may have been charged stays at its worst case.
            Err(failed) if failed.usage.total() > 0 => ((failed.usage, planned.cost), CallOutcome::Failed),
            Err(failed) => ((failed.usage, Money::ZERO), CallOutcome::Failed),
        };
        let latency_ms = u64::try_from(since.elapsed().as_millis()).unwrap_or(u64::MAX);
        if let Err(error) = self.meter.settle(&Settlement { id: reservation.id.clone(), usage, cost, latency_ms, outcome }).await {
            tracing::error!(ledger = %reservation.id, %error, "a model call could not be settled and stays at its worst case");
        }
        result.map_err(|failed| failed.error)
    }
}
