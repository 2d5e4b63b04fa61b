//! One WebSocket connection: reading what the client says, writing what it is told.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use axum::extract::ws::{CloseFrame, Message, Utf8Bytes, WebSocket};
use futures_util::stream::{SplitSink, SplitStream};
use futures_util::{SinkExt, StreamExt};
use serde_json::{Value, json};
use tokio::sync::mpsc;

use super::compress::ZlibStream;
use super::handshake::{self, Outcome};
use super::session::{Link, Numbered};
use crate::sandbox::faults::FrameFate;
use crate::sandbox::journal::Direction;
use crate::sandbox::server::Server;
use crate::sandbox::snowflake::Snowflake;
use crate::sandbox::wire::ResetSwitch;

/// Frames that may wait for a client before it counts as too slow.
const QUEUE: usize = 4_096;
/// "Clients can send 120 gateway events per connection every 60 seconds."
const SENDS_PER_MINUTE: usize = 120;
/// "Gateway events sent to Discord must not exceed 4096 bytes."
const PAYLOAD_LIMIT: usize = 4_096;

/// Something to write.
#[derive(Debug)]
pub(crate) enum Outgoing {
    Dispatch(Numbered),
    /// What a resumed session missed, as one entry of the queue however much it is.
    Replay(Vec<Numbered>),
    /// Any other operation.
    Operation(String),
}

/// How a connection ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// The client closed it; with 1000 or 1001 its session is over.
    Left {
        for_good: bool,
    },
    Close(u16, &'static str),
    CloseWithoutCode,
    /// RST, without a close frame.
    Reset,
}

/// Who is at the other end, once it has said so.
#[derive(Clone, Debug)]
pub(crate) struct Peer {
    pub(crate) user: Snowflake,
    pub(crate) slug: Option<String>,
    pub(crate) session: String,
}

pub(crate) async fn run(server: Arc<Server>, socket: WebSocket, wire: ResetSwitch, query: HashMap<String, String>) {
    let (sink, stream) = socket.split();
    let (frames, mut queue) = mpsc::channel(QUEUE);
    let (end, mut orders) = mpsc::channel(1);
    let peer = Arc::new(OnceLock::new());
    let zlib = query.get("compress").is_some_and(|name| name == "zlib-stream").then(ZlibStream::new);
    let mut writer = Writer { server: Arc::clone(&server), peer: Arc::clone(&peer), sink, zlib, held: Vec::new() };
    let link = Link { frames, end };
    let mut reader = Reader { server: Arc::clone(&server), peer: Arc::clone(&peer), stream, link, sends: Vec::new() };
    let ended = tokio::select! {
        ended = reader.run(&query) => ended,
        ended = writer.run(&mut queue) => ended,
        Some(ended) = orders.recv() => ended,
        () = server.stop.cancelled() => End::Close(1001, "going away"),
    };
    if let Some(peer) = peer.get() {
        server.core().disconnected(peer, &ended, &reader.link);
    }
    match ended {
        End::Left { .. } => {}
        End::Reset => wire.reset(),
        End::Close(code, reason) => {
            let frame = CloseFrame { code, reason: Utf8Bytes::from_static(reason) };
            writer.close(&mut queue, Some(frame), &mut reader.stream).await;
        }
        End::CloseWithoutCode => writer.close(&mut queue, None, &mut reader.stream).await,
    }
}

struct Reader {
    server: Arc<Server>,
    peer: Arc<OnceLock<Peer>>,
    stream: SplitStream<WebSocket>,
    link: Link,
    /// When the client sent something in the past minute.
    sends: Vec<Instant>,
}

impl Reader {
    async fn run(&mut self, query: &HashMap<String, String>) -> End {
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

struct Writer {
    server: Arc<Server>,
    peer: Arc<OnceLock<Peer>>,
    sink: SplitSink<WebSocket, Message>,
    zlib: Option<ZlibStream>,
    /// Frames that a fault holds back while later ones overtake them.
    held: Vec<(tokio::time::Instant, String)>,
}

impl Writer {
    async fn run(&mut self, queue: &mut mpsc::Receiver<Outgoing>) -> End {
        loop {
            let next_held = self.held.iter().map(|(due, _)| *due).min();
            let outgoing = tokio::select! {
                outgoing = queue.recv() => outgoing,
                () = due(next_held) => {
                    if self.release().await.is_err() {
                        return End::Left { for_good: false };
                    }
                    continue;
                }
            };
            let written = match outgoing {
                // The sender lives in the reader, which runs beside this.
                None => return End::Left { for_good: false },
                Some(Outgoing::Dispatch(event)) => self.dispatch(&event).await,
                Some(Outgoing::Operation(text)) => self.write(text).await,
                Some(Outgoing::Replay(events)) => self.replay(&events).await,
            };
            if written.is_err() {
                return End::Left { for_good: false };
            }
        }
    }

    async fn replay(&mut self, events: &[Numbered]) -> Result<(), axum::Error> {
        for event in events {
            self.write(frame(event)).await?;
        }
        Ok(())
    }

    async fn dispatch(&mut self, event: &Numbered) -> Result<(), axum::Error> {
        let slug = self.peer.get().and_then(|peer| peer.slug.as_deref());
        let FrameFate { delay, copies, hold } = self.server.faults.fate_of_frame(slug, event.event);
        if !delay.is_zero() {
            tokio::time::sleep(delay).await;
        }
        let text = frame(event);
        if let Some(hold) = hold {
            self.held.push((tokio::time::Instant::now() + hold, text));
            return Ok(());
        }
        for _ in 1..copies {
            self.write(text.clone()).await?;
        }
        self.write(text).await
    }

    /// Writes the held frames whose time has come.
    async fn release(&mut self) -> Result<(), axum::Error> {
        let now = tokio::time::Instant::now();
        let (ready, rest) = std::mem::take(&mut self.held).into_iter().partition(|(due, _)| *due <= now);
        self.held = rest;
        let ready: Vec<(tokio::time::Instant, String)> = ready;
        for (_, text) in ready {
            self.write(text).await?;
        }
        Ok(())
    }

    async fn write(&mut self, text: String) -> Result<(), axum::Error> {
        self.server.journal.frame(self.peer.get(), Direction::Sent, &text);
        let message = match &mut self.zlib {
            Some(zlib) => Message::Binary(zlib.push(&text).into()),
            None => Message::Text(text.into()),
        };
        self.sink.send(message).await
    }

    /// Writes what still waits, says goodbye, and gives the client a second to read it: closing a socket with unread
    /// input would reset the connection, and the close code could be lost.
    async fn close(&mut self, queue: &mut mpsc::Receiver<Outgoing>, frame: Option<CloseFrame>, stream: &mut SplitStream<WebSocket>) {
        let goodbye = async {
            while let Ok(Outgoing::Operation(text)) = queue.try_recv() {
                self.write(text).await?;
            }
            self.sink.send(Message::Close(frame)).await?;
            while let Some(Ok(_)) = stream.next().await {}
            Ok::<_, axum::Error>(())
        };
        if let Ok(Err(error)) = tokio::time::timeout(Duration::from_secs(1), goodbye).await {
            tracing::debug!(%error, "a client was gone before the goodbye");
        }
    }
}

async fn due(at: Option<tokio::time::Instant>) {
    match at {
        Some(at) => tokio::time::sleep_until(at).await,
        None => std::future::pending().await,
    }
}

/// Puts the session's number before text that all sessions share.
fn frame(event: &Numbered) -> String {
    format!(r#"{{"t":"{}","s":{},"op":0,"d":{}}}"#, event.event, event.seq, event.data)
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
