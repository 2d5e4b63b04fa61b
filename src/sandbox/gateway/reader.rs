//! Hears what a client says, and closes the connection when it breaks the rules.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use axum::extract::ws::{Message, WebSocket};
use futures_util::StreamExt;
use futures_util::stream::SplitStream;
use serde_json::{Value, json};

use super::connection::{End, Outgoing, Peer};
use super::handshake::{self, Outcome};
use super::session::Link;
use crate::sandbox::journal::Direction;
use crate::sandbox::server::Server;

/// "Clients can send 120 gateway events per connection every 60 seconds."
const SENDS_PER_MINUTE: usize = 120;
/// "Gateway events sent to Discord must not exceed 4096 bytes."
const PAYLOAD_LIMIT: usize = 4_096;

pub(super) struct Reader {
    server: Arc<Server>,
    peer: Arc<OnceLock<Peer>>,
    pub(super) stream: SplitStream<WebSocket>,
    pub(super) link: Link,
    /// When the client sent something in the past minute.
    sends: Vec<Instant>,
}

impl Reader {
    pub(super) fn new(server: Arc<Server>, peer: Arc<OnceLock<Peer>>, stream: SplitStream<WebSocket>, link: Link) -> Self {
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
        // A heartbeat may be late by as much again before the connection counts as dead.
        let patience = heartbeat * 2;
        let mut last_beat = Instant::now();
        loop {
            let left = patience.saturating_sub(last_beat.elapsed());
            let message = match tokio::time::timeout(left, self.stream.next()).await {
                Err(_) => return End::Close(4009, "Session timed out."),
                Ok(None | Some(Err(_))) => return End::Left { for_good: false },
                Ok(Some(Ok(message))) => message,
            };
            let text = match message {
                Message::Text(text) => text,
                Message::Binary(_) => return End::Close(4002, "Error while decoding payload."),
                Message::Close(frame) => {
                    return End::Left { for_good: frame.is_some_and(|frame| matches!(frame.code, 1000 | 1001)) };
                }
                Message::Ping(_) | Message::Pong(_) => continue,
            };
            self.server.journal.frame(self.peer.get(), Direction::Received, text.as_str());
            match self.receive(text.as_str()) {
                Ok(is_beat) if is_beat => last_beat = Instant::now(),
                Ok(_) => {}
                Err(end) => return end,
            }
        }
    }

    /// Handles one payload; gives whether it was a heartbeat.
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
            (2 | 6, Some(_)) => Err(End::Close(4005, "Already authenticated.")),
            (2, None) => self.enter(handshake::identify(&self.server, &payload["d"], &self.link)?),
            (6, None) => self.enter(handshake::resume(&self.server, &payload["d"], &self.link)?),
            // 4: voice, 31: sound board; a client may say so, nothing comes of it.
            (3 | 4 | 8 | 31, None) => Err(End::Close(4003, "Not authenticated.")),
            (4 | 31, Some(_)) => Ok(()),
            (3, Some(peer)) => {
                self.server.core().set_presence(peer.user, &payload["d"]);
                Ok(())
            }
            (8, Some(peer)) => {
                self.server.core().send_members(peer, &payload["d"]);
                Ok(())
            }
            _ => Err(End::Close(4001, "Unknown opcode.")),
        }?;
        Ok(false)
    }

    fn enter(&self, outcome: Outcome) -> Result<(), End> {
        match outcome {
            Outcome::Entered(peer) => {
                let faulty = self.server.faults.closes_after_identify(peer.slug.as_deref());
                // Only this task sets it, and only while it is empty.
                let _ = self.peer.set(peer);
                faulty.map_or(Ok(()), |code| Err(End::Close(code, "as asked")))
            }
            Outcome::InvalidSession => {
                self.send(&json!({ "op": 9, "s": null, "t": null, "d": false }));
                Ok(())
            }
        }
    }

    fn acknowledge(&self) {
        let slug = self.peer.get().and_then(|peer| peer.slug.as_deref());
        if !self.server.faults.withholds_acks(slug) {
            self.send(&json!({ "op": 11, "s": null, "t": null, "d": null }));
        }
    }

    fn send(&self, payload: &Value) {
        // A full queue means that the client does not read; the next event cuts it off.
        let _ = self.link.frames.try_send(Outgoing::Operation(payload.to_string()));
    }
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
