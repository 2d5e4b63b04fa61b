//! The gateway, version 10: WebSocket connections with their handshake, heartbeats and frame faults.
//! Sessions are in [`crate::server`], because they outlive connections.

mod compress;
mod connection;
mod handshake;
mod reader;
mod writer;

use std::collections::HashMap;
use std::sync::Arc;

use axum::extract::ws::WebSocketUpgrade;
use axum::extract::{ConnectInfo, FromRequestParts, Query, Request, State};
use axum::http::header;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use local_server::CutSwitch;

use super::server::Server;

/// Larger than Discord's limit, so that an oversized frame gets a close code instead of a broken connection.
const READ_LIMIT: usize = 256 * 1024;

/// Handles WebSocket upgrades on any path, because the gateway shares `/` with the page.
pub(crate) async fn intercept(State(server): State<Arc<Server>>, request: Request, next: Next) -> Response {
    let upgrade = request.headers().get(header::UPGRADE);
    if upgrade.is_none_or(|value| !value.as_bytes().eq_ignore_ascii_case(b"websocket")) {
        return next.run(request).await;
    }
    if server.faults.ignores_upgrade() {
        server.stop.cancelled().await;
    }
    let wire = request.extensions().get::<ConnectInfo<CutSwitch>>().map(|info| info.0.clone()).unwrap_or_default();
    let (mut parts, _body) = request.into_parts();
    let query = Query::<HashMap<String, String>>::try_from_uri(&parts.uri).map(|query| query.0).unwrap_or_default();
    match WebSocketUpgrade::from_request_parts(&mut parts, &server).await {
        Ok(upgrade) => {
            let alive = server.connections.subscribe();
            upgrade.max_message_size(READ_LIMIT).on_upgrade(async move |socket| {
                connection::run(server, socket, wire, query).await;
                drop(alive);
            })
        }
        Err(rejection) => rejection.into_response(),
    }
}
