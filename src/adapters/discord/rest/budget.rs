use std::collections::VecDeque;
use std::sync::Mutex;
use std::time::Duration;

use tokio::time::Instant;

/// Discord bans an IP address for an hour after 10,000 answers of 401, 403 or 429 in 10 minutes. All personas share one address. The team's
/// own limit is 50; ten are reserved for calls in progress.
const INVALID_REQUESTS: usize = 40;
const WINDOW: Duration = Duration::from_mins(10);
/// The pause after a 429 that does not come from the API. Discord's proxy has blocked us, and further calls prolong the block.
const SHUT_DOOR: Duration = Duration::from_mins(5);

/// Limits of the whole process, for all tokens together.
#[derive(Debug, Default)]
pub(crate) struct SharedBudget {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    invalid: VecDeque<Instant>,
    shut_until: Option<Instant>,
}

impl SharedBudget {
    /// How long all calls must wait, if at all.
    pub(crate) fn find_wait(&self, now: Instant) -> Option<Duration> {
        let mut state = self.lock();
        forget_old(&mut state.invalid, now);
        let spent = (state.invalid.len() >= INVALID_REQUESTS).then(|| state.invalid.front().map(|first| *first + WINDOW)).flatten();
        let shut = state.shut_until.filter(|until| *until > now);
        spent.max(shut).map(|until| until - now)
    }

    /// How long Discord still blocks this address. Without the budget of invalid requests, which does not concern logins.
    pub(crate) fn find_block(&self, now: Instant) -> Option<Duration> {
        self.lock().shut_until.filter(|until| *until > now).map(|until| until - now)
    }

    /// Counts an answer of 401, 403 or 429. True if the budget is now used up.
    pub(crate) fn record_invalid(&self, now: Instant) -> bool {
        let mut state = self.lock();
        forget_old(&mut state.invalid, now);
        state.invalid.push_back(now);
        state.invalid.len() == INVALID_REQUESTS
    }

    /// Blocks all calls after a 429 that does not come from the API. Returns for how long.
    pub(crate) fn shut(&self, retry_after: Option<Duration>, now: Instant) -> Duration {
        let wait = retry_after.unwrap_or(SHUT_DOOR).max(Duration::from_mins(1));
        self.lock().shut_until = Some(now + wait);
        wait
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().expect("no code panics while it holds the budget")
    }
}

fn forget_old(invalid: &mut VecDeque<Instant>, now: Instant) {
    while invalid.front().is_some_and(|at| now.duration_since(*at) >= WINDOW) {
        invalid.pop_front();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_budget_stops_all_calls_until_its_oldest_entry_is_ten_minutes_old() {
        let (budget, start) = (SharedBudget::default(), Instant::now());
        let used_up: Vec<bool> = (0..INVALID_REQUESTS as u64).map(|n| budget.record_invalid(start + Duration::from_secs(n))).collect();
        assert_eq!(used_up.iter().filter(|last| **last).count(), 1);
        let now = start + Duration::from_mins(1);
        assert_eq!((budget.find_wait(now), budget.find_block(now)), (Some(Duration::from_mins(9)), None));
        assert_eq!(budget.find_wait(start + WINDOW), None);
    }

    #[test]
    fn a_shut_door_is_left_alone_for_minutes() {
        let (budget, now) = (SharedBudget::default(), Instant::now());
        assert_eq!(budget.shut(Some(Duration::from_millis(10)), now), Duration::from_mins(1));
        assert_eq!(budget.shut(None, now), SHUT_DOOR);
        assert_eq!((budget.find_wait(now), budget.find_block(now)), (Some(SHUT_DOOR), Some(SHUT_DOOR)));
        assert_eq!(budget.find_wait(now + SHUT_DOOR), None);
    }
}
