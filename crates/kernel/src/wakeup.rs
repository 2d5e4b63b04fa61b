//! Waking up tasks of this process that wait for something to change, in place of looking again and again.

use std::sync::Arc;

use tokio::sync::watch;

/// Wakes up everybody who subscribed. Cheap to clone; all clones are one.
#[derive(Debug, Clone, Default)]
pub struct Wakeup(Arc<watch::Sender<()>>);

impl Wakeup {
    pub fn wake(&self) {
        self.0.send_replace(());
    }

    /// Sees each call of [`Wakeup::wake`] from now on, however late it is waited for.
    pub fn subscribe(&self) -> Wakeups {
        Wakeups(self.0.subscribe())
    }
}

/// A subscription to a [`Wakeup`].
#[derive(Debug)]
pub struct Wakeups(watch::Receiver<()>);

impl Wakeups {
    /// Waits for the next call. Those that came since the last time count as one.
    pub async fn next(&mut self) {
        if self.0.changed().await.is_err() {
            // Nobody is left who could wake us up.
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
