//! A store that is away is waited for.

use std::time::Duration;

use crate::features::chat::Conversation;
use kernel::db::StoreError;

/// How long to wait before the store is asked again.
pub(super) const RETRY: Duration = Duration::from_secs(1);

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
