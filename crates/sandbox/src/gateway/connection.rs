//! One WebSocket connection. It ends when its reader or its writer ends.

use std::collections::HashMap;
use std::sync::Arc;

use axum::extract::ws::{CloseFrame, Utf8Bytes, WebSocket};
use futures_util::StreamExt;
use local_server::CutSwitch;
use tokio::sync::mpsc;

use super::compress::ZlibStream;
use super::handshake::PeerSlot;
use super::reader::Reader;
use super::writer::Writer;
use crate::server::{End, Link, Server};

/// The most frames that wait for one client. A client with more is disconnected.
const QUEUE: usize = 4_096;

pub(crate) async fn run(server: Arc<Server>, socket: WebSocket, wire: CutSwitch, query: HashMap<String, String>) {
    let (sink, stream) = socket.split();
    let (frames, mut queue) = mpsc::channel(QUEUE);
    let (end, mut orders) = mpsc::channel(1);
    let peer = PeerSlot::default();
    let zlib = query.get("compress").is_some_and(|name| name == "zlib-stream").then(ZlibStream::new);
    let mut writer = Writer::new(Arc::clone(&server), peer.clone(), sink, zlib);
    let link = Link { frames, end };
    let mut reader = Reader::new(Arc::clone(&server), peer.clone(), stream, link);
    let ended = tokio::select! {
        ended = reader.run(&query) => ended,
        ended = writer.run(&mut queue) => ended,
        Some(ended) = orders.recv() => ended,
        () = server.stop.cancelled() => End::Close(1001, "going away"),
    };
    if let Some(peer) = peer.get() {
        server.core().disconnected(&peer, &ended, &reader.link);
    }
    match ended {
        End::ClosedByClient { .. } => writer.flush().await,
        End::Reset => wire.reset(),
        End::Close(code, reason) => {
            let frame = CloseFrame { code, reason: Utf8Bytes::from_static(reason) };
            writer.close(&mut queue, Some(frame), &mut reader.stream).await;
        }
        End::CloseWithoutCode => writer.close(&mut queue, None, &mut reader.stream).await,
    }
}
