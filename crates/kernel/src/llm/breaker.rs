use std::time::Duration;

use chrono::{DateTime, Utc};

/// Failures in a row after which a provider is left alone.
const FAILURES_TO_OPEN: u32 = 5;
/// How long it is left alone before one call tries it again.
pub(super) const REST: Duration = Duration::from_secs(30);

/// Keeps calls away from a provider that fails again and again, so that each costs milliseconds instead of three attempts.
///
/// Times are handed in, so that a clock of the caller's drives it.
#[derive(Debug, Default)]
pub(super) struct Breaker {
    state: BreakerState,
}

/// What a breaker lets through.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BreakerState {
    /// Everything. `failures` came in a row.
    Closed { failures: u32 },
    /// Nothing before `until`, then one call as a probe.
    Open { until: DateTime<Utc> },
    /// One call is trying the provider. If nothing is heard of it by `until`, another may.
    Probing { until: DateTime<Utc> },
}

impl Default for BreakerState {
    fn default() -> Self {
        Self::Closed { failures: 0 }
    }
}

impl Breaker {
    pub(super) fn state(&self) -> BreakerState {
        self.state
    }

    /// Whether a call may be made now. Whoever is admitted says afterwards how it went.
    pub(super) fn admit(&mut self, now: DateTime<Utc>) -> bool {
        match self.state {
            BreakerState::Closed { .. } => true,
            BreakerState::Open { until } | BreakerState::Probing { until } if now < until => false,
            BreakerState::Open { .. } | BreakerState::Probing { .. } => {
                self.state = BreakerState::Probing { until: now + REST };
                true
            }
        }
    }

    /// The provider is alive.
    pub(super) fn succeeded(&mut self) {
        self.state = BreakerState::default();
    }

    /// The provider failed. Calls that were under way when it opened change nothing.
    pub(super) fn failed(&mut self, now: DateTime<Utc>) {
        self.state = match self.state {
            BreakerState::Closed { failures } if failures + 1 < FAILURES_TO_OPEN => BreakerState::Closed { failures: failures + 1 },
            BreakerState::Open { until } => BreakerState::Open { until },
            BreakerState::Closed { .. } | BreakerState::Probing { .. } => BreakerState::Open { until: now + REST },
        };
    }

    /// The call ended without saying anything about the provider. If it was the probe, the next call is.
    pub(super) fn learnt_nothing(&mut self, now: DateTime<Utc>) {
        if matches!(self.state, BreakerState::Probing { .. }) {
            self.state = BreakerState::Open { until: now };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const START: DateTime<Utc> = DateTime::UNIX_EPOCH;

    fn open() -> Breaker {
        let mut breaker = Breaker::default();
        for _ in 0..FAILURES_TO_OPEN {
            assert!(breaker.admit(START));
            breaker.failed(START);
        }
        breaker
    }

    #[test]
    fn it_opens_after_failures_in_a_row_and_not_before() {
        let mut breaker = Breaker::default();
        for _ in 1..FAILURES_TO_OPEN {
            breaker.failed(START);
        }
        assert!(breaker.admit(START));
        breaker.succeeded();
        breaker.failed(START);
        assert_eq!(breaker.state(), BreakerState::Closed { failures: 1 });
        assert!(!open().admit(START + REST / 2));
    }

    #[test]
    fn after_its_rest_exactly_one_call_probes_and_closes_it() {
        let mut breaker = open();
        assert!(breaker.admit(START + REST));
        assert!(!breaker.admit(START + REST));
        breaker.succeeded();
        assert!(breaker.admit(START + REST));
    }

    #[test]
    fn a_failed_probe_opens_it_again() {
        let mut breaker = open();
        assert!(breaker.admit(START + REST));
        breaker.failed(START + REST);
        assert_eq!(breaker.state(), BreakerState::Open { until: START + REST + REST });
    }

    #[test]
    fn late_failures_do_not_prolong_the_rest() {
        let mut breaker = open();
        breaker.failed(START + REST / 2);
        assert_eq!(breaker.state(), BreakerState::Open { until: START + REST });
    }

    #[test]
    fn a_cancelled_or_lost_probe_makes_room_for_another() {
        let mut breaker = open();
        assert!(breaker.admit(START + REST));
        breaker.learnt_nothing(START + REST);
        assert!(breaker.admit(START + REST));
        assert!(!breaker.admit(START + REST + REST / 2));
        assert!(breaker.admit(START + REST + REST));
    }
}
