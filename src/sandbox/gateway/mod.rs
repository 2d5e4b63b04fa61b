//! The gateway, version 10: sessions, their events and the WebSocket connections that carry them.
//!
//! A [`dispatch::Hub`] holds all sessions and is locked together with the state, so that events leave in the order
//! in which things happened. A [`connection`] only moves frames, and is where misbehaviour is done to them. What the
//! events say is decided elsewhere.

mod compress;
mod connection;
pub(crate) mod dispatch;
mod handshake;
mod intents;
mod reader;
mod session;
mod writer;

use std::collections::HashMap;
use std::sync::Arc;

use axum::extract::ws::WebSocketUpgrade;
use axum::extract::{ConnectInfo, FromRequestParts, Query, Request, State};
use axum::http::header;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

pub(crate) use connection::{End, Outgoing, Peer};
pub(crate) use dispatch::{Audience, Dispatch, Hub};
pub(crate) use intents::Intents;
pub(crate) use session::Link;

use super::server::Server;
use super::wire::ResetSwitch;

/// Room for a frame that is too large by Discord's rule, so that it gets its close code instead of a broken line.
const READ_LIMIT: usize = 256 * 1024;

/// Takes WebSocket upgrades of any path out of the stream of requests: the gateway shares `/` with the page.
pub(crate) async fn intercept(State(server): State<Arc<Server>>, request: Request, next: Next) -> Response {
    let upgrade = request.headers().get(header::UPGRADE);
    if upgrade.is_none_or(|value| !value.as_bytes().eq_ignore_ascii_case(b"websocket")) {
        return next.run(request).await;
    }
    if server.faults.ignores_upgrade() {
        server.stop.cancelled().await;
    }
    let wire = request.extensions().get::<ConnectInfo<ResetSwitch>>().map(|info| info.0.clone()).unwrap_or_default();
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
