//! A manual clock that runs by itself and can be advanced.

use std::time::Duration;

use kernel::time::ManualClock;
use tokio_util::task::AbortOnDropHandle;

/// The step of the running clock.
const STEP: Duration = Duration::from_millis(20);

/// Runs the clock in real time until the handle is dropped.
pub(crate) fn go_on(clock: &ManualClock) -> AbortOnDropHandle<()> {
    let clock = clock.clone();
    AbortOnDropHandle::new(tokio::spawn(async move {
        loop {
            tokio::time::sleep(STEP).await;
            clock.advance(STEP);
        }
    }))
}

/// Advances time and waits until polling tasks have seen it, which takes them up to half a minute.
pub(crate) async fn pass(clock: &ManualClock, time: Duration) {
    let look = Duration::from_secs(31);
    for step in [time.saturating_sub(2 * look), look, look] {
        clock.advance(step);
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}
