use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::SemaphorePermit;
use tokio_util::sync::CancellationToken;

use crate::ids::{LedgerId, PersonaSlug};
use crate::llm::gate::{Gate, ProviderStatus};
use crate::llm::price::Prices;
use crate::llm::provider::HttpModel;
use crate::llm::retry::{Effort, Tries};
use crate::llm::settings::{ModelRef, ModelSettings};
use crate::llm::{FailedAttempt, LanguageModel, Meter, ModelError, ModelReply, ModelRequest, Written};
use crate::money::{CallOutcome, Purpose, Reservation, Settlement};
use crate::persona::Tier;
use crate::time::SharedClock;

/// What a call is for: who pays, and how good the model has to be.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    /// None for callers that are no persona.
    pub persona: Option<PersonaSlug>,
    pub purpose: Purpose,
    /// The id of what it is for: a turn, an ask.
    pub subject: String,
    pub tier: Tier,
}

/// All configured models.
///
/// A call tries the models of its tier, then those of the tiers below, each a few times if its failure looks like passing. Every attempt is
/// reserved before and settled after, failed and cancelled ones too. End a call by its token: one whose future is dropped stays reserved.
pub struct Models {
    candidates: Vec<Candidate>,
    gates: BTreeMap<String, Arc<Gate>>,
    prices: Prices,
    meter: Arc<dyn Meter>,
    clock: SharedClock,
    total_timeout: Duration,
    attempts: u32,
}

/// A model at its place in a tier.
struct Candidate {
    tier: Tier,
    name: ModelRef,
    gate: Arc<Gate>,
    adapter: Box<dyn LanguageModel>,
}

/// A call under way.
struct Errand<'a> {
    call: &'a Call,
    request: &'a ModelRequest,
    cancel: &'a CancellationToken,
    effort: Effort,
    /// What the last attempt that broke off had come to.
    unfinished: Option<ModelReply>,
}

impl Errand<'_> {
    /// Keeps what a failed attempt had written, if the failure says nothing against it: garbage and what a filter held back are not kept.
    fn note(&mut self, candidate: &Candidate, failed: FailedAttempt) -> ModelError {
        let FailedAttempt { error, usage, written } = failed;
        let broke_off = matches!(error, ModelError::Cancelled | ModelError::TimedOut { .. } | ModelError::Truncated { .. });
        if broke_off && !written.trim().is_empty() {
            let ModelRef { provider, model } = candidate.name.clone();
            self.unfinished = Some(ModelReply { text: written.trim().to_owned(), calls: Vec::new(), usage, provider, model });
        }
        error
    }
}

/// A tier names a provider that there is none of.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("tier {tier} names the provider {provider:?}, which is not configured")]
pub struct UnknownProvider {
    pub tier: &'static str,
    pub provider: String,
}

impl Models {
    /// `http` should neither follow redirects, which would carry keys to other hosts, nor have time-outs of its own beyond connecting.
    ///
    /// # Errors
    /// A tier names a provider that is not configured.
    pub fn new(
        settings: &ModelSettings,
        http: &reqwest::Client,
        meter: Arc<dyn Meter>,
        clock: SharedClock,
    ) -> Result<Self, UnknownProvider> {
        let gates: BTreeMap<_, _> =
            settings.providers.iter().map(|p| (p.name.clone(), Arc::new(Gate::new(p.name.clone(), p.parallel)))).collect();
        let mut candidates = Vec::new();
        // From the best tier down, so that what follows a model is what it falls back to.
        for (tier, models) in settings.tiers.iter().rev() {
            for name in models {
                let provider = settings.providers.iter().find(|provider| provider.name == name.provider);
                let provider = provider.ok_or_else(|| UnknownProvider { tier: tier.as_str(), provider: name.provider.clone() })?;
                let adapter = HttpModel::new(http.clone(), provider.clone(), name.model.clone(), settings.idle_timeout);
                let gate = Arc::clone(&gates[&name.provider]);
                candidates.push(Candidate { tier: *tier, name: name.clone(), gate, adapter: Box::new(adapter) });
            }
        }
        let (total_timeout, attempts) = (settings.total_timeout, settings.attempts.max(1));
        Ok(Self { candidates, gates, prices: Prices::new(settings.prices.clone()), meter, clock, total_timeout, attempts })
    }

    /// Whether there is no model at all, so that the team composes its answers itself.
    pub fn is_offline(&self) -> bool {
        self.candidates.is_empty()
    }

    /// How each provider is doing, by name.
    pub fn status(&self) -> Vec<ProviderStatus> {
        self.gates
            .values()
            .map(|gate| {
                let mut models: Vec<_> =
                    self.candidates.iter().filter(|c| c.name.provider == gate.name()).map(|c| c.name.model.clone()).collect();
                models.sort();
                models.dedup();
                gate.status(models)
            })
            .collect()
    }

    /// Asks the models of the call's tier and below until one answers.
    ///
    /// # Errors
    /// The failure of the last model that was tried; [`ModelError::NoModel`] if there is none; at once on [`ModelError::Cancelled`],
    /// [`ModelError::OutOfBudget`] and [`ModelError::Ledger`].
    pub async fn complete(&self, call: &Call, request: &ModelRequest, cancel: &CancellationToken) -> Result<ModelReply, ModelError> {
        self.run(&mut self.errand(call, request, cancel)).await
    }

    /// Like [`Models::complete`], for a caller that takes half an answer rather than none: `cancel` is its deadline.
    ///
    /// Half an answer stands in the ledger as what the attempt was, cancelled or failed, with the tokens it used.
    ///
    /// # Errors
    /// As [`Models::complete`], where no model had written anything.
    pub async fn complete_or_break_off(
        &self,
        call: &Call,
        request: &ModelRequest,
        cancel: &CancellationToken,
    ) -> Result<Written, ModelError> {
        let mut errand = self.errand(call, request, cancel);
        match self.run(&mut errand).await {
            Ok(reply) => Ok(Written { reply, broke_off: None }),
            Err(error) => match errand.unfinished {
                Some(reply) => Ok(Written { reply, broke_off: Some(error) }),
                None => Err(error),
            },
        }
    }

    fn errand<'a>(&self, call: &'a Call, request: &'a ModelRequest, cancel: &'a CancellationToken) -> Errand<'a> {
        Errand { call, request, cancel, effort: Effort::new(self.total_timeout, self.attempts), unfinished: None }
    }

    /// Tries the models in their order.
    async fn run(&self, errand: &mut Errand<'_>) -> Result<ModelReply, ModelError> {
        let mut tried: Vec<&ModelRef> = Vec::new();
        let mut failure = ModelError::NoModel;
        for candidate in self.candidates.iter().filter(|candidate| candidate.tier <= errand.call.tier) {
            if tried.contains(&&candidate.name) || !errand.effort.may_ask(candidate.gate.name()) {
                continue;
            }
            tried.push(&candidate.name);
            failure = match self.ask(candidate, errand).await {
                Ok(reply) => return Ok(reply),
                Err(error @ (ModelError::Cancelled | ModelError::OutOfBudget(_) | ModelError::Ledger(_))) => return Err(error),
                Err(error) => error,
            };
        }
        Err(failure)
    }

    /// Asks one model until it answers or another attempt makes no sense.
    async fn ask(&self, candidate: &Candidate, errand: &mut Errand<'_>) -> Result<ModelReply, ModelError> {
        let mut tries = Tries::default();
        loop {
            let slot = self.enter(candidate, errand).await?;
            let error = match self.attempt(candidate, errand).await {
                Ok(reply) => return Ok(reply),
                Err(error) => error,
            };
            // Nobody holds a slot while it waits.
            drop(slot);
            let pause = tries.pause_after(&error, fastrand::f64()).filter(|pause| *pause < errand.effort.left());
            let Some(pause) = pause.filter(|_| errand.effort.may_ask(candidate.gate.name())) else { return Err(error) };
            tokio::select! {
                biased;
                () = errand.cancel.cancelled() => return Err(ModelError::Cancelled),
                () = self.clock.sleep(pause) => errand.effort.spend(pause),
            }
        }
    }

    async fn enter<'a>(&self, candidate: &'a Candidate, errand: &mut Errand<'_>) -> Result<SemaphorePermit<'a>, ModelError> {
        let since = Instant::now();
        let slot = candidate.gate.enter(errand.effort.left(), || self.clock.now(), errand.cancel).await;
        errand.effort.spend(since.elapsed());
        slot
    }

    /// One attempt with its money.
    async fn attempt(&self, candidate: &Candidate, errand: &mut Errand<'_>) -> Result<ModelReply, ModelError> {
        let reservation = self.reservation(candidate, errand);
        if let Err(error) = self.meter.reserve(&reservation).await {
            candidate.gate.learn(Err(&error), self.clock.now());
            return Err(error);
        }
        errand.effort.asked(candidate.gate.name());
        let since = Instant::now();
        let result = candidate.adapter.complete(errand.request, errand.effort.left(), errand.cancel).await;
        let took = since.elapsed();
        errand.effort.spend(took);
        candidate.gate.learn(result.as_ref().map(|_| ()).map_err(|failed| &failed.error), self.clock.now());
        self.settle(reservation.id, &candidate.name, &result, took).await;
        result.map_err(|failed| errand.note(candidate, failed))
    }

    fn reservation(&self, candidate: &Candidate, errand: &Errand<'_>) -> Reservation {
        let Errand { call, request, .. } = errand;
        let prompt = request.estimate_tokens();
        Reservation {
            id: LedgerId::generate(),
            at: self.clock.now(),
            persona: call.persona.clone(),
            purpose: call.purpose,
            subject: call.subject.clone(),
            provider: candidate.name.provider.clone(),
            model: candidate.name.model.clone(),
            tier: candidate.tier,
            tokens: prompt + u64::from(request.max_output_tokens),
            cost: self.prices.worst_case(&candidate.name.model, prompt, request.max_output_tokens),
        }
    }

    /// Accounts for an attempt. An answer that could not be accounted for was paid for and is kept; its reservation stays at the worst case.
    async fn settle(&self, id: LedgerId, name: &ModelRef, result: &Result<ModelReply, FailedAttempt>, took: Duration) {
        let (usage, outcome, kind) = match result {
            Ok(reply) => (reply.usage, CallOutcome::Answered, "answered"),
            Err(FailedAttempt { error: ModelError::Cancelled, usage, .. }) => (*usage, CallOutcome::Cancelled, "cancelled"),
            Err(FailedAttempt { error, usage, .. }) => {
                tracing::warn!(provider = name.provider, model = name.model, %error, "a model did not answer");
                (*usage, CallOutcome::Failed, error.kind())
            }
        };
        let (provider, model) = (name.provider.clone(), name.model.clone());
        metrics::counter!("teamroom_model_calls_total", "provider" => provider.clone(), "model" => model.clone(), "outcome" => kind)
            .increment(1);
        metrics::histogram!("teamroom_model_latency_seconds", "provider" => provider, "model" => model).record(took);
        for (kind, tokens) in [("input", usage.input), ("cached", usage.cached), ("output", usage.output)] {
            metrics::counter!("teamroom_model_tokens_total", "kind" => kind).increment(tokens);
        }
        let latency_ms = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
        let cost = self.prices.cost(&name.model, usage);
        if let Err(error) = self.meter.settle(&Settlement { id: id.clone(), usage, cost, latency_ms, outcome }).await {
            tracing::error!(ledger = %id, %error, "a model call could not be settled and stays at its worst case");
        }
    }
}
