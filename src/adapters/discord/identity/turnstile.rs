use std::sync::Arc;

use tokio::sync::{Mutex, Notify, OwnedMutexGuard};

/// Lets serenity dial the gateway only when the supervisor looks on.
///
/// serenity redials by itself, without end, every five seconds, and says nothing about it; each time that does not end in a RESUME is an
/// IDENTIFY, of which Discord allows 1000 a day. It reads the address from a mutex before each dial, so whoever holds the mutex decides. A
/// tokio mutex is fair: let go of, it belongs to whoever waits, and taking it back at once fails only then.
///
/// That holds on one thread. On another a waiting dial may be over before the mutex is taken back, and has passed unseen; so the turnstile
/// lives where the dials are made, and is told from elsewhere when to turn.
pub(super) struct Turnstile {
    address: Arc<Mutex<String>>,
    held: Option<OwnedMutexGuard<String>>,
}

impl Turnstile {
    /// An open turnstile: the first dial passes unseen.
    pub(super) fn new(address: Arc<Mutex<String>>) -> Self {
        Self { address, held: None }
    }

    /// Turns each time that it is told to, and tells of each dial that has passed. When nobody else holds `told` any more, the session was given
    /// up: its dials wait for ever, and are no news to the session after it.
    pub(super) async fn attend(mut self, told: Arc<Notify>, passed: impl Fn()) {
        loop {
            told.notified().await;
            if Arc::strong_count(&told) == 1 {
                return std::future::pending().await;
            }
            if self.turn() {
                passed();
            }
        }
    }

    /// Lets one waiting dial pass and closes again. True when there was one.
    fn turn(&mut self) -> bool {
        let was_closed = self.held.take().is_some();
        self.held = Arc::clone(&self.address).try_lock_owned().ok();
        was_closed && self.held.is_none()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    /// One that is attended here, and how many dials have passed.
    fn attended(address: &Arc<Mutex<String>>) -> (Arc<Notify>, Arc<AtomicUsize>) {
        let (turn, passed) = (Arc::new(Notify::new()), Arc::new(AtomicUsize::new(0)));
        let counted = Arc::clone(&passed);
        let count = move || {
            counted.fetch_add(1, Ordering::Relaxed);
        };
        tokio::spawn(Turnstile::new(Arc::clone(address)).attend(Arc::clone(&turn), count));
        (turn, passed)
    }

    #[tokio::test]
    async fn a_dial_waits_for_the_turn_and_each_turn_lets_one_pass() {
        let address = Arc::new(Mutex::new("ws://x".to_owned()));
        let (turn, passed) = attended(&address);
        let turned = async || {
            turn.notify_one();
            tokio::task::yield_now().await;
            passed.swap(0, Ordering::Relaxed)
        };
        // The first turn closes it.
        assert_eq!([turned().await, turned().await], [0, 0]);
        for _ in 0..2 {
            let address = Arc::clone(&address);
            let dial = tokio::spawn(async move { address.lock().await.clone() });
            tokio::task::yield_now().await;
            assert!(!dial.is_finished());
            assert_eq!([turned().await, turned().await], [1, 0]);
            dial.await.unwrap();
        }
    }

    #[tokio::test]
    async fn a_session_that_was_given_up_dials_no_more_and_tells_nothing() {
        let address = Arc::new(Mutex::new("ws://x".to_owned()));
        let (turn, passed) = attended(&address);
        turn.notify_one();
        tokio::task::yield_now().await;
        let dial = tokio::spawn(async move { address.lock().await.clone() });
        tokio::task::yield_now().await;
        // Told to turn while its thread was busy, and given up before it heard of it.
        turn.notify_one();
        drop(turn);
        for _ in 0..10 {
            tokio::task::yield_now().await;
        }
        assert_eq!((dial.is_finished(), passed.load(Ordering::Relaxed)), (false, 0));
    }

    #[test]
    fn no_dial_passes_unseen_though_the_turns_are_called_for_from_another_thread() {
        const DIALS: usize = 1000;
        let (hand_over, handed_over) = std::sync::mpsc::channel();
        let dialling = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
            runtime.block_on(async {
                let address = Arc::new(Mutex::new("ws://x".to_owned()));
                hand_over.send(attended(&address)).unwrap();
                for _ in 0..DIALS {
                    while address.try_lock().is_ok() {
                        tokio::task::yield_now().await;
                    }
                    drop(address.lock().await);
                }
            });
        });
        let (turn, passed) = handed_over.recv().unwrap();
        while !dialling.is_finished() {
            turn.notify_one();
        }
        // The last turn may be told of no more, with the runtime gone.
        assert!(passed.load(Ordering::Relaxed) >= DIALS - 1);
    }
}
