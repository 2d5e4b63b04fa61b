use std::collections::BTreeMap;
use std::time::Duration;

use crate::llm::ModelError;

/// The upper limit of the first pause. It doubles with each attempt.
const FIRST_PAUSE: Duration = Duration::from_millis(500);
const LONGEST_PAUSE: Duration = Duration::from_secs(8);

/// The remaining time and attempts of a call.
///
/// Elapsed time is added up and not read from a clock, so a clock jump neither ends nor extends the call.
#[derive(Debug)]
pub(super) struct Effort {
    left: Duration,
    attempts: u32,
    made: BTreeMap<String, u32>,
}

impl Effort {
    pub(super) fn new(total: Duration, attempts: u32) -> Self {
        Self { left: total, attempts, made: BTreeMap::new() }
    }

    /// The remaining time.
    pub(super) fn left(&self) -> Duration {
        self.left
    }

    pub(super) fn spend(&mut self, time: Duration) {
        self.left = self.left.saturating_sub(time);
    }

    /// Whether another attempt with this provider is allowed.
    pub(super) fn may_ask(&self, provider: &str) -> bool {
        !self.left.is_zero() && self.made.get(provider).is_none_or(|made| *made < self.attempts)
    }

    pub(super) fn asked(&mut self, provider: &str) {
        *self.made.entry(provider.to_owned()).or_default() += 1;
    }
}

/// The attempts with one model.
#[derive(Debug, Default)]
pub(super) struct Tries {
    made: u32,
    spoilt: bool,
}

impl Tries {
    /// The pause before the next attempt with the same model. None: no retry. `jitter` is between 0 and 1.
    ///
    /// A time-out is not retried: it already took 30 s, and somebody is waiting.
    pub(super) fn pause_after(&mut self, error: &ModelError, jitter: f64) -> Option<Duration> {
        self.made += 1;
        match error {
            ModelError::Busy { retry_after, .. } => {
                let most = FIRST_PAUSE.saturating_mul(1 << (self.made - 1).min(10)).min(LONGEST_PAUSE);
                Some(most.mul_f64(jitter).max(retry_after.unwrap_or_default()))
            }
            ModelError::Garbled { .. } | ModelError::Empty { .. } | ModelError::Truncated { .. } => {
                let first = !self.spoilt;
                self.spoilt = true;
                first.then_some(Duration::ZERO)
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llm::Cause;

    fn busy(retry_after: Option<Duration>) -> ModelError {
        ModelError::Busy { provider: "p".into(), reason: "529".into(), cause: Cause::Overloaded, retry_after }
    }

    #[test]
    fn pauses_double_up_to_a_limit_and_jitter_takes_any_part_of_them() {
        let mut tries = Tries::default();
        let pauses: Vec<_> = (0..40).map(|_| tries.pause_after(&busy(None), 1.0).expect("a pause")).collect();
        assert_eq!(pauses[..3], [FIRST_PAUSE, FIRST_PAUSE * 2, FIRST_PAUSE * 4]);
        assert_eq!(pauses[39], LONGEST_PAUSE);
        assert_eq!(Tries::default().pause_after(&busy(None), 0.0), Some(Duration::ZERO));
    }

    #[test]
    fn what_the_provider_asks_for_is_the_least_pause() {
        let asked = Duration::from_secs(7);
        assert_eq!(Tries::default().pause_after(&busy(Some(asked)), 0.5), Some(asked));
        assert_eq!(Tries::default().pause_after(&busy(Some(Duration::from_millis(1))), 1.0), Some(FIRST_PAUSE));
    }

    #[test]
    fn a_spoilt_answer_is_retried_once_and_a_refusal_never() {
        let mut tries = Tries::default();
        assert_eq!(tries.pause_after(&ModelError::Empty { provider: "p".into() }, 1.0), Some(Duration::ZERO));
        assert_eq!(tries.pause_after(&ModelError::Truncated { provider: "p".into() }, 1.0), None);
        assert_eq!(
            Tries::default().pause_after(&ModelError::Refused { provider: "p".into(), reason: "402".into(), cause: Cause::Credit }, 1.0),
            None
        );
        assert_eq!(Tries::default().pause_after(&ModelError::AtLimit { provider: "p".into() }, 1.0), None);
        assert_eq!(Tries::default().pause_after(&ModelError::TimedOut { provider: "p".into() }, 1.0), None);
    }

    #[test]
    fn attempts_are_counted_by_provider_and_end_with_the_time() {
        let mut effort = Effort::new(Duration::from_secs(10), 2);
        effort.asked("a");
        assert!(effort.may_ask("a"));
        effort.asked("a");
        assert!(!effort.may_ask("a") && effort.may_ask("b"));
        effort.spend(Duration::from_secs(11));
        assert!(!effort.may_ask("b"));
    }
}
