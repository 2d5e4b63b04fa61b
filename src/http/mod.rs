//! The team's own HTTP server: health and metrics, on loopback.
//!
//! It shows nothing that a person said and changes nothing, so it asks for no token; it listens on loopback unless configured otherwise.

use std::net::SocketAddr;
use std::sync::Arc;

use anyhow::Context;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::IntoResponse;
use axum::routing::get;
use axum::{Json, Router};
use metrics_exporter_prometheus::PrometheusHandle;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use crate::chat::{ChatPlatform, IdentityState};
use crate::clock::SharedClock;
use crate::store::Store;

/// What the server shows.
#[derive(Clone)]
pub struct Shown {
    pub store: Store,
    pub platform: Arc<dyn ChatPlatform>,
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
    let router = Router::new()
        .route("/healthz", get(|| async { "ok\n" }))
        .route("/readyz", get(ready))
        .route("/metrics", get(metrics))
        .with_state(shown);
    tokio::spawn(async move {
        if let Err(error) = axum::serve(listener, router).with_graceful_shutdown(stop.cancelled_owned()).await {
            tracing::error!(%error, "the server for health and metrics ended");
        }
    });
    Ok(bound)
}

/// Ready when the store answers and every identity that is not given up on is online.
async fn ready(State(shown): State<Shown>) -> impl IntoResponse {
    let identities = shown.platform.identities();
    let waiting: Vec<_> = identities
        .iter()
        .filter(|identity| matches!(identity.state, IdentityState::Connecting | IdentityState::Reconnecting))
        .map(|identity| identity.persona.as_str())
        .collect();
    let store = shown.store.outbox_depth(shown.clock.now()).await;
    let ready = waiting.is_empty() && store.is_ok();
    let body = Json(serde_json::json!({
        "ready": ready,
        "waiting_for": waiting,
        "store": store.as_ref().map_or_else(ToString::to_string, |_| "ok".into()),
    }));
    (if ready { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE }, body)
}

async fn metrics(State(shown): State<Shown>) -> impl IntoResponse {
    for identity in shown.platform.identities() {
        let persona = identity.persona.to_string();
        let up = f64::from(u8::from(matches!(identity.state, IdentityState::Ready | IdentityState::Webhook)));
        metrics::gauge!("teamroom_identity_up", "persona" => persona.clone()).set(up);
        if let Some(latency) = identity.latency {
            metrics::gauge!("teamroom_gateway_latency_seconds", "persona" => persona).set(latency.as_secs_f64());
        }
    }
    if let Ok((count, oldest)) = shown.store.outbox_depth(shown.clock.now()).await {
        #[expect(clippy::cast_precision_loss, reason = "a gauge")]
        metrics::gauge!("teamroom_outbox_depth").set(count as f64);
        metrics::gauge!("teamroom_outbox_age_seconds").set(oldest.as_secs_f64());
    }
    ([(header::CONTENT_TYPE, "text/plain; version=0.0.4")], shown.metrics.render())
}
