//! Retries while the database is unavailable.

use std::time::Duration;

use crate::features::chat::Conversation;
use kernel::db::StoreError;

/// Delay between two attempts.
pub(super) const RETRY: Duration = Duration::from_secs(1);

impl Conversation {
    /// Retries a database operation while the database is unavailable, until the process stops. The operation may have succeeded before the
    /// connection was lost. The store's methods say so.
    pub(super) async fn persist<T, F>(&self, what: &str, step: impl Fn() -> F) -> Result<T, StoreError>
    where
        F: Future<Output = Result<T, StoreError>>,
    {
        let deps = self.deps();
        loop {
            match step().await {
                Err(error) if error.is_retryable() && !deps.stop.is_cancelled() => {
                    tracing::warn!(%error, what, "waiting for the store");
                    deps.clock.sleep(RETRY).await;
                }
                done => return done,
            }
        }
    }
}
