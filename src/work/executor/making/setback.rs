use chrono::{DateTime, TimeDelta, Utc};

use crate::domain::work::Wait;
use crate::llm::ModelError;
use crate::work::executor::Outcome;

/// How long a run is put off that stands still for so long already: after 1 minute, 5, 15, and then each half hour.
const PAUSES: [(TimeDelta, TimeDelta); 3] = [
    (TimeDelta::minutes(1), TimeDelta::minutes(1)),
    (TimeDelta::minutes(6), TimeDelta::minutes(5)),
    (TimeDelta::minutes(21), TimeDelta::minutes(15)),
];
const LONGEST: TimeDelta = TimeDelta::minutes(30);

/// What becomes of a run whose model gave no answer.
///
/// `still` is how long the journal has not grown: it counts the vain attempts, across restarts and without a counter.
pub(super) fn outcome(error: &ModelError, still: TimeDelta, now: DateTime<Utc>) -> Outcome {
    match error {
        ModelError::Cancelled => interrupted(now),
        ModelError::OutOfBudget(refused) => Outcome::Waits(Wait::for_budget(refused.clone(), now)),
        ModelError::NoModel => Outcome::Waits(Wait::Model),
        ModelError::Refused { .. } => {
            let why = "the language model refused; its settings need a look (`teamroom doctor` says which)".to_owned();
            Outcome::Waits(Wait::Decision { why })
        }
        // The same prompt may bring the same useless answer for ever, and each is paid for. Another run has another prompt.
        ModelError::Garbled { .. } | ModelError::Empty { .. } | ModelError::Truncated { .. } if pause_after(still) == LONGEST => {
            Outcome::Failed { why: format!("the language model gave no usable answer for {} minutes", still.num_minutes()) }
        }
        ModelError::Garbled { .. } | ModelError::Empty { .. } | ModelError::Truncated { .. } => {
            later(now, still, "the language model gave no usable answer")
        }
        ModelError::Busy { .. } => later(now, still, "the language model could not be reached"),
        ModelError::TimedOut { .. } => later(now, still, "the language model took too long"),
        ModelError::Ledger(_) => later(now, still, "the ledger could not be written"),
    }
}

/// What becomes of a run whose worker has to let go of it.
pub(super) fn interrupted(now: DateTime<Utc>) -> Outcome {
    Outcome::Later { at: now, why: "it was interrupted".into() }
}

fn later(now: DateTime<Utc>, still: TimeDelta, why: &str) -> Outcome {
    Outcome::Later { at: now + pause_after(still), why: why.into() }
}

fn pause_after(still: TimeDelta) -> TimeDelta {
    PAUSES.iter().find(|(until, _)| still < *until).map_or(LONGEST, |(_, pause)| *pause)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_put_off_for_longer_the_longer_it_stands_still() {
        let mut still = TimeDelta::zero();
        let mut pauses = Vec::new();
        for _ in 0..6 {
            let pause = pause_after(still);
            pauses.push(pause.num_minutes());
            still += pause;
        }
        assert_eq!(pauses, [1, 5, 15, 30, 30, 30]);
    }
}
