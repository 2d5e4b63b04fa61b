use std::sync::Arc;

use tokio::sync::{Mutex, OwnedMutexGuard};

/// Lets serenity dial the gateway only when the supervisor looks on.
///
/// serenity redials by itself, without end, every five seconds, and says nothing about it; each time that does not end in a RESUME is an
/// IDENTIFY, of which Discord allows 1000 a day. It reads the address from a mutex before each dial, so whoever holds the mutex decides. A
/// tokio mutex is fair: let go of, it belongs to whoever waits, and taking it back at once fails only then.
pub(super) struct Turnstile {
    address: Arc<Mutex<String>>,
    held: Option<OwnedMutexGuard<String>>,
}

impl Turnstile {
    /// An open turnstile: the first dial passes unseen.
    pub(super) fn new(address: Arc<Mutex<String>>) -> Self {
        Self { address, held: None }
    }

    /// Lets one waiting dial pass and closes again. True when there was one.
    pub(super) fn turn(&mut self) -> bool {
        let was_closed = self.held.take().is_some();
        self.held = Arc::clone(&self.address).try_lock_owned().ok();
        was_closed && self.held.is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_dial_waits_for_the_turn_and_each_turn_lets_one_pass() {
        let address = Arc::new(Mutex::new("ws://x".to_owned()));
        let mut turnstile = Turnstile::new(Arc::clone(&address));
        assert_eq!([turnstile.turn(), turnstile.turn()], [false, false]);
        let dials: Vec<_> = (0..2)
            .map(|_| {
                let address = Arc::clone(&address);
                tokio::spawn(async move { address.lock().await.clone() })
            })
            .collect();
        tokio::task::yield_now().await;
        assert!(dials.iter().all(|dial| !dial.is_finished()));
        assert!(turnstile.turn());
        for dial in dials {
            dial.await.unwrap();
        }
        assert_eq!([turnstile.turn(), turnstile.turn()], [false, false]);
    }
}
