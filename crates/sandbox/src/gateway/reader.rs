//! Reads a client's frames and closes the connection on protocol errors.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::extract::ws::{Message, Utf8Bytes, WebSocket};
use futures_util::StreamExt;
use futures_util::stream::SplitStream;
use local_server::Direction;
use serde_json::{Value, json};

use super::handshake::{self, HandshakeResult, PeerSlot};
use crate::journal::keep_frame;
use crate::server::{End, Link, Outgoing, Server};

/// "Clients can send 120 gateway events per connection every 60 seconds."
const SENDS_PER_MINUTE: usize = 120;
/// "Gateway events sent to Discord must not exceed 4096 bytes."
const PAYLOAD_LIMIT: usize = 4_096;

pub(super) struct Reader {
    server: Arc<Server>,
    peer: PeerSlot,
    pub(super) stream: SplitStream<WebSocket>,
    pub(super) link: Link,
    /// Times of the frames received in the past minute.
    sends: Vec<Instant>,
}

impl Reader {
    pub(super) fn new(server: Arc<Server>, peer: PeerSlot, stream: SplitStream<WebSocket>, link: Link) -> Self {
        Self { server, peer, stream, link, sends: Vec::new() }
    }

    pub(super) async fn run(&mut self, query: &HashMap<String, String>) -> End {
        if !query.get("v").is_none_or(|version| ["9", "10"].contains(&version.as_str())) {
            return End::Close(4012, "Invalid API version.");
        }
        let heartbeat = self.server.options.windows.heartbeat;
        if self.server.faults.withholds_hello() {
            self.server.stop.cancelled().await;
        }
        self.send(&json!({ "op": 10, "s": null, "t": null, "d": { "heartbeat_interval": millis(heartbeat) } }));
        // The connection times out after two intervals without a heartbeat.
        let timeout = heartbeat * 2;
        let mut last_heartbeat = Instant::now();
        loop {
            let left = timeout.saturating_sub(last_heartbeat.elapsed());
            let message = match tokio::time::timeout(left, self.stream.next()).await {
                Err(_) => return End::Close(4009, "Session timed out."),
                Ok(None | Some(Err(_))) => return End::ClosedByClient { ends_session: false },
                Ok(Some(Ok(message))) => message,
            };
            let text = match message {
                Message::Text(text) => text,
                // Discord reads JSON in binary frames too. Some clients send nothing else.
                Message::Binary(bytes) => match Utf8Bytes::try_from(bytes) {
                    Ok(text) => text,
                    Err(_) => return End::Close(4002, "Error while decoding payload."),
                },
                Message::Close(frame) => {
                    return End::ClosedByClient { ends_session: frame.is_some_and(|frame| matches!(frame.code, 1000 | 1001)) };
                }
                Message::Ping(_) | Message::Pong(_) => continue,
            };
            keep_frame(&self.server.journal, self.peer.get().map(|peer| peer.user), Direction::Received, text.as_str());
            match self.receive(text.as_str()) {
                Ok(is_heartbeat) if is_heartbeat => last_heartbeat = Instant::now(),
                Ok(_) => {}
                Err(end) => return end,
            }
        }
    }

    /// Handles one payload. Returns whether it was a heartbeat.
    fn receive(&mut self, text: &str) -> Result<bool, End> {
        if text.len() > PAYLOAD_LIMIT {
            return Err(End::Close(4002, "Error while decoding payload."));
        }
        self.sends.retain(|at| at.elapsed() < Duration::from_mins(1));
        self.sends.push(Instant::now());
        if self.sends.len() > SENDS_PER_MINUTE {
            return Err(End::Close(4008, "Rate limited."));
        }
        let undecodable = End::Close(4002, "Error while decoding payload.");
        let payload: Value = serde_json::from_str(text).map_err(|_| undecodable.clone())?;
        let op = payload["op"].as_u64().ok_or(undecodable)?;
        if op == 1 {
            self.acknowledge();
            return Ok(true);
        }
        match (op, self.peer.get()) {
            // After operation 9 the session is gone, and the client may identify or resume on the same connection.
            (2 | 6, Some(peer)) if self.server.core().hub.is_linked(&peer.session, &self.link) => {
                Err(End::Close(4005, "Already authenticated."))
            }
            (2, _) => self.enter(handshake::identify(&self.server, &payload["d"], &self.link)?),
            (6, _) => self.enter(handshake::resume(&self.server, &payload["d"], &self.link)?),
            // 4 is voice and 31 is the soundboard. Both are ignored.
            (3 | 4 | 8 | 31, None) => Err(End::Close(4003, "Not authenticated.")),
            (4 | 31, Some(_)) => Ok(()),
            (3, Some(peer)) => {
                self.server.core().set_presence(peer.user, &payload["d"]);
                Ok(())
            }
            (8, Some(peer)) => {
                self.server.core().send_members(&peer, &payload["d"]);
                Ok(())
            }
            _ => Err(End::Close(4001, "Unknown opcode.")),
        }?;
        Ok(false)
    }

    fn enter(&self, result: HandshakeResult) -> Result<(), End> {
        match result {
            HandshakeResult::Entered(peer) => {
                let faulty = self.server.faults.closes_after_identify(peer.slug.as_deref());
                self.peer.set(peer);
                faulty.map_or(Ok(()), |code| Err(End::Close(code, "injected fault")))
            }
            HandshakeResult::InvalidSession => {
                self.send(&json!({ "op": 9, "s": null, "t": null, "d": false }));
                Ok(())
            }
        }
    }

    fn acknowledge(&self) {
        let peer = self.peer.get();
        if !self.server.faults.withholds_acks(peer.as_deref().and_then(|peer| peer.slug.as_deref())) {
            self.send(&json!({ "op": 11, "s": null, "t": null, "d": null }));
        }
    }

    fn send(&self, payload: &Value) {
        // A full queue means that the client does not read. The next event disconnects it.
        let _ = self.link.frames.try_send(Outgoing::Operation(payload.to_string()));
    }
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
