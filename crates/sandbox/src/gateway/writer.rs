//! Writes frames to a client, with the faults that are set for them.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::ws::{CloseFrame, Message, WebSocket};
use futures_util::stream::{SplitSink, SplitStream};
use futures_util::{SinkExt, StreamExt};
use local_server::Direction;
use tokio::sync::mpsc;

use super::compress::ZlibStream;
use super::handshake::PeerSlot;
use crate::faults::FrameEffect;
use crate::journal::keep_frame;
use crate::server::{End, Numbered, Outgoing, Server};

pub(super) struct Writer {
    server: Arc<Server>,
    peer: PeerSlot,
    sink: SplitSink<WebSocket, Message>,
    zlib: Option<ZlibStream>,
    /// Frames that a fault holds back. Later frames overtake them.
    held: Vec<(tokio::time::Instant, String)>,
}

impl Writer {
    pub(super) fn new(server: Arc<Server>, peer: PeerSlot, sink: SplitSink<WebSocket, Message>, zlib: Option<ZlibStream>) -> Self {
        Self { server, peer, sink, zlib, held: Vec::new() }
    }

    pub(super) async fn run(&mut self, queue: &mut mpsc::Receiver<Outgoing>) -> End {
        loop {
            let next_held = self.held.iter().map(|(due, _)| *due).min();
            let outgoing = tokio::select! {
                outgoing = queue.recv() => outgoing,
                () = due(next_held) => {
                    if self.release().await.is_err() {
                        return End::ClosedByClient { ends_session: false };
                    }
                    continue;
                }
            };
            let written = match outgoing {
                // The reader holds the sender, so the queue is closed only after the reader has ended.
                None => return End::ClosedByClient { ends_session: false },
                Some(Outgoing::Dispatch(event)) => self.dispatch(&event).await,
                Some(Outgoing::Operation(text)) => self.write(text).await,
                Some(Outgoing::Replay(events)) => self.replay(&events).await,
            };
            if written.is_err() {
                return End::ClosedByClient { ends_session: false };
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
        let peer = self.peer.get();
        let slug = peer.as_deref().and_then(|peer| peer.slug.as_deref());
        let FrameEffect { delay, copies, hold } = self.server.faults.frame_effect(slug, event.event);
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

    /// Writes the held frames that are due.
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
        keep_frame(&self.server.journal, self.peer.get().map(|peer| peer.user), Direction::Sent, &text);
        let message = match &mut self.zlib {
            Some(zlib) => Message::Binary(zlib.push(&text).into()),
            None => Message::Text(text.into()),
        };
        self.sink.send(message).await
    }

    /// Writes the answer to the client's close frame. It was queued when that frame was read. Clients that get no answer report a broken connection.
    pub(super) async fn flush(&mut self) {
        if let Ok(Err(error)) = tokio::time::timeout(Duration::from_secs(1), self.sink.flush()).await {
            tracing::debug!(%error, "a client was gone before its close frame was answered");
        }
    }

    /// Writes waiting frames and the close frame, then waits up to a second for the client's close frame. Closing a
    /// socket with unread input would reset the connection, and the close code could be lost.
    pub(super) async fn close(
        &mut self,
        queue: &mut mpsc::Receiver<Outgoing>,
        frame: Option<CloseFrame>,
        stream: &mut SplitStream<WebSocket>,
    ) {
        let closing = async {
            while let Ok(Outgoing::Operation(text)) = queue.try_recv() {
                self.write(text).await?;
            }
            self.sink.send(Message::Close(frame)).await?;
            while let Some(Ok(_)) = stream.next().await {}
            Ok::<_, axum::Error>(())
        };
        if let Ok(Err(error)) = tokio::time::timeout(Duration::from_secs(1), closing).await {
            tracing::debug!(%error, "a client was gone before the close frame");
        }
    }
}

async fn due(at: Option<tokio::time::Instant>) {
    match at {
        Some(at) => tokio::time::sleep_until(at).await,
        None => std::future::pending().await,
    }
}

/// Adds the session's sequence number to text that all sessions share.
fn frame(event: &Numbered) -> String {
    format!(r#"{{"t":"{}","s":{},"op":0,"d":{}}}"#, event.event, event.seq, event.data)
}
