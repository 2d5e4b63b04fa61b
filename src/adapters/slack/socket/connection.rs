//! One connection of Socket Mode, from the address that Slack gives for it to its end.

use std::time::Duration;

use anyhow::{Context as _, bail};
use futures_util::{SinkExt, StreamExt};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::time::{Instant, timeout};
use tokio_tungstenite::tungstenite::Message;
use tokio_util::sync::CancellationToken;

use crate::adapters::slack::socket::Envelopes;
use crate::adapters::websocket::{self, Socket};

/// From dialling to Slack's hello.
const HELLO: Duration = Duration::from_secs(15);

/// How often we ask whether the other side is still there, and how long it may be silent. Slack itself asks every few seconds.
const BEAT: Duration = Duration::from_secs(10);
const SILENCE: Duration = Duration::from_secs(30);

/// How long an acknowledgement may take to be written.
const WRITE: Duration = Duration::from_secs(5);

/// What Slack sends.
#[derive(Debug, Deserialize)]
struct Frame {
    #[serde(rename = "type")]
    kind: String,
    envelope_id: Option<String>,
    reason: Option<String>,
    #[serde(default)]
    payload: Value,
    #[serde(default)]
    retry_attempt: u32,
}

/// Something that happened, as Slack sends it to one of the connections.
#[derive(Debug)]
pub(in crate::adapters::slack) struct Envelope {
    /// `events_api`, `slash_commands` or `interactive`.
    pub(in crate::adapters::slack) kind: String,
    pub(in crate::adapters::slack) payload: Value,
    /// How often it was sent before.
    pub(in crate::adapters::slack) retry: u32,
}

pub(super) struct Connection {
    stream: Socket,
}

/// What a connection reports about itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sign {
    /// Slack is about to close the connection, so another one is needed. This one still receives until then.
    Ends,
    /// The app is no longer allowed to listen.
    Disabled,
}

impl Connection {
    /// Connects, and waits for Slack's hello.
    pub(super) async fn open(url: &str) -> anyhow::Result<Self> {
        let opening = async {
            let stream = Box::pin(websocket::connect(url, None)).await.context("no connection")?;
            let mut connection = Self { stream };
            loop {
                let Some(frame) = connection.next_frame().await? else { bail!("it ended before the hello") };
                match frame.kind.as_str() {
                    "hello" => return Ok(connection),
                    "disconnect" => bail!("Slack ended it before the hello: {}", frame.reason.unwrap_or_default()),
                    _ => {}
                }
            }
        };
        timeout(HELLO, opening).await.context("no hello in time")?
    }

    /// Hands over the incoming envelopes until the connection ends. Calls `signs` when Slack reports something about the connection itself.
    pub(super) async fn read(mut self, envelopes: &Envelopes, stop: &CancellationToken, mut signs: impl FnMut(Sign)) -> anyhow::Result<()> {
        let mut beat = tokio::time::interval_at(Instant::now() + BEAT, BEAT);
        let mut heard = Instant::now();
        loop {
            let arrived = tokio::select! {
                () = stop.cancelled() => {
                    let _ = timeout(WRITE, self.stream.close(None)).await;
                    return Ok(());
                }
                _ = beat.tick() => {
                    if heard.elapsed() > SILENCE {
                        bail!("nothing was heard for {} s", SILENCE.as_secs());
                    }
                    self.write(Message::Ping(Vec::new().into())).await?;
                    continue;
                }
                arrived = self.stream.next() => arrived,
            };
            heard = Instant::now();
            let Some(frame) = read_frame(arrived)? else { return Ok(()) };
            let Read::Frame(frame) = frame else { continue };
            match (frame.kind.as_str(), frame.envelope_id) {
                ("disconnect", _) => match frame.reason.as_deref() {
                    Some("link_disabled") => signs(Sign::Disabled),
                    _ => signs(Sign::Ends),
                },
                (_, Some(id)) => {
                    let envelope = Envelope { kind: frame.kind, payload: frame.payload, retry: frame.retry_attempt };
                    // Acknowledged only once it is handed over, because Slack repeats an envelope without an acknowledgement.
                    if envelopes.take(envelope).await {
                        self.write(Message::text(json!({ "envelope_id": id }).to_string())).await?;
                    }
                }
                _ => {}
            }
        }
    }

    async fn next_frame(&mut self) -> anyhow::Result<Option<Frame>> {
        loop {
            match read_frame(self.stream.next().await)? {
                Some(Read::Frame(frame)) => return Ok(Some(frame)),
                Some(Read::Other) => {}
                None => return Ok(None),
            }
        }
    }

    async fn write(&mut self, message: Message) -> anyhow::Result<()> {
        timeout(WRITE, self.stream.send(message)).await.context("it takes nothing any more")??;
        Ok(())
    }
}

enum Read {
    Frame(Frame),
    /// A ping, or an unknown frame.
    Other,
}

/// None: the connection is over.
fn read_frame(arrived: Option<Result<Message, tokio_tungstenite::tungstenite::Error>>) -> anyhow::Result<Option<Read>> {
    let text = match arrived.transpose()? {
        Some(Message::Text(text)) => text.as_str().to_owned(),
        Some(Message::Binary(bytes)) => String::from_utf8_lossy(&bytes).into_owned(),
        Some(Message::Close(_)) | None => return Ok(None),
        Some(_) => return Ok(Some(Read::Other)),
    };
    match serde_json::from_str(&text) {
        Ok(frame) => Ok(Some(Read::Frame(frame))),
        Err(error) => {
            tracing::warn!(%error, "Slack sent something that cannot be read");
            Ok(Some(Read::Other))
        }
    }
}
