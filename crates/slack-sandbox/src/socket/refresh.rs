//! The lifetime of a connection: `hello`, pings, the warning, `disconnect`.

use std::time::Duration;

use serde_json::json;
use tokio::sync::mpsc;

use super::{CONNECTION_LIMIT, DEBUG_CONNECTION, DisconnectReason, End, Outgoing, Socket};
use crate::server::Core;
use crate::state::Change;
use crate::timers::Timer;

/// How long a connection stays after `disconnect`, for acknowledgements that are under way.
const GRACE: Duration = Duration::from_secs(10);
/// The going-away code.
const GOING_AWAY: u16 = 1001;
const HOST: &str = "applink-sandbox";

impl Core {
    /// Registers a connection, and says hello to it unless a fault delays or withholds that.
    pub(crate) fn connected(&mut self, app: &str, frames: mpsc::UnboundedSender<Outgoing>, debug_reconnects: bool) -> u64 {
        self.last_socket += 1;
        let number = self.last_socket;
        let open = self.sockets.values().filter(|socket| socket.app == app && socket.ready);
        let is_one_too_many = open.count() >= CONNECTION_LIMIT;
        let socket = Socket { app: app.to_owned(), frames, ready: false, half_open: false, debug_reconnects };
        self.sockets.insert(number, socket);
        let slug = self.slug(app);
        if is_one_too_many {
            self.disconnect(number, DisconnectReason::TooManyWebsockets);
        } else if !self.world.apps.get(app).is_some_and(|app| app.config.socket_mode && !app.uninstalled) {
            self.disconnect(number, DisconnectReason::LinkDisabled);
        } else if !self.faults.withholds_hello(&slug) {
            let delay = self.faults.delays_hello(&slug);
            if delay.is_zero() {
                self.send_hello(number);
            } else {
                self.timers.set(self.now() + delay, Timer::Hello(number));
            }
        }
        self.changes.send_modify(|changes| *changes += 1);
        number
    }

    pub(crate) fn disconnected(&mut self, number: u64) {
        if let Some(socket) = self.sockets.remove(&number) {
            self.note_presence(&socket.app);
        }
        self.changes.send_modify(|changes| *changes += 1);
    }

    /// Tells open pages that an app may have come or gone.
    fn note_presence(&self, app: &str) {
        let _ = self.live.send(Change::Presence(app.to_owned()));
    }

    fn send_hello(&mut self, number: u64) {
        let now = self.now();
        let Some(socket) = self.sockets.get_mut(&number) else { return };
        socket.ready = true;
        let (app, debug_reconnects) = (socket.app.clone(), socket.debug_reconnects);
        self.note_presence(&app);
        let usual = if debug_reconnects { DEBUG_CONNECTION } else { self.world.windows.connection };
        let lifetime = self.faults.refresh.unwrap_or(usual);
        let connections = self.sockets.values().filter(|socket| socket.app == app && socket.ready).count();
        let started = chrono::DateTime::from_timestamp(i64::try_from(now.as_secs()).unwrap_or_default(), 0);
        let started = started.map(|started| started.format("%Y-%m-%d %H:%M:%S%.3f").to_string());
        let hello = json!({
            "type": "hello", "num_connections": connections, "connection_info": { "app_id": app },
            "debug_info": { "host": HOST, "started": started, "build_number": 1, "approximate_connection_time": lifetime.as_secs() },
        });
        self.write(number, Outgoing::Text(hello.to_string()));
        let windows = &self.world.windows;
        let warning = lifetime.saturating_sub(windows.warning);
        let first_ping = now + windows.ping;
        // A connection whose lifetime is shorter than the warning period gets no warning.
        if !warning.is_zero() {
            self.timers.set(now + warning, Timer::Warn(number));
        }
        self.timers.set(now + lifetime, Timer::Refresh(number));
        self.timers.set(first_ping, Timer::Ping(number));
    }

    /// Asks a client to disconnect. After a warning the connection stays; otherwise it gets nothing more and is closed later.
    pub(crate) fn disconnect(&mut self, number: u64, reason: DisconnectReason) {
        let message = json!({ "type": "disconnect", "reason": reason, "debug_info": { "host": HOST } });
        self.write(number, Outgoing::Text(message.to_string()));
        if reason == DisconnectReason::Warning {
            return;
        }
        if let Some(socket) = self.sockets.get_mut(&number) {
            socket.ready = false;
        }
        self.timers.set(self.now() + GRACE, Timer::Close(number));
    }

    /// Ends a connection.
    pub(crate) fn end(&mut self, number: u64, end: End) {
        if let Some(socket) = self.sockets.remove(&number) {
            // It fails only if the connection is gone.
            let _ = socket.frames.send(Outgoing::End(end));
            self.note_presence(&socket.app);
        }
    }

    /// Writes to a connection, unless it is half-open or gone.
    pub(super) fn write(&self, number: u64, outgoing: Outgoing) {
        if let Some(socket) = self.sockets.get(&number).filter(|socket| !socket.half_open) {
            let _ = socket.frames.send(outgoing);
        }
    }

    pub(crate) fn run_timer(&mut self, due: Duration, timer: Timer) {
        match timer {
            Timer::Unacknowledged(envelope) => self.unacknowledged(&envelope, due),
            Timer::Retry(pending) => self.send_envelope(*pending, due),
            Timer::Hello(number) => self.send_hello(number),
            Timer::Ping(number) => {
                if self.sockets.contains_key(&number) {
                    self.write(number, Outgoing::Ping);
                    self.timers.set(self.now() + self.world.windows.ping, Timer::Ping(number));
                }
            }
            Timer::Warn(number) => self.disconnect(number, DisconnectReason::Warning),
            Timer::Refresh(number) => {
                if self.sockets.get(&number).is_some_and(|socket| socket.ready) {
                    self.disconnect(number, DisconnectReason::RefreshRequested);
                }
            }
            Timer::Close(number) => {
                // A half-open connection is not closed, because its client would notice.
                if self.sockets.get(&number).is_some_and(|socket| !socket.half_open) {
                    self.end(number, End::Close(GOING_AWAY));
                }
            }
            Timer::Release(app) => self.release(&app),
        }
    }
}
