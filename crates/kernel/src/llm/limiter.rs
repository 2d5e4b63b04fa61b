use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

use chrono::{DateTime, Utc};
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio_util::sync::CancellationToken;

use crate::llm::breaker::{Breaker, BreakerState};
use crate::llm::{Cause, ModelError};

/// Limits concurrent calls to one provider and applies its circuit breaker.
///
/// Limits are per provider, so that a busy one does not block others.
#[derive(Debug)]
pub(super) struct ProviderLimiter {
    name: String,
    parallel: usize,
    /// Fair: first come, first served.
    slots: Semaphore,
    health: Mutex<Health>,
}

#[derive(Debug, Default)]
struct Health {
    breaker: Breaker,
    last_error: Option<(DateTime<Utc>, String)>,
    last_cause: Option<Cause>,
    /// The first error since the last success.
    failing_since: Option<DateTime<Utc>>,
    is_silent: bool,
}

/// The state of a provider.
#[derive(Debug, Clone, PartialEq)]
pub struct ProviderStatus {
    pub name: String,
    /// The models that tiers use.
    pub models: Vec<String>,
    pub breaker: BreakerState,
    /// Calls in progress, at most `parallel`.
    pub in_flight: usize,
    pub parallel: usize,
    /// The last error since the last success, and its time.
    pub last_error: Option<(DateTime<Utc>, String)>,
    /// The time of the first error since the last success.
    pub failing_since: Option<DateTime<Utc>>,
    /// Whether the last call got no answer, not even one that was declined, empty or cut off.
    pub is_silent: bool,
    /// The features that a model was found to lack, in words.
    pub lacks: Vec<(String, Vec<&'static str>)>,
}

impl ProviderLimiter {
    pub(super) fn new(name: String, parallel: usize) -> Self {
        let parallel = parallel.clamp(1, Semaphore::MAX_PERMITS);
        Self { name, parallel, slots: Semaphore::new(parallel), health: Mutex::default() }
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Waits at most `limit` for a slot. Fails while the breaker is open. An admitted caller must report the result.
    pub(super) async fn enter(
        &self,
        limit: Duration,
        now: impl Fn() -> DateTime<Utc>,
        cancel: &CancellationToken,
    ) -> Result<SemaphorePermit<'_>, ModelError> {
        let slot = tokio::select! {
            biased;
            () = cancel.cancelled() => return Err(ModelError::Cancelled),
            slot = self.slots.acquire() => slot.expect("the slots are never closed"),
            () = tokio::time::sleep(limit) => return Err(self.busy("all its slots were busy for too long", Cause::Overloaded)),
        };
        // Checked after the wait, because the breaker may have opened.
        let mut health = self.health();
        if health.breaker.admit(now()) {
            return Ok(slot);
        }
        let cause = health.last_cause.unwrap_or(Cause::Other);
        Err(self.busy("it failed several times in a row, so calls are paused for a moment", cause))
    }

    /// Updates the breaker with the result of an attempt.
    pub(super) fn learn(&self, outcome: Result<(), &ModelError>, now: DateTime<Utc>) {
        let mut health = self.health();
        match outcome {
            Ok(()) => {
                health.breaker.succeeded();
                health.last_error = None;
                health.failing_since = None;
                health.is_silent = false;
                return;
            }
            // Invalid responses usually come from a proxy whose provider is down.
            Err(ModelError::Busy { .. } | ModelError::TimedOut { .. } | ModelError::Garbled { .. }) => health.breaker.failed(now),
            // The provider works, but cannot serve this request.
            Err(
                ModelError::Refused { .. }
                | ModelError::Declined { .. }
                | ModelError::Empty { .. }
                | ModelError::Truncated { .. }
                | ModelError::AtLimit { .. },
            ) => health.breaker.succeeded(),
            Err(_) => {
                health.breaker.learnt_nothing(now);
                return;
            }
        }
        health.is_silent = !matches!(
            outcome,
            Err(ModelError::Declined { .. }
                | ModelError::Empty { .. }
                | ModelError::Truncated { .. }
                | ModelError::AtLimit { .. }
                | ModelError::Refused { cause: Cause::ContextLength | Cause::Filter, .. })
        );
        health.last_cause = outcome.err().and_then(ModelError::cause);
        health.last_error = outcome.err().map(|error| (now, error.to_string()));
        health.failing_since = health.failing_since.or(Some(now));
    }

    pub(super) fn status(&self, models: Vec<String>, lacks: Vec<(String, Vec<&'static str>)>) -> ProviderStatus {
        let health = self.health();
        ProviderStatus {
            name: self.name.clone(),
            models,
            breaker: health.breaker.state(),
            in_flight: self.parallel - self.slots.available_permits(),
            parallel: self.parallel,
            last_error: health.last_error.clone(),
            failing_since: health.failing_since,
            is_silent: health.is_silent,
            lacks,
        }
    }

    fn busy(&self, reason: &str, cause: Cause) -> ModelError {
        ModelError::Busy { provider: self.name.clone(), reason: reason.to_owned(), cause, retry_after: None }
    }

    fn health(&self) -> MutexGuard<'_, Health> {
        self.health.lock().expect("no code panics while it holds the health")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_provider_that_gives_no_answer_is_silent() {
        let limiter = ProviderLimiter::new("local".into(), 1);
        let provider = || "local".to_owned();
        let learn = |outcome: Result<(), ModelError>| {
            limiter.learn(outcome.as_ref().copied(), DateTime::UNIX_EPOCH);
            limiter.status(Vec::new(), Vec::new())
        };
        assert!(!limiter.status(Vec::new(), Vec::new()).is_silent, "nothing is known yet");
        for error in [
            ModelError::Declined { provider: provider(), said: None },
            ModelError::Empty { provider: provider() },
            ModelError::Truncated { provider: provider() },
            ModelError::AtLimit { provider: provider() },
        ] {
            assert!(learn(Err(ModelError::TimedOut { provider: provider() })).is_silent);
            let status = learn(Err(error));
            assert!(!status.is_silent && status.last_error.is_some(), "{status:?}");
        }
        let refused = |cause| ModelError::Refused { provider: provider(), reason: "no".into(), cause };
        assert!(learn(Err(refused(Cause::Key))).is_silent);
        assert!(!learn(Err(refused(Cause::ContextLength))).is_silent);
        assert!(!learn(Ok(())).is_silent);
    }
}
