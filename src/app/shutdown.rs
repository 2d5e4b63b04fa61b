//! The shutdown order (flow 6): no new turns start, running ones get a grace period, unfinished work stays in the database.

use std::time::Duration;

use tokio_util::sync::CancellationToken;

/// Grace period of running turns after a stop request (OPS-10).
pub const GRACE: Duration = Duration::from_secs(20);

/// The stages of a shutdown. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct Shutdown {
    /// Cancelled when no new turn may start.
    pub stop: CancellationToken,
    /// Cancelled to abort running turns. Their rows stay open, and the next start resumes them.
    pub kill: CancellationToken,
}

/// Waits for the operator's signal: Ctrl-C or SIGTERM.
pub async fn signalled() {
    let mut terminate = match tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate()) {
        Ok(terminate) => terminate,
        Err(error) => {
            tracing::warn!(%error, "SIGTERM cannot be listened to; Ctrl-C still works");
            let _ = tokio::signal::ctrl_c().await;
            return;
        }
    };
    tokio::select! {
        _ = terminate.recv() => {}
        _ = tokio::signal::ctrl_c() => {}
    }
}
