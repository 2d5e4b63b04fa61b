//! One WebSocket connection, from its upgrade to its end.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::ws::{CloseFrame, Message, Utf8Bytes, WebSocket};
use futures_util::stream::{SplitSink, SplitStream};
use futures_util::{SinkExt, StreamExt};
use local_server::{CutSwitch, Direction};
use tokio::sync::mpsc;

use super::{End, Outgoing};
use crate::journal::{Exchange, FrameExchange};
use crate::server::Server;

/// How long a client may take to answer a close frame. Only the shutdown waits for it.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(1);

/// What ended the connection.
enum Ended {
    ByClient,
    Ordered(End),
    Stopped,
}

pub(super) async fn run(server: Arc<Server>, socket: WebSocket, wire: CutSwitch, app: String, debug_reconnects: bool) {
    let (mut sink, mut stream) = socket.split();
    let (frames, mut queue) = mpsc::unbounded_channel();
    let number = server.core().connected(&app, frames, debug_reconnects);
    let journal = |direction, text: &str| {
        server.journal.keep(|| {
            let payload = serde_json::from_str(text).unwrap_or_default();
            Exchange::Frame(FrameExchange { app: server.core().slug(&app), connection: number, direction, payload })
        });
    };
    let mut is_read = true;
    let ended = loop {
        tokio::select! {
            outgoing = queue.recv() => match outgoing {
                None => break Ended::Ordered(End::WithoutCloseFrame),
                Some(Outgoing::End(end)) => break Ended::Ordered(end),
                Some(Outgoing::Text(text)) => {
                    journal(Direction::Sent, &text);
                    if sink.send(Message::Text(text.into())).await.is_err() {
                        break Ended::ByClient;
                    }
                }
                Some(Outgoing::StopReading) => is_read = false,
                Some(Outgoing::Ping) => {
                    if sink.send(Message::Ping("Ping from the sandbox".into())).await.is_err() {
                        break Ended::ByClient;
                    }
                }
            },
            message = stream.next(), if is_read => match message {
                Some(Ok(Message::Text(text))) => {
                    journal(Direction::Received, text.as_str());
                    server.core().received(number, text.as_str());
                }
                // The library answers pings by itself.
                Some(Ok(Message::Ping(_) | Message::Pong(_) | Message::Binary(_))) => {}
                Some(Ok(Message::Close(_)) | Err(_)) | None => break Ended::ByClient,
            },
            () = server.stop.cancelled() => break Ended::Stopped,
        }
    };
    server.core().disconnected(number);
    match ended {
        // Writes the answer to the client's close frame. It was queued when that frame was read.
        Ended::ByClient => _ = tokio::time::timeout(CLOSE_TIMEOUT, sink.flush()).await,
        Ended::Ordered(End::Reset) => wire.reset(),
        Ended::Ordered(End::WithoutCloseFrame) => wire.close(),
        Ended::Ordered(End::Close(code)) => close(&mut sink, &mut stream, code).await,
        Ended::Stopped => close(&mut sink, &mut stream, 1001).await,
    }
}

/// Sends a close frame and waits for the client's. Closing a socket with unread input would reset the connection.
async fn close(sink: &mut SplitSink<WebSocket, Message>, stream: &mut SplitStream<WebSocket>, code: u16) {
    let closing = async {
        sink.send(Message::Close(Some(CloseFrame { code, reason: Utf8Bytes::from_static("") }))).await?;
        while let Some(Ok(_)) = stream.next().await {}
        Ok::<_, axum::Error>(())
    };
    if let Ok(Err(error)) = tokio::time::timeout(CLOSE_TIMEOUT, closing).await {
        tracing::debug!(%error, "a client was gone before the close frame");
    }
}
