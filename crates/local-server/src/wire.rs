//! A listener whose connections can be cut by a fault, because an HTTP handler can only answer.

use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::extract::connect_info::Connected;
use axum::serve::{IncomingStream, Listener};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};

const OPEN: u8 = 0;
const RESET: u8 = 1;
const CLOSED: u8 = 2;

/// Cuts one connection. Nothing is written to it afterwards.
#[derive(Clone, Debug, Default)]
pub struct CutSwitch(Arc<AtomicU8>);

impl CutSwitch {
    /// Dropping the connection then sends RST instead of FIN.
    pub fn reset(&self) {
        self.0.store(RESET, Ordering::SeqCst);
    }

    /// The client sees the end of the stream without an answer.
    pub fn close(&self) {
        self.0.store(CLOSED, Ordering::SeqCst);
    }

    fn state(&self) -> u8 {
        self.0.load(Ordering::SeqCst)
    }
}

pub struct Wire {
    stream: TcpStream,
    switch: CutSwitch,
}

impl Drop for Wire {
    fn drop(&mut self) {
        if self.switch.state() == RESET
            && let Err(error) = self.stream.set_zero_linger()
        {
            tracing::debug!(%error, "a connection could not be reset");
        }
    }
}

impl AsyncRead for Wire {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buf)
    }
}

impl AsyncWrite for Wire {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        if self.switch.state() != OPEN {
            return Poll::Ready(Err(io::ErrorKind::ConnectionReset.into()));
        }
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.switch.state() == RESET {
            return Poll::Ready(Ok(()));
        }
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

pub struct WireListener(pub TcpListener);

impl Listener for WireListener {
    type Io = Wire;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Wire, SocketAddr) {
        loop {
            match self.0.accept().await {
                Ok((stream, addr)) => {
                    if let Err(error) = stream.set_nodelay(true) {
                        tracing::debug!(%error, "a connection keeps its delay");
                    }
                    return (Wire { stream, switch: CutSwitch::default() }, addr);
                }
                Err(error) => {
                    // Usually the process has no file descriptors left. A retry without delay would use the whole CPU.
                    tracing::warn!(%error, "a connection could not be accepted");
                    tokio::time::sleep(Duration::from_millis(100)).await;
                }
            }
        }
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.0.local_addr()
    }
}

impl Connected<IncomingStream<'_, WireListener>> for CutSwitch {
    fn connect_info(stream: IncomingStream<'_, WireListener>) -> Self {
        stream.io().switch.clone()
    }
}
