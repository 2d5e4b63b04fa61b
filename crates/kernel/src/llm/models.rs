use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use chrono::{DateTime, Utc};
use futures_util::future::join_all;
use tokio::sync::SemaphorePermit;
use tokio_util::sync::CancellationToken;
use tracing::{Instrument as _, info_span};

use crate::ids::{LedgerId, PersonaSlug};
use crate::llm::limiter::{ProviderLimiter, ProviderStatus};
use crate::llm::pace::Pace;
use crate::llm::price::Prices;
use crate::llm::provider::HttpModel;
use crate::llm::retry::{Effort, Tries};
use crate::llm::settings::{ModelRef, ModelSettings, UNKNOWN_WINDOW};
use crate::llm::{Cause, FailedAttempt, LONG_WAIT, LanguageModel, Meter, ModelError, ModelReply, ModelRequest, Written};
use crate::money::{Allowance, CallOutcome, Money, Purpose, Reservation, Settlement, TokenUsage};
use crate::persona::Tier;
use crate::time::SharedClock;

/// The purpose of a model call: determines the tier and the budget.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    /// None if the caller is not a persona.
    pub persona: Option<PersonaSlug>,
    pub purpose: Purpose,
    /// The id of the turn, ask, meeting or item.
    pub subject: String,
    pub tier: Tier,
    /// None: only money is a limit.
    pub allowance: Option<Allowance>,
}

/// All configured models.
///
/// A call tries the models of its tier, then those of lower tiers. Temporary failures are retried. Every attempt is reserved before and
/// settled after, also failed and cancelled ones. End a call with its cancellation token: a dropped future stays reserved.
pub struct Models {
    pub(super) candidates: Vec<Candidate>,
    limiters: BTreeMap<String, Arc<ProviderLimiter>>,
    prices: Prices,
    pace: Pace,
    meter: Arc<dyn Meter>,
    clock: SharedClock,
    total_timeout: Duration,
    attempts: u32,
    unpriced: Vec<String>,
}

/// A model in the fallback order of a tier.
pub(super) struct Candidate {
    pub(super) tier: Tier,
    pub(super) name: ModelRef,
    limiter: Arc<ProviderLimiter>,
    sees: bool,
    /// The context window by the settings or by its name.
    window: Option<usize>,
    /// Shared by the tiers that use the same model, because it learns what the endpoint lacks.
    pub(super) adapter: Arc<dyn LanguageModel>,
}

/// The state of a call.
pub(super) struct CallState<'a> {
    call: &'a Call,
    request: &'a ModelRequest,
    cancel: &'a CancellationToken,
    effort: Effort,
    /// The partial answer of the last interrupted attempt.
    unfinished: Option<ModelReply>,
}

impl CallState<'_> {
    /// Keeps the partial answer of a failed attempt, unless it is invalid or was blocked by a filter.
    fn note(&mut self, candidate: &Candidate, failed: FailedAttempt) -> ModelError {
        let FailedAttempt { error, usage, counted, written } = failed;
        let broke_off = matches!(
            error,
            ModelError::Cancelled | ModelError::TimedOut { .. } | ModelError::Truncated { .. } | ModelError::AtLimit { .. }
        );
        if broke_off && !written.trim().is_empty() {
            let ModelRef { provider, model } = candidate.name.clone();
            self.unfinished = Some(ModelReply {
                text: written.trim_start().to_owned(),
                calls: Vec::new(),
                usage,
                counted,
                provider,
                model,
                remarks: Vec::new(),
            });
        }
        error
    }
}

/// A tier refers to an unknown provider.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("tier {tier} uses the provider {provider:?}, which is not configured")]
pub struct UnknownProvider {
    pub tier: &'static str,
    pub provider: String,
}

impl Models {
    /// `http` must not follow redirects, which would send keys to other hosts, and must have no time-outs except for connecting.
    ///
    /// # Errors
    /// A tier refers to an unknown provider.
    pub fn new(
        settings: &ModelSettings,
        http: &reqwest::Client,
        meter: Arc<dyn Meter>,
        clock: SharedClock,
    ) -> Result<Self, UnknownProvider> {
        let limiters: BTreeMap<_, _> =
            settings.providers.iter().map(|p| (p.name.clone(), Arc::new(ProviderLimiter::new(p.name.clone(), p.parallel)))).collect();
        let mut candidates: Vec<Candidate> = Vec::new();
        // From the highest tier down, so that each model is followed by its fallbacks.
        for (tier, models) in settings.tiers.iter().rev() {
            for name in models {
                let provider = settings.providers.iter().find(|provider| provider.name == name.provider);
                let provider = provider.ok_or_else(|| UnknownProvider { tier: tier.as_str(), provider: name.provider.clone() })?;
                let known = candidates.iter().find(|candidate| candidate.name == *name).map(|candidate| Arc::clone(&candidate.adapter));
                let adapter =
                    known.unwrap_or_else(|| Arc::new(HttpModel::new(http.clone(), provider.clone(), name.model.clone(), settings)));
                let limiter = Arc::clone(&limiters[&name.provider]);
                let sees = settings.sees(&name.model);
                let window = settings.find_window(&name.model);
                candidates.push(Candidate { tier: *tier, name: name.clone(), limiter, sees, window, adapter });
            }
        }
        let (total_timeout, attempts) = (settings.total_timeout, settings.attempts.max(1));
        Ok(Self {
            candidates,
            limiters,
            prices: Prices::new(settings.prices.clone()),
            pace: Pace::new(settings.patience),
            meter,
            clock,
            total_timeout,
            attempts,
            unpriced: settings.list_unpriced(),
        })
    }

    /// Whether no model is configured, so that answers are composed offline.
    pub fn is_offline(&self) -> bool {
        self.candidates.is_empty()
    }

    /// Whether the model that is asked first for a tier sees pictures.
    pub fn sees(&self, tier: Tier) -> bool {
        self.candidates.iter().find(|candidate| candidate.tier <= tier).is_some_and(|candidate| candidate.sees)
    }

    /// The context window in tokens of the model that is asked first for a tier: what the endpoint has named, or the settings, or what is known by name.
    pub fn window(&self, tier: Tier) -> usize {
        let first = self.candidates.iter().find(|candidate| candidate.tier <= tier);
        first.and_then(|candidate| candidate.adapter.window().or(candidate.window)).unwrap_or(UNKNOWN_WINDOW)
    }

    /// Asks the endpoints for the context windows that are not known otherwise. Without an answer, 32,000 tokens are assumed.
    pub async fn learn_windows(&self) {
        let unknown = self.candidates.iter().filter(|candidate| candidate.window.is_none() && candidate.adapter.window().is_none());
        join_all(unknown.map(|candidate| candidate.adapter.learn_window())).await;
    }

    /// Whether any model sees pictures.
    pub fn has_eyes(&self) -> bool {
        self.candidates.iter().any(|candidate| candidate.sees)
    }

    /// How long a call may take: `usual` for a quick model, and longer for one that has been slow at such calls, as far as the settings
    /// allow.
    pub fn limit(&self, (tier, purpose): (Tier, Purpose), usual: Duration) -> Duration {
        let first = self.candidates.iter().find(|candidate| candidate.tier <= tier);
        first.map_or(usual, |candidate| self.pace.limit(&candidate.name, purpose, usual))
    }

    /// The models without a known price, as `provider/model`.
    pub fn unpriced(&self) -> &[String] {
        &self.unpriced
    }

    /// What this many tokens cost on the model that is asked first for a tier. None: its price is not known.
    pub fn price(&self, tier: Tier, usage: TokenUsage) -> Option<Money> {
        let first = self.candidates.iter().find(|candidate| candidate.tier <= tier)?;
        let cost = self.prices.cost(&first.name.model, usage);
        (cost != Money::ZERO).then_some(cost)
    }

    /// The state of each provider, by name.
    pub fn status(&self) -> Vec<ProviderStatus> {
        self.limiters
            .values()
            .map(|limiter| {
                let own = self.candidates.iter().filter(|candidate| candidate.name.provider == limiter.name());
                let lacks: BTreeMap<_, _> = own.map(|candidate| (candidate.name.model.clone(), candidate.adapter.lacks())).collect();
                limiter.status(lacks.keys().cloned().collect(), lacks.into_iter().filter(|(_, lacks)| !lacks.is_empty()).collect())
            })
            .collect()
    }

    /// Since when calls have failed, if the last one did.
    pub fn failing_since(&self) -> Option<DateTime<Utc>> {
        self.status().into_iter().filter_map(|provider| provider.failing_since).min()
    }

    /// How many calls an allowance still has.
    ///
    /// # Errors
    /// [`ModelError::Ledger`].
    pub async fn calls_left(&self, allowance: &Allowance) -> Result<u32, ModelError> {
        self.meter.calls_left(allowance).await
    }

    /// Asks the models of the call's tier and below until one answers.
    ///
    /// # Errors
    /// The last model's error; [`ModelError::NoModel`] if there is none. [`ModelError::Cancelled`], [`ModelError::OutOfBudget`],
    /// [`ModelError::OutOfCalls`] and [`ModelError::Ledger`] are returned at once.
    pub async fn complete(&self, call: &Call, request: &ModelRequest, cancel: &CancellationToken) -> Result<ModelReply, ModelError> {
        self.run(&mut self.state(call, request, cancel)).await
    }

    /// Like [`Models::complete`], but returns a partial answer when `cancel` fires.
    ///
    /// The ledger records the attempt as cancelled or failed, with the tokens used.
    ///
    /// # Errors
    /// As [`Models::complete`], if no model has written anything.
    pub async fn complete_or_break_off(
        &self,
        call: &Call,
        request: &ModelRequest,
        cancel: &CancellationToken,
    ) -> Result<Written, ModelError> {
        let mut state = self.state(call, request, cancel);
        match self.run(&mut state).await {
            Ok(reply) => Ok(Written { reply, broke_off: None }),
            Err(error) => match state.unfinished {
                Some(reply) => Ok(Written { reply, broke_off: Some(error) }),
                None => Err(error),
            },
        }
    }

    pub(super) fn state<'a>(&self, call: &'a Call, request: &'a ModelRequest, cancel: &'a CancellationToken) -> CallState<'a> {
        CallState { call, request, cancel, effort: Effort::new(self.total_timeout, self.attempts), unfinished: None }
    }

    async fn run(&self, state: &mut CallState<'_>) -> Result<ModelReply, ModelError> {
        let Call { purpose, subject, tier, persona, .. } = state.call;
        let persona = persona.as_ref().map(PersonaSlug::as_str);
        let span = info_span!("model_call", purpose = purpose.as_str(), subject, tier = tier.as_str(), persona);
        self.try_in_order(state).instrument(span).await
    }

    async fn try_in_order(&self, state: &mut CallState<'_>) -> Result<ModelReply, ModelError> {
        let resting = self.list_resting().await;
        let mut tried: Vec<&ModelRef> = Vec::new();
        let mut failure = ModelError::NoModel;
        for candidate in self.candidates.iter().filter(|candidate| candidate.tier <= state.call.tier) {
            if tried.contains(&&candidate.name) || !state.effort.may_ask(candidate.limiter.name()) {
                continue;
            }
            tried.push(&candidate.name);
            let rest = resting.iter().find(|(model, _)| *model == candidate.name);
            let asked = match rest {
                Some((model, until)) => Err(ModelError::UsedUp { provider: model.provider.clone(), until: *until }),
                None => self.ask(candidate, state).await,
            };
            let error = match asked {
                Ok(reply) => return Ok(reply),
                Err(error @ (ModelError::Cancelled | ModelError::OutOfBudget(_) | ModelError::OutOfCalls(_) | ModelError::Ledger(_))) => {
                    return Err(error);
                }
                // The same model goes on with a text. Another one would begin again.
                Err(error @ ModelError::AtLimit { .. }) if state.request.schema.is_none() => return Err(error),
                Err(error) => error,
            };
            // A prompt that is too long can be shortened, and one that a filter blocks can be reworded, so these are reported before other failures.
            if !matches!(failure.cause(), Some(Cause::ContextLength | Cause::Filter)) {
                failure = sooner(failure, error);
            }
        }
        Err(failure)
    }

    /// Asks one model until it answers or a retry is useless.
    async fn ask(&self, candidate: &Candidate, state: &mut CallState<'_>) -> Result<ModelReply, ModelError> {
        let mut tries = Tries::default();
        loop {
            let slot = self.enter(candidate, state).await?;
            let error = match self.attempt(candidate, state).await {
                Ok(reply) => return Ok(reply),
                Err(error) => error,
            };
            // Releases the slot during the pause.
            drop(slot);
            let pause = tries.pause_after(&error, fastrand::f64()).filter(|pause| *pause < state.effort.left());
            let Some(pause) = pause.filter(|_| state.effort.may_ask(candidate.limiter.name())) else { return Err(error) };
            tokio::select! {
                biased;
                () = state.cancel.cancelled() => return Err(ModelError::Cancelled),
                () = self.clock.sleep(pause) => state.effort.spend(pause),
            }
        }
    }

    async fn enter<'a>(&self, candidate: &'a Candidate, state: &mut CallState<'_>) -> Result<SemaphorePermit<'a>, ModelError> {
        let since = Instant::now();
        let slot = candidate.limiter.enter(state.effort.left(), || self.clock.now(), state.cancel).await;
        state.effort.spend(since.elapsed());
        slot
    }

    /// One attempt with its reservation and settlement.
    pub(super) async fn attempt(&self, candidate: &Candidate, state: &mut CallState<'_>) -> Result<ModelReply, ModelError> {
        let max_output_tokens = candidate.adapter.room_for(state.request.max_output_tokens);
        let reservation = self.reservation(candidate, state, max_output_tokens);
        if let Err(error) = self.meter.reserve(&reservation).await {
            candidate.limiter.learn(Err(&error), self.clock.now());
            return Err(error);
        }
        state.effort.asked(candidate.limiter.name());
        let since = Instant::now();
        let mut request = Cow::Borrowed(state.request);
        if !candidate.sees && !request.pictures.is_empty() {
            request = Cow::Owned(request.without_pictures(|_| true));
        }
        if request.max_output_tokens != max_output_tokens {
            request.to_mut().max_output_tokens = max_output_tokens;
        }
        let result = candidate.adapter.complete(&request, state.effort.left(), state.cancel).await;
        let took = since.elapsed();
        state.effort.spend(took);
        if matches!(&result, Ok(_) | Err(FailedAttempt { error: ModelError::Cancelled, .. })) {
            self.pace.note(&candidate.name, state.call.purpose, took, result.is_ok());
        }
        candidate.limiter.learn(result.as_ref().map(|_| ()).map_err(|failed| &failed.error), self.clock.now());
        self.settle(reservation.id, &candidate.name, &result, took).await;
        match result.map_err(|failed| state.note(candidate, failed)) {
            Err(error) => Err(self.note_rest(&candidate.name, error).await),
            replied => replied,
        }
    }

    /// The models that may not be asked now, and until when. Without the database, all may be.
    pub async fn list_resting(&self) -> Vec<(ModelRef, DateTime<Utc>)> {
        let listed = self.meter.list_resting(self.clock.now()).await;
        listed.unwrap_or_else(|error| {
            tracing::warn!(%error, "whether a model is used up is not known");
            Vec::new()
        })
    }

    /// Keeps until when a model is used up, if its provider says so and the wait is a long one.
    async fn note_rest(&self, model: &ModelRef, error: ModelError) -> ModelError {
        let ModelError::Busy { provider, cause: Cause::RateLimit | Cause::Quota | Cause::Credit, retry_after: Some(wait), .. } = &error
        else {
            return error;
        };
        if *wait < LONG_WAIT {
            return error;
        }
        let until = self.clock.now() + (*wait).min(LONGEST_REST);
        tracing::warn!(provider = model.provider, model = model.model, %until, %error, "a model is used up");
        if let Err(error) = self.meter.rest(model, Some(until)).await {
            tracing::warn!(%error, "until when a model is used up could not be kept");
        }
        ModelError::UsedUp { provider: provider.clone(), until }
    }

    /// The model has answered, so it is not used up any more.
    pub(super) async fn wake(&self, model: &ModelRef) {
        if let Err(error) = self.meter.rest(model, None).await {
            tracing::warn!(%error, "a model may be taken for used up");
        }
    }

    fn reservation(&self, candidate: &Candidate, state: &CallState<'_>, max_output_tokens: u32) -> Reservation {
        let CallState { call, request, .. } = state;
        let prompt = request.estimate_tokens();
        let cache_written = if candidate.adapter.writes_cache() { prompt } else { 0 };
        let worst = TokenUsage { input: prompt, cached: 0, output: max_output_tokens.into() };
        Reservation {
            id: LedgerId::generate(),
            at: self.clock.now(),
            persona: call.persona.clone(),
            purpose: call.purpose,
            subject: call.subject.clone(),
            allowance: call.allowance.clone(),
            provider: candidate.name.provider.clone(),
            model: candidate.name.model.clone(),
            tier: candidate.tier,
            tokens: prompt + u64::from(max_output_tokens),
            cost: self.prices.cost_with_cache(&candidate.name.model, worst, cache_written),
        }
    }

    /// Settles an attempt. If that fails, a paid answer is still returned, and its reservation stays at the worst case.
    async fn settle(&self, id: LedgerId, name: &ModelRef, result: &Result<ModelReply, FailedAttempt>, took: Duration) {
        let (usage, counted) = match result {
            Ok(reply) => (reply.usage, reply.counted),
            Err(failed) => (failed.usage, failed.counted),
        };
        let (outcome, kind) = match result {
            Ok(_) if counted.is_estimate => (CallOutcome::Estimated, "answered"),
            Ok(_) => (CallOutcome::Answered, "answered"),
            Err(FailedAttempt { error: ModelError::Cancelled, .. }) => (CallOutcome::Cancelled, "cancelled"),
            Err(FailedAttempt { error, .. }) => {
                tracing::warn!(provider = name.provider, model = name.model, %error, "a model did not answer");
                (CallOutcome::Failed, error.kind())
            }
        };
        let ModelRef { provider, model } = name;
        metrics::counter!("teamroom_model_calls_total", "provider" => provider.clone(), "model" => model.clone(), "outcome" => kind)
            .increment(1);
        metrics::histogram!("teamroom_model_latency_seconds", "provider" => provider.clone(), "model" => model.clone()).record(took);
        for (kind, tokens) in [("input", usage.input), ("cached", usage.cached), ("output", usage.output)] {
            metrics::counter!("teamroom_model_tokens_total", "kind" => kind).increment(tokens);
        }
        let latency_ms = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
        let cost = self.prices.cost_with_cache(&name.model, usage, counted.cache_written);
        let seconds = Duration::from_millis(latency_ms).as_secs_f64();
        let TokenUsage { input, cached, output } = usage;
        tracing::info!(provider, model, outcome = kind, input, cached, output, %cost, seconds, "model call");
        if let Err(error) = self.meter.settle(&Settlement { id: id.clone(), usage, cost, latency_ms, outcome }).await {
            tracing::error!(ledger = %id, %error, "a model call could not be settled and stays at its worst case");
        }
    }
}

/// The longest rest. A provider that asks for more is asked once then.
const LONGEST_REST: Duration = Duration::from_hours(31 * 24);

/// The later error, or of two models that are used up the one that comes back sooner.
fn sooner(before: ModelError, error: ModelError) -> ModelError {
    match (&before, &error) {
        (ModelError::UsedUp { until: first, .. }, ModelError::UsedUp { until, .. }) if first < until => before,
        _ => error,
    }
}
