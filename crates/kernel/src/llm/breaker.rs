use std::time::Duration;

use chrono::{DateTime, Utc};

/// The number of consecutive failures that opens the breaker.
const FAILURES_TO_OPEN: u32 = 5;
/// How long it stays open before one call tries again.
pub(super) const REST: Duration = Duration::from_secs(30);

/// A circuit breaker: stops calls to a failing provider, so that each costs milliseconds instead of three attempts.
///
/// The time is passed in.
#[derive(Debug, Default)]
pub(super) struct Breaker {
    state: BreakerState,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BreakerState {
    /// Lets everything through. `failures` in a row so far.
    Closed { failures: u32 },
    /// Lets nothing through before `until`, then one probe.
    Open { until: DateTime<Utc> },
    /// A probe is in progress. If it has no result by `until`, another one may start.
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

    /// Whether a call may be made now. The caller must report its result.
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

    /// The call succeeded.
    pub(super) fn succeeded(&mut self) {
        self.state = BreakerState::default();
    }

    /// The call failed. Results of calls that started before the breaker opened are ignored.
    pub(super) fn failed(&mut self, now: DateTime<Utc>) {
        self.state = match self.state {
            BreakerState::Closed { failures } if failures + 1 < FAILURES_TO_OPEN => BreakerState::Closed { failures: failures + 1 },
            BreakerState::Open { until } => BreakerState::Open { until },
            BreakerState::Closed { .. } | BreakerState::Probing { .. } => BreakerState::Open { until: now + REST },
        };
    }

    /// The call ended without a result about the provider. If it was the probe, the next call becomes the probe.
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
