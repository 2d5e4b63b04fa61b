//! One WebSocket connection from its beginning to its end. `reader` hears the client, `writer` speaks to it; whichever
//! ends first ends both.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use axum::extract::ws::{CloseFrame, Utf8Bytes, WebSocket};
use futures_util::StreamExt;
use tokio::sync::mpsc;

use super::compress::ZlibStream;
use super::reader::Reader;
use super::session::{Link, Numbered};
use super::writer::Writer;
use crate::sandbox::server::Server;
use crate::sandbox::snowflake::Snowflake;
use crate::sandbox::wire::ResetSwitch;

/// Frames that may wait for a client before it counts as too slow.
const QUEUE: usize = 4_096;
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
    let mut writer = Writer::new(Arc::clone(&server), Arc::clone(&peer), sink, zlib);
    let link = Link { frames, end };
    let mut reader = Reader::new(Arc::clone(&server), Arc::clone(&peer), stream, link);
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
