//! In-process notifications, instead of polling.

use std::sync::Arc;

use tokio::sync::watch;

/// Wakes all subscribers. Clones share the subscribers.
#[derive(Debug, Clone, Default)]
pub struct Wakeup(Arc<watch::Sender<()>>);

impl Wakeup {
    pub fn wake(&self) {
        self.0.send_replace(());
    }

    /// Receives every call of [`Wakeup::wake`] from now on, even before `next` is awaited.
    pub fn subscribe(&self) -> Wakeups {
        Wakeups(self.0.subscribe())
    }
}

#[derive(Debug)]
pub struct Wakeups(watch::Receiver<()>);

impl Wakeups {
    /// Waits for the next call. Several calls since the last one count as one.
    pub async fn next(&mut self) {
        if self.0.changed().await.is_err() {
            // All senders are gone.
            std::future::pending::<()>().await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn what_came_before_it_was_waited_for_is_not_missed() {
        let wakeup = Wakeup::default();
        let (mut early, mut other) = (wakeup.subscribe(), wakeup.subscribe());
        wakeup.wake();
        wakeup.clone().wake();
        early.next().await;
        other.next().await;
        let mut late = wakeup.subscribe();
        tokio::select! {
            biased;
            () = early.next() => panic!("two calls count as one"),
            () = late.next() => panic!("it was called before"),
            () = std::future::ready(()) => {}
        }
    }
}
