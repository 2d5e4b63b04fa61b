//! The HTTP server: health, metrics and the kanban page.
//!
//! Health and metrics contain nothing that a person said, so they need no token. The kanban page needs one, except on this machine, and lets the
//! operator act. The server listens on loopback by default.

mod health;
mod kanban;
pub mod settings;

use std::net::SocketAddr;
use std::sync::Arc;

use chrono_tz::Tz;

use anyhow::Context;
use axum::Router;
use metrics_exporter_prometheus::PrometheusHandle;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use crate::adapters::http::settings::ServerSettings;
use crate::store::Store;
use kernel::chat::ChatPlatform;
use kernel::commands::Registry;
use kernel::llm::budget::Budgets;
use kernel::persona::roster::Roster;
use kernel::time::SharedClock;

/// What the server shows, and its settings.
#[derive(Clone)]
pub struct Shown {
    pub team: String,
    pub settings: ServerSettings,
    pub roster: Arc<Roster>,
    pub store: Store,
    /// The team's zone, for dates.
    pub zone: Tz,
    pub platform: Arc<dyn ChatPlatform>,
    /// Whether new messages reach the team, even if this process dies.
    pub is_listening: Arc<dyn Fn() -> bool + Send + Sync>,
    pub metrics: PrometheusHandle,
    /// Runs the commands of the kanban page's forms.
    pub commands: Arc<Registry>,
    pub budgets: Budgets,
    pub clock: SharedClock,
}

/// Binds the address.
///
/// # Errors
/// The address is in use or not one of this machine's.
pub async fn bind(listen: SocketAddr) -> anyhow::Result<TcpListener> {
    TcpListener::bind(listen)
        .await
        .with_context(|| format!("cannot listen on {listen} for health and metrics; set `server.listen` to a free address or to \"none\""))
}

/// Serves until `stop`. Returns the bound address.
///
/// # Errors
/// The socket has no address.
pub fn serve(listener: TcpListener, shown: Shown, stop: CancellationToken) -> anyhow::Result<SocketAddr> {
    let bound = listener.local_addr()?;
    let kanban = kanban::router(&shown, bound.ip(), stop.clone());
    let router = Router::new().merge(health::router().with_state(shown)).merge(kanban);
    tokio::spawn(async move {
        if let Err(error) = axum::serve(listener, router).with_graceful_shutdown(stop.cancelled_owned()).await {
            tracing::error!(%error, "the server for health and metrics ended");
        }
    });
    Ok(bound)
}
