//! Liveness, readiness and metrics. Contains nothing that a person said.

use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::IntoResponse;
use axum::routing::get;
use axum::{Json, Router};

use crate::adapters::http::Shown;
use crate::features::backlog::model::WorkStatus;
use kernel::chat::IdentityState;

pub(super) fn router() -> Router<Shown> {
    Router::new().route("/healthz", get(|| async { "ok\n" })).route("/readyz", get(ready)).route("/metrics", get(metrics))
}

/// Ready if the store answers, every identity is online or given up, and no message can be missed. The answer names the identities that were given
/// up.
async fn ready(State(shown): State<Shown>) -> impl IntoResponse {
    let identities = shown.platform.identities();
    let waiting: Vec<_> = identities
        .iter()
        .filter(|identity| matches!(identity.state, IdentityState::Connecting | IdentityState::Reconnecting))
        .map(|identity| identity.persona.as_str())
        .collect();
    let missing: Vec<_> = identities
        .iter()
        .filter(|identity| !matches!(identity.state, IdentityState::Ready | IdentityState::Webhook))
        .map(|identity| identity.persona.as_str())
        .collect();
    let store = shown.store.outbox_depth(shown.clock.now()).await;
    let listening = (shown.is_listening)();
    let ready = waiting.is_empty() && listening && store.is_ok();
    let body = Json(serde_json::json!({
        "ready": ready,
        "waiting_for": waiting,
        "missing": missing,
        "listening": listening,
        "store": store.as_ref().map_or_else(ToString::to_string, |_| "ok".into()),
    }));
    (if ready { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE }, body)
}

async fn metrics(State(shown): State<Shown>) -> impl IntoResponse {
    for identity in shown.platform.identities() {
        let (persona, platform) = (identity.persona.to_string(), identity.platform);
        let up = f64::from(u8::from(matches!(identity.state, IdentityState::Ready | IdentityState::Webhook)));
        metrics::gauge!("teamroom_identity_up", "persona" => persona.clone(), "platform" => platform).set(up);
        if let Some(latency) = identity.latency {
            metrics::gauge!("teamroom_gateway_latency_seconds", "persona" => persona, "platform" => platform).set(latency.as_secs_f64());
        }
    }
    if let Ok((count, oldest)) = shown.store.outbox_depth(shown.clock.now()).await {
        #[expect(clippy::cast_precision_loss, reason = "a gauge")]
        metrics::gauge!("teamroom_outbox_depth").set(count as f64);
        metrics::gauge!("teamroom_outbox_age_seconds").set(oldest.as_secs_f64());
    }
    if let Ok(counts) = shown.store.count_items(shown.clock.now()).await {
        // Reports every status. Otherwise the count of an emptied status would keep its last value.
        for status in WorkStatus::ALL {
            #[expect(clippy::cast_precision_loss, reason = "a gauge")]
            metrics::gauge!("teamroom_work_items", "status" => status.as_str()).set(counts.of(status) as f64);
        }
    }
    ([(header::CONTENT_TYPE, "text/plain; version=0.0.4")], shown.metrics.render())
}
