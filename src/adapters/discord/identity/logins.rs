//! When an account may log in. Discord counts logins by token: one in five seconds, and as many a day as `GET /gateway/bot` says.
//!
//! Pure: the time is passed in. `max_concurrency` does not matter here. It is the number of groups into which the shards of a bot are divided,
//! each with its own limit, and each of our connections is the only shard of its bot.

use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::Instant;

/// How long an answer of `GET /gateway/bot` counts. The logins since then are subtracted from it.
const KNOWN_FOR: Duration = Duration::from_hours(1);

/// How many connections of one token may be open before their login. Each waits for its turn without heartbeats, and Discord closes it after about 41
/// seconds. With two, one that opens slowly does not hold up the next.
const OPEN: usize = 2;

/// The logins of one token. Personas with the same token share them.
#[derive(Debug)]
pub(crate) struct Logins {
    state: Mutex<State>,
    open: Semaphore,
}

impl Default for Logins {
    fn default() -> Self {
        Self { state: Mutex::default(), open: Semaphore::new(OPEN) }
    }
}

#[derive(Debug, Default)]
struct State {
    /// When the next login may be sent.
    next: Option<Instant>,
    day: Option<Day>,
}

/// What Discord says about the logins of a day.
#[derive(Debug, Clone, Copy)]
struct Day {
    remaining: u32,
    asked: Instant,
    /// When the full number is available again.
    renewed: Instant,
}

impl Logins {
    /// Waits until a connection may be opened for a login. The permit is kept until the login is sent.
    pub(super) async fn may_open(&self) -> SemaphorePermit<'_> {
        self.open.acquire().await.expect("the semaphore is never closed")
    }

    /// Takes the next turn to log in, and returns how long to wait for it.
    pub(super) fn take_turn(&self, spacing: Duration, now: Instant) -> Duration {
        let mut state = self.lock();
        let turn = state.next.map_or(now, |next| next.max(now));
        state.next = Some(turn + spacing);
        if let Some(day) = &mut state.day {
            day.remaining = day.remaining.saturating_sub(1);
        }
        turn - now
    }

    /// Whether Discord has to be asked how many logins are left.
    pub(super) fn must_ask(&self, now: Instant) -> bool {
        self.lock().day.is_none_or(|day| now >= day.asked + KNOWN_FOR || (day.remaining == 0 && now >= day.renewed))
    }

    pub(super) fn note_remaining(&self, remaining: u32, reset_after: Duration, now: Instant) {
        self.lock().day = Some(Day { remaining, asked: now, renewed: now + reset_after });
    }

    /// How long until Discord allows another login, if none is left.
    pub(super) fn find_wait(&self, now: Instant) -> Option<Duration> {
        let day = self.lock().day?;
        (day.remaining == 0 && now < day.renewed).then(|| day.renewed - now)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("no code panics while it holds the logins")
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use futures_util::FutureExt as _;

    use super::*;

    const SPACING: Duration = Duration::from_secs(5);
    const HOUR: Duration = Duration::from_hours(1);

    #[test]
    fn eight_tokens_log_in_at_once_and_two_connections_of_one_token_one_after_the_other() {
        let now = Instant::now();
        let eight: Vec<Logins> = (0..8).map(|_| Logins::default()).collect();
        assert!(eight.iter().all(|logins| logins.take_turn(SPACING, now).is_zero()));
        let shared = &eight[0];
        assert_eq!(shared.take_turn(SPACING, now), SPACING);
        assert_eq!(shared.take_turn(SPACING, now + Duration::from_secs(1)), Duration::from_secs(9));
        assert_eq!(shared.take_turn(SPACING, now + HOUR), Duration::ZERO);
    }

    #[tokio::test]
    async fn an_open_connection_waits_for_two_logins_at_most() {
        let (logins, mut now) = (Logins::default(), Instant::now());
        let mut waiting = VecDeque::from([(logins.may_open().await, logins.take_turn(SPACING, now))]);
        for persona in 0..30 {
            waiting.push_back((logins.may_open().await, logins.take_turn(SPACING, now)));
            assert!(logins.may_open().now_or_never().is_none(), "{persona}");
            // The first one logs in.
            let (_permit, turn) = waiting.pop_front().expect("two are open");
            assert!(turn <= SPACING * 2, "{persona}: {turn:?}");
            now += SPACING;
        }
    }

    #[test]
    fn a_token_without_logins_left_waits_for_its_next_day_and_then_asks_again() {
        let (logins, now) = (Logins::default(), Instant::now());
        assert!(logins.must_ask(now));
        logins.note_remaining(1, HOUR / 2, now);
        assert_eq!((logins.must_ask(now), logins.find_wait(now)), (false, None));
        logins.take_turn(SPACING, now);
        assert_eq!((logins.must_ask(now), logins.find_wait(now)), (false, Some(HOUR / 2)));
        assert_eq!((logins.must_ask(now + HOUR / 2), logins.find_wait(now + HOUR / 2)), (true, None));
    }

    #[test]
    fn an_old_answer_about_logins_is_asked_for_again() {
        let (logins, now) = (Logins::default(), Instant::now());
        logins.note_remaining(1_000, Duration::ZERO, now);
        assert_eq!((logins.must_ask(now), logins.must_ask(now + KNOWN_FOR)), (false, true));
    }
}
