//! What keeps one failure from becoming more than that: a store that is away is waited for, and a panic ends only what it happened in.

use std::any::Any;
use std::panic::AssertUnwindSafe;
use std::time::Duration;

use futures_util::FutureExt;

use super::Conversation;
use crate::store::StoreError;

/// How long to wait before the store is asked again.
const RETRY: Duration = Duration::from_secs(1);

impl Conversation {
    /// Does something with the store, again and again while the store is away, until the process stops. What was being done may have been done
    /// before the store went away; the store's methods say so.
    pub(super) async fn persist<T, F>(&self, what: &str, step: impl Fn() -> F) -> Result<T, StoreError>
    where
        F: Future<Output = Result<T, StoreError>>,
    {
        let parts = self.parts();
        loop {
            match step().await {
                Err(error) if error.is_retryable() && !parts.stop.is_cancelled() => {
                    tracing::warn!(%error, what, "waiting for the store");
                    parts.clock.sleep(RETRY).await;
                }
                done => return done,
            }
        }
    }
}

/// Runs a future; a panic in it becomes an error.
pub(super) async fn contain<T>(future: impl Future<Output = anyhow::Result<T>>) -> anyhow::Result<T> {
    match AssertUnwindSafe(future).catch_unwind().await {
        Ok(result) => result,
        Err(panic) => Err(anyhow::anyhow!("it panicked: {}", message_of(&*panic))),
    }
}

fn message_of(panic: &(dyn Any + Send)) -> &str {
    panic.downcast_ref::<&str>().copied().or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("without a word")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_panic_becomes_an_error_with_its_words() {
        let failed = contain(async { if true { panic!("out of {}", "order") } else { Ok(()) } }).await;
        assert_eq!(failed.unwrap_err().to_string(), "it panicked: out of order");
        assert_eq!(contain(async { Ok(3) }).await.unwrap(), 3);
    }
}
