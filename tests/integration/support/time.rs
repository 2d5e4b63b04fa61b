//! Time that goes on by itself and can be hurried.

use std::time::Duration;

use kernel::time::ManualClock;
use tokio_util::task::AbortOnDropHandle;

/// Time goes on in steps of this.
const STEP: Duration = Duration::from_millis(20);

/// Lets time go on as on the wall, until the handle is dropped.
pub(crate) fn go_on(clock: &ManualClock) -> AbortOnDropHandle<()> {
    let clock = clock.clone();
    AbortOnDropHandle::new(tokio::spawn(async move {
        loop {
            tokio::time::sleep(STEP).await;
            clock.advance(STEP);
        }
    }))
}

/// Time jumps, and whoever looks at the clock now and then has seen it: one who was just looking does so again within half a minute.
pub(crate) async fn pass(clock: &ManualClock, time: Duration) {
    let look = Duration::from_secs(31);
    for step in [time.saturating_sub(2 * look), look, look] {
        clock.advance(step);
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}
