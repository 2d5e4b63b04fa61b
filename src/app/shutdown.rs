//! The order in which the process ends (flow 6): no new turns, running ones get their time, what is left stands in the store.

use std::time::Duration;

use tokio_util::sync::CancellationToken;

/// How long running turns may go on after the process was asked to end (OPS-10).
pub const GRACE: Duration = Duration::from_secs(20);

/// The stages of a stop. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct Shutdown {
    /// No new turn begins.
    pub stop: CancellationToken,
    /// Running turns are cut off; their rows stay open and go on after the next start.
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
