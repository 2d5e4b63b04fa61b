//! One gateway connection that comes back by itself: heartbeats, resume with replay, a new session
//! when resuming is refused.

use std::time::Duration;

use anyhow::{Context, bail};
use futures_util::{SinkExt, StreamExt};
use serde_json::{Value, json};
use tokio::{net::TcpStream, sync::mpsc, time};
use tokio_tungstenite::{
    MaybeTlsStream, WebSocketStream, connect_async,
    tungstenite::{Message as Frame, protocol::CloseFrame},
};

/// Opcodes of the gateway, version 10.
mod op {
    pub(super) const DISPATCH: u64 = 0;
    pub(super) const HEARTBEAT: u64 = 1;
    pub(super) const IDENTIFY: u64 = 2;
    pub(super) const RESUME: u64 = 6;
    pub(super) const RECONNECT: u64 = 7;
    pub(super) const INVALID_SESSION: u64 = 9;
    pub(super) const HELLO: u64 = 10;
    pub(super) const HEARTBEAT_ACK: u64 = 11;
}

/// Events wait here while the person's screen is busy.
const BUFFER: usize = 1024;
const FIRST_DELAY: Duration = Duration::from_millis(500);
const LONGEST_DELAY: Duration = Duration::from_secs(10);
/// A server that accepts the connection and then says nothing is as good as none.
const CONNECT_DEADLINE: Duration = Duration::from_secs(10);

type Socket = WebSocketStream<MaybeTlsStream<TcpStream>>;

#[derive(Debug)]
pub(in super::super) enum Event {
    Dispatch {
        kind: String,
        data: Value,
    },
    /// The connection is gone and is being made anew.
    Lost,
    /// The server does not want this account; nothing more will come.
    Refused(String),
}

/// Starts the connection to `url` (`ws://host:port`) and gives its events.
pub(in super::super) fn connect(url: String, token: String) -> mpsc::Receiver<Event> {
    let (events, receiver) = mpsc::channel(BUFFER);
    tokio::spawn(async move { Connection { url, token, session: None, sequence: None, events }.run().await });
    receiver
}

/// Why one connection ended.
enum End {
    /// Nobody listens any more.
    Unwanted,
    Lost,
    Refused(String),
}

struct Connection {
    url: String,
    token: String,
    session: Option<String>,
    sequence: Option<u64>,
    events: mpsc::Sender<Event>,
}

impl Connection {
    async fn run(mut self) {
        let mut delay = FIRST_DELAY;
        loop {
            let began = time::Instant::now();
            match self.hold().await {
                Ok(End::Unwanted) => return,
                Ok(End::Refused(reason)) => {
                    // Whether anybody still hears it no longer matters.
                    let _ = self.events.send(Event::Refused(reason)).await;
                    return;
                }
                Ok(End::Lost) | Err(_) => {}
            }
            if self.events.send(Event::Lost).await.is_err() {
                return;
            }
            // A connection that held for a while was no failed attempt.
            delay = if began.elapsed() > LONGEST_DELAY { FIRST_DELAY } else { (delay * 2).min(LONGEST_DELAY) };
            time::sleep(delay).await;
        }
    }

    /// One connection, from dialling to its end.
    async fn hold(&mut self) -> anyhow::Result<End> {
        let dial = connect_async(format!("{}/?v=10&encoding=json", self.url));
        let (mut socket, _) = time::timeout(CONNECT_DEADLINE, dial).await.context("connecting to the gateway")??;
        let hello = time::timeout(CONNECT_DEADLINE, read(&mut socket)).await.context("waiting for the gateway's greeting")??;
        let Incoming::Payload(hello) = hello else { return Ok(End::Lost) };
        let Some(interval) = hello["d"]["heartbeat_interval"].as_u64().filter(|_| hello["op"] == op::HELLO) else {
            bail!("the gateway did not greet: {hello}");
        };
        self.introduce(&mut socket).await?;
        let mut beat = time::interval(Duration::from_millis(interval.max(1)));
        beat.tick().await;
        let mut acknowledged = true;
        loop {
            tokio::select! {
                _ = beat.tick() => {
                    // Nothing came back since the last beat: the connection only looks open.
                    if !acknowledged {
                        return Ok(End::Lost);
                    }
                    acknowledged = false;
                    self.beat(&mut socket).await?;
                }
                incoming = read(&mut socket) => match incoming? {
                    Incoming::Closed(frame) => return Ok(self.closed(frame)),
                    Incoming::Payload(payload) => {
                        acknowledged |= payload["op"] == op::HEARTBEAT_ACK;
                        if let Some(end) = self.receive(&mut socket, payload).await? {
                            return Ok(end);
                        }
                    }
                },
            }
        }
    }

    async fn introduce(&self, socket: &mut Socket) -> anyhow::Result<()> {
        let payload = match &self.session {
            Some(session) => json!({ "op": op::RESUME, "d": { "token": self.token, "session_id": session, "seq": self.sequence } }),
            None => {
                json!({ "op": op::IDENTIFY, "d": { "token": self.token, "properties": { "os": std::env::consts::OS, "browser": "teamroom terminal", "device": "" } } })
            }
        };
        socket.send(Frame::Text(payload.to_string())).await.context("introducing ourselves to the gateway")
    }

    async fn beat(&self, socket: &mut Socket) -> anyhow::Result<()> {
        let payload = json!({ "op": op::HEARTBEAT, "d": self.sequence });
        socket.send(Frame::Text(payload.to_string())).await.context("sending a heartbeat")
    }

    async fn receive(&mut self, socket: &mut Socket, mut payload: Value) -> anyhow::Result<Option<End>> {
        self.sequence = payload["s"].as_u64().or(self.sequence);
        match payload["op"].as_u64() {
            Some(op::DISPATCH) => {
                let kind = payload["t"].as_str().unwrap_or_default().to_owned();
                let data = payload["d"].take();
                if kind == "READY" {
                    self.session = data["session_id"].as_str().map(str::to_owned);
                }
                let heard = self.events.send(Event::Dispatch { kind, data }).await;
                return Ok(heard.is_err().then_some(End::Unwanted));
            }
            Some(op::HEARTBEAT) => self.beat(socket).await?,
            Some(op::RECONNECT) => return Ok(Some(End::Lost)),
            Some(op::INVALID_SESSION) => {
                if payload["d"] != true {
                    self.forget_session();
                }
                return Ok(Some(End::Lost));
            }
            _ => {}
        }
        Ok(None)
    }

    fn closed(&mut self, frame: Option<CloseFrame<'static>>) -> End {
        let Some(frame) = frame else { return End::Lost };
        match u16::from(frame.code) {
            4004 | 4010..=4014 => End::Refused(frame.reason.into_owned()),
            1000 | 1001 | 4003 | 4007 | 4009 => {
                self.forget_session();
                End::Lost
            }
            _ => End::Lost,
        }
    }

    fn forget_session(&mut self) {
        self.session = None;
        self.sequence = None;
    }
}

enum Incoming {
    Payload(Value),
    Closed(Option<CloseFrame<'static>>),
}

/// The next payload; pings are answered by the library.
async fn read(socket: &mut Socket) -> anyhow::Result<Incoming> {
    while let Some(frame) = socket.next().await {
        match frame.context("reading from the gateway")? {
            Frame::Text(text) => return serde_json::from_str(&text).map(Incoming::Payload).context("reading a frame of the gateway"),
            Frame::Close(frame) => return Ok(Incoming::Closed(frame)),
            _ => {}
        }
    }
    Ok(Incoming::Closed(None))
}
