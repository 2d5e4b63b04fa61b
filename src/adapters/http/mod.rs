//! The team's own HTTP server: health, metrics, and the board of the backlog.
//!
//! It changes nothing. Health and metrics show nothing that a person said, so they ask for no token; the board does, and anywhere but on this
//! machine it is shown only to whoever has one. The server listens on loopback unless configured otherwise.

mod board;
mod health;
pub mod settings;

use std::net::SocketAddr;
use std::sync::Arc;

use anyhow::Context;
use axum::Router;
use metrics_exporter_prometheus::PrometheusHandle;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use crate::adapters::http::settings::ServerSettings;
use crate::store::Store;
use kernel::chat::ChatPlatform;
use kernel::persona::roster::Roster;
use kernel::time::SharedClock;

/// What the server shows, and to whom.
#[derive(Clone)]
pub struct Shown {
    /// The team's name.
    pub team: String,
    pub settings: ServerSettings,
    pub roster: Arc<Roster>,
    pub store: Store,
    pub platform: Arc<dyn ChatPlatform>,
    /// Whether what is said from now on reaches the team, whatever becomes of this process.
    pub is_listening: Arc<dyn Fn() -> bool + Send + Sync>,
    pub metrics: PrometheusHandle,
    pub clock: SharedClock,
}

/// Takes the address to serve on.
///
/// # Errors
/// It is taken or not ours.
pub async fn bind(listen: SocketAddr) -> anyhow::Result<TcpListener> {
    TcpListener::bind(listen)
        .await
        .with_context(|| format!("cannot listen on {listen} for health and metrics; set `server.listen` to a free address or to \"none\""))
}

/// Serves until `stop`. Returns the address.
///
/// # Errors
/// The socket has no address any more.
pub fn serve(listener: TcpListener, shown: Shown, stop: CancellationToken) -> anyhow::Result<SocketAddr> {
    let bound = listener.local_addr()?;
    let board = board::router(&shown, bound.ip(), stop.clone());
    let router = Router::new().merge(health::router().with_state(shown)).merge(board);
    tokio::spawn(async move {
        if let Err(error) = axum::serve(listener, router).with_graceful_shutdown(stop.cancelled_owned()).await {
            tracing::error!(%error, "the server for health and metrics ended");
        }
    });
    Ok(bound)
}
