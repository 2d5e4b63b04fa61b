//! Socket Mode: tickets, connections, and envelopes with their acknowledgements.

mod connection;
mod delivery;
mod refresh;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::ws::WebSocketUpgrade;
use axum::extract::{ConnectInfo, Query, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use local_server::CutSwitch;
use serde::{Deserialize, Serialize};
use tokio::sync::mpsc;

use super::server::{Core, Server};
use super::state::Delivery;

/// "Socket Mode allows your app to maintain up to 10 open WebSocket connections at the same time."
pub(crate) const CONNECTION_LIMIT: usize = 10;
/// The lifetime of a connection with `debug_reconnects=true`.
const DEBUG_CONNECTION: Duration = Duration::from_mins(6);

/// Why Slack asks a client to disconnect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DisconnectReason {
    /// About ten seconds before the connection is refreshed.
    Warning,
    RefreshRequested,
    /// Socket Mode was switched off.
    LinkDisabled,
    /// The app has ten connections already.
    TooManyWebsockets,
}

/// How a connection ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    Close(u16),
    /// FIN without a close frame.
    WithoutCloseFrame,
    Reset,
}

/// Something to write to a connection.
#[derive(Debug)]
pub(crate) enum Outgoing {
    Text(String),
    Ping,
    /// Stops reading, because of [`crate::Switch::HalfOpen`].
    StopReading,
    End(End),
}

/// A connection as the server sees it.
#[derive(Debug)]
pub(crate) struct Socket {
    pub(crate) app: String,
    pub(crate) frames: mpsc::UnboundedSender<Outgoing>,
    /// `hello` was sent, and no `disconnect`.
    pub(crate) ready: bool,
    /// Nothing is sent or read. See [`crate::Switch::HalfOpen`].
    pub(crate) half_open: bool,
    pub(crate) debug_reconnects: bool,
}

/// The secret in an address of `apps.connections.open`.
#[derive(Debug)]
pub(crate) struct Ticket {
    pub(crate) app: String,
    pub(crate) until: Duration,
}

/// An envelope that waits for its acknowledgement.
#[derive(Debug)]
pub(crate) struct Pending {
    pub(crate) delivery: Delivery,
    /// How often it was sent before.
    pub(crate) attempt: usize,
    /// When it was sent last.
    pub(crate) sent: Duration,
}

impl Core {
    /// A new address for a connection, which can be used once.
    pub(crate) fn open_connection(&mut self, app: &str) -> String {
        let ticket = format!("{:032x}", self.random.u128(..));
        let now = self.now();
        self.tickets.retain(|_, ticket| now < ticket.until);
        self.tickets.insert(ticket.clone(), Ticket { app: app.to_owned(), until: now + self.world.windows.ticket });
        let host = self.world.base.replacen("http", "ws", 1);
        format!("{host}/link/?ticket={ticket}&app_id={app}")
    }
}

/// `GET /link/?ticket=…`. Refuses a ticket that is unknown, expired or used. Slack does not document what it does in this case.
pub(crate) async fn link(
    State(server): State<Arc<Server>>,
    ConnectInfo(wire): ConnectInfo<CutSwitch>,
    Query(query): Query<HashMap<String, String>>,
    upgrade: WebSocketUpgrade,
) -> Response {
    let (app, is_ignored) = {
        let mut core = server.core();
        let now = core.now();
        let ticket = query.get("ticket").and_then(|ticket| core.tickets.remove(ticket)).filter(|ticket| now < ticket.until);
        let Some(ticket) = ticket else { return (StatusCode::NOT_FOUND, "invalid_ticket").into_response() };
        let slug = core.slug(&ticket.app);
        let is_ignored = core.faults.ignores_upgrade(&slug);
        (ticket.app, is_ignored)
    };
    if is_ignored {
        server.stop.cancelled().await;
    }
    let debug_reconnects = query.get("debug_reconnects").is_some_and(|on| on == "true");
    // Subscribed before the upgrade, so that a shutdown in between waits too.
    let open = server.connections.subscribe();
    upgrade.on_upgrade(async move |socket| {
        connection::run(server, socket, wire, app, debug_reconnects).await;
        drop(open);
    })
}
