use chrono::{DateTime, TimeDelta, Utc};

use crate::features::backlog::executor::Outcome;
use crate::features::backlog::model::{Blocker, Wait};
use kernel::agent::RunError;
use kernel::llm::ModelError;

/// The pause before the next attempt, by how long the run has made no progress: 1 minute, then 5, 15, and 30.
const PAUSES: [(TimeDelta, TimeDelta); 3] = [
    (TimeDelta::minutes(1), TimeDelta::minutes(1)),
    (TimeDelta::minutes(6), TimeDelta::minutes(5)),
    (TimeDelta::minutes(21), TimeDelta::minutes(15)),
];
const LONGEST: TimeDelta = TimeDelta::minutes(30);

/// The outcome for an item whose run has no reply. `idle`: how long its journal had not grown.
///
/// # Errors
/// The database is unavailable.
pub(super) fn outcome(error: RunError, idle: TimeDelta, now: DateTime<Utc>) -> anyhow::Result<Outcome> {
    Ok(match error {
        RunError::Store(error) => return Err(error.into()),
        RunError::Cancelled | RunError::Lost => Outcome::Later { at: now, why: "it was interrupted".into() },
        RunError::NeedsApproval(approval) => Outcome::Waits(Wait::Approval { approval }),
        RunError::NotYet { at, why } => Outcome::Later { at, why },
        RunError::OutOfBudget(refused) => Outcome::Waits(Wait::for_budget(refused, now)),
        RunError::Model(ModelError::NoModel) => Outcome::Waits(Wait::Model),
        RunError::Model(ModelError::Refused { .. } | ModelError::Declined { .. }) => {
            let why = format!("{}. {}", error.in_short(), error.remedy().trim_end_matches('.'));
            Outcome::Waits(Wait::Decision { why })
        }
        // The same prompt may produce the same useless answer again, at a cost. A new run has a different prompt.
        RunError::Nothing
        | RunError::Unusable { .. }
        | RunError::Model(
            ModelError::Garbled { .. } | ModelError::Empty { .. } | ModelError::Truncated { .. } | ModelError::AtLimit { .. },
        ) => {
            if pause_after(idle) == LONGEST {
                let why = format!("the language model gave no valid answer for {} minutes", idle.num_minutes());
                return Ok(Outcome::Failed { blocker: Blocker::Outside, why });
            }
            later(now, idle, "the language model gave no valid answer")
        }
        RunError::Model(ModelError::TimedOut { .. }) => later(now, idle, "the language model took too long"),
        RunError::Model(ModelError::Ledger(_)) => later(now, idle, "the cost could not be recorded"),
        RunError::Model(_) => later(now, idle, &error.in_short()),
        RunError::Paused => later(now, idle, "the persona is paused"),
        error @ (RunError::TooManyCalls { .. } | RunError::Stuck { .. } | RunError::OutOfCalls(_)) => {
            Outcome::Failed { blocker: Blocker::NoProgress, why: error.to_string() }
        }
        error @ RunError::NoPersona(_) => Outcome::Failed { blocker: Blocker::NeedsInput, why: error.to_string() },
    })
}

fn later(now: DateTime<Utc>, idle: TimeDelta, why: &str) -> Outcome {
    Outcome::Later { at: now + pause_after(idle), why: why.into() }
}

fn pause_after(idle: TimeDelta) -> TimeDelta {
    PAUSES.iter().find(|(until, _)| idle < *until).map_or(LONGEST, |(_, pause)| *pause)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_put_off_longer_each_time() {
        let mut idle = TimeDelta::zero();
        let mut pauses = Vec::new();
        for _ in 0..6 {
            let pause = pause_after(idle);
            pauses.push(pause.num_minutes());
            idle += pause;
        }
        assert_eq!(pauses, [1, 5, 15, 30, 30, 30]);
    }
}
