//! How long models take. Some answer in a second, and some on the team's own machine need half a minute for the same. A limit of time that suits the
//! first would lose every answer of the second.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use crate::llm::settings::ModelRef;
use crate::money::Purpose;

/// How many of the last calls count, for each model and purpose.
const KEPT: usize = 9;

/// A call may take this many times what it usually takes.
const TIMES: u32 = 3;

/// The durations of the last calls, in memory.
#[derive(Debug)]
pub(super) struct Pace {
    /// A limit grows to this many times what it is for a quick model.
    patience: u32,
    last: Mutex<HashMap<(ModelRef, Purpose), VecDeque<Duration>>>,
}

impl Pace {
    pub(super) fn new(patience: u32) -> Self {
        Self { patience: patience.max(1), last: Mutex::default() }
    }

    /// Notes how long a call took. `is_whole`: it was answered. A call that was given up counts only if it took longer than usual.
    pub(super) fn note(&self, model: &ModelRef, purpose: Purpose, took: Duration, is_whole: bool) {
        let mut known = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let last = known.entry((model.clone(), purpose)).or_default();
        if is_whole || took > median(last) {
            last.push_back(took);
            if last.len() > KEPT {
                last.pop_front();
            }
        }
    }

    /// The limit for the next call. `usual`: what it is for a quick model.
    pub(super) fn limit(&self, model: &ModelRef, purpose: Purpose, usual: Duration) -> Duration {
        let known = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let took = known.get(&(model.clone(), purpose)).map_or(Duration::ZERO, median);
        (took * TIMES).clamp(usual, usual * self.patience)
    }
}

/// Zero if there is none.
fn median(last: &VecDeque<Duration>) -> Duration {
    let mut sorted: Vec<Duration> = last.iter().copied().collect();
    sorted.sort_unstable();
    sorted.get(sorted.len() / 2).copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    const USUAL: Duration = Duration::from_secs(12);

    fn model(name: &str) -> ModelRef {
        ModelRef { provider: "house".into(), model: name.into() }
    }

    #[test]
    fn a_limit_follows_what_the_model_takes_within_bounds() {
        let pace = Pace::new(5);
        let limit = |name: &str| pace.limit(&model(name), Purpose::Routing, USUAL).as_secs();
        assert_eq!(limit("slow"), 12, "nothing is known yet");
        for (took, expected) in [(1, 12), (10, 30), (10, 30), (40, 30), (40, 30), (40, 60), (1, 30)] {
            pace.note(&model("slow"), Purpose::Routing, Duration::from_secs(took), true);
            assert_eq!(limit("slow"), expected, "after {took} s");
        }
        assert_eq!(limit("other"), 12);
        assert_eq!(pace.limit(&model("slow"), Purpose::Step, USUAL), USUAL, "another purpose asks for other answers");
        for _ in 0..KEPT {
            pace.note(&model("slow"), Purpose::Routing, Duration::from_secs(1), true);
        }
        assert_eq!(limit("slow"), 12, "only the last calls count");
    }

    #[test]
    fn the_settings_say_how_far_a_limit_grows() {
        for (patience, expected) in [(1, 12), (2, 24), (20, 90)] {
            let pace = Pace::new(patience);
            pace.note(&model("slow"), Purpose::Routing, Duration::from_secs(30), true);
            assert_eq!(pace.limit(&model("slow"), Purpose::Routing, USUAL).as_secs(), expected, "patience {patience}");
        }
    }

    #[test]
    fn a_call_that_was_given_up_makes_room_for_the_next() {
        let pace = Pace::new(5);
        let limit = || pace.limit(&model("slow"), Purpose::Routing, USUAL).as_secs();
        pace.note(&model("slow"), Purpose::Routing, Duration::from_secs(12), false);
        assert_eq!(limit(), 36);
        pace.note(&model("slow"), Purpose::Routing, Duration::from_millis(5), false);
        assert_eq!(limit(), 36, "a person has stopped it");
    }
}
