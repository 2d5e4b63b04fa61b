use std::sync::Arc;

use tokio::sync::{Mutex, Notify, OwnedMutexGuard};

/// Lets serenity connect to the gateway only when the supervisor allows it.
///
/// serenity reconnects by itself every five seconds, without end and without reporting it. Each attempt that does not RESUME costs an
/// IDENTIFY, of which Discord allows 1000 a day. serenity reads the gateway's address from a mutex before each attempt, so holding that
/// mutex blocks it. Tokio's mutex is fair: once released it goes to the waiting task, and an immediate `try_lock` fails only in that case.
///
/// This works only on the thread that connects. Another thread could miss an attempt that finishes before the mutex is locked again. The
/// limiter therefore runs on the connecting thread and is notified from elsewhere.
pub(super) struct ConnectLimiter {
    address: Arc<Mutex<String>>,
    held: Option<OwnedMutexGuard<String>>,
}

impl ConnectLimiter {
    /// Starts unlocked. The first attempt is not reported.
    pub(super) fn new(address: Arc<Mutex<String>>) -> Self {
        Self { address, held: None }
    }

    /// Allows one attempt per notification and calls `passed` for each. Stops when nobody else holds `permits`: the session was abandoned, and
    /// its further attempts stay blocked and unreported.
    pub(super) async fn run(mut self, permits: Arc<Notify>, passed: impl Fn()) {
        loop {
            permits.notified().await;
            if Arc::strong_count(&permits) == 1 {
                return std::future::pending().await;
            }
            if self.admit_one() {
                passed();
            }
        }
    }

    /// Releases one waiting attempt and locks again. True if one was waiting.
    fn admit_one(&mut self) -> bool {
        let was_locked = self.held.take().is_some();
        self.held = Arc::clone(&self.address).try_lock_owned().ok();
        was_locked && self.held.is_none()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    /// Runs a limiter on this thread and counts the attempts it lets pass.
    fn start_limiter(address: &Arc<Mutex<String>>) -> (Arc<Notify>, Arc<AtomicUsize>) {
        let (permit, passed) = (Arc::new(Notify::new()), Arc::new(AtomicUsize::new(0)));
        let counted = Arc::clone(&passed);
        let count = move || {
            counted.fetch_add(1, Ordering::Relaxed);
        };
        tokio::spawn(ConnectLimiter::new(Arc::clone(address)).run(Arc::clone(&permit), count));
        (permit, passed)
    }

    #[tokio::test]
    async fn each_permit_lets_one_waiting_connection_attempt_pass() {
        let address = Arc::new(Mutex::new("ws://x".to_owned()));
        let (permit, passed) = start_limiter(&address);
        let admitted = async || {
            permit.notify_one();
            tokio::task::yield_now().await;
            passed.swap(0, Ordering::Relaxed)
        };
        // The first notification locks the mutex.
        assert_eq!([admitted().await, admitted().await], [0, 0]);
        for _ in 0..2 {
            let address = Arc::clone(&address);
            let dial = tokio::spawn(async move { address.lock().await.clone() });
            tokio::task::yield_now().await;
            assert!(!dial.is_finished());
            assert_eq!([admitted().await, admitted().await], [1, 0]);
            dial.await.unwrap();
        }
    }

    #[tokio::test]
    async fn a_session_that_was_given_up_dials_no_more_and_tells_nothing() {
        let address = Arc::new(Mutex::new("ws://x".to_owned()));
        let (permit, passed) = start_limiter(&address);
        permit.notify_one();
        tokio::task::yield_now().await;
        let dial = tokio::spawn(async move { address.lock().await.clone() });
        tokio::task::yield_now().await;
        // Notified while its thread was busy, and abandoned before it ran.
        permit.notify_one();
        drop(permit);
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
                hand_over.send(start_limiter(&address)).unwrap();
                for _ in 0..DIALS {
                    while address.try_lock().is_ok() {
                        tokio::task::yield_now().await;
                    }
                    drop(address.lock().await);
                }
            });
        });
        let (permit, passed) = handed_over.recv().unwrap();
        while !dialling.is_finished() {
            permit.notify_one();
        }
        // The last attempt may go unreported, because the runtime has ended.
        assert!(passed.load(Ordering::Relaxed) >= DIALS - 1);
    }
}
