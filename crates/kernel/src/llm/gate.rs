use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

use chrono::{DateTime, Utc};
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio_util::sync::CancellationToken;

use crate::llm::ModelError;
use crate::llm::breaker::{Breaker, BreakerState};

/// The way to one provider: how many calls may be in flight, and whether any should be.
///
/// Limits belong to the provider, whose quota they protect, and not to the process: one busy provider must not starve another.
#[derive(Debug)]
pub(super) struct Gate {
    name: String,
    parallel: usize,
    /// Serves in the order of asking.
    slots: Semaphore,
    health: Mutex<Health>,
}

#[derive(Debug, Default)]
struct Health {
    breaker: Breaker,
    last_error: Option<(DateTime<Utc>, String)>,
}

/// How a provider is doing.
#[derive(Debug, Clone, PartialEq)]
pub struct ProviderStatus {
    pub name: String,
    /// The models that tiers use of it.
    pub models: Vec<String>,
    pub breaker: BreakerState,
    /// Calls under way, of `parallel` at most.
    pub in_flight: usize,
    pub parallel: usize,
    /// What went wrong since its last answer, and when.
    pub last_error: Option<(DateTime<Utc>, String)>,
}

impl Gate {
    pub(super) fn new(name: String, parallel: usize) -> Self {
        let parallel = parallel.clamp(1, Semaphore::MAX_PERMITS);
        Self { name, parallel, slots: Semaphore::new(parallel), health: Mutex::default() }
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Waits for a slot, for at most `limit`, and is turned away while the breaker is open. Whoever gets in says afterwards how it went.
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
            () = tokio::time::sleep(limit) => return Err(self.busy("all its slots were taken for too long")),
        };
        // After the wait, since the breaker may have opened meanwhile.
        if self.health().breaker.admit(now()) {
            Ok(slot)
        } else {
            Err(self.busy("it failed several times in a row and is left alone for a while"))
        }
    }

    /// Draws conclusions about the provider from how an attempt ended.
    pub(super) fn learn(&self, outcome: Result<(), &ModelError>, now: DateTime<Utc>) {
        let mut health = self.health();
        match outcome {
            Ok(()) => {
                health.breaker.succeeded();
                health.last_error = None;
                return;
            }
            // Garbage comes from proxies whose provider is down.
            Err(ModelError::Busy { .. } | ModelError::TimedOut { .. } | ModelError::Garbled { .. }) => health.breaker.failed(now),
            // It is alive, though of no use for this request.
            Err(ModelError::Refused { .. } | ModelError::Empty { .. } | ModelError::Truncated { .. }) => health.breaker.succeeded(),
            Err(_) => {
                health.breaker.learnt_nothing(now);
                return;
            }
        }
        health.last_error = outcome.err().map(|error| (now, error.to_string()));
    }

    pub(super) fn status(&self, models: Vec<String>) -> ProviderStatus {
        let health = self.health();
        ProviderStatus {
            name: self.name.clone(),
            models,
            breaker: health.breaker.state(),
            in_flight: self.parallel - self.slots.available_permits(),
            parallel: self.parallel,
            last_error: health.last_error.clone(),
        }
    }

    fn busy(&self, reason: &str) -> ModelError {
        ModelError::Busy { provider: self.name.clone(), reason: reason.to_owned(), retry_after: None }
    }

    fn health(&self) -> MutexGuard<'_, Health> {
        self.health.lock().expect("no code panics while it holds the health")
    }
}
