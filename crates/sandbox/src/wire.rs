//! A listener whose connections can be reset by a fault.
//!
//! A fault such as [`crate::RestFault::ResetAfter`] needs a TCP reset during a request, which an HTTP handler cannot
//! do. So handlers get a [`ResetSwitch`] of their connection.

use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::extract::connect_info::Connected;
use axum::serve::{IncomingStream, Listener};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};

/// Resets one connection.
#[derive(Clone, Debug, Default)]
pub(crate) struct ResetSwitch(Arc<AtomicBool>);

impl ResetSwitch {
    /// Stops writing. Dropping the connection then sends RST instead of FIN.
    pub(crate) fn reset(&self) {
        self.0.store(true, Ordering::SeqCst);
    }

    fn is_on(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }
}

pub(crate) struct Wire {
    stream: TcpStream,
    switch: ResetSwitch,
}

impl Drop for Wire {
    fn drop(&mut self) {
        if self.switch.is_on() {
            // Without this option the socket sends FIN, and the client sees the end of the stream.
            if let Err(error) = self.stream.set_zero_linger() {
                tracing::debug!(%error, "a connection could not be reset");
            }
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
        if self.switch.is_on() {
            return Poll::Ready(Err(io::ErrorKind::ConnectionReset.into()));
        }
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.switch.is_on() {
            return Poll::Ready(Ok(()));
        }
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

pub(crate) struct WireListener(pub(crate) TcpListener);

impl Listener for WireListener {
    type Io = Wire;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Wire, SocketAddr) {
        loop {
            match self.0.accept().await {
                Ok((stream, addr)) => {
                    // Small frames are sent without delay.
                    if let Err(error) = stream.set_nodelay(true) {
                        tracing::debug!(%error, "a connection keeps its delay");
                    }
                    return (Wire { stream, switch: ResetSwitch::default() }, addr);
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

impl Connected<IncomingStream<'_, WireListener>> for ResetSwitch {
    fn connect_info(stream: IncomingStream<'_, WireListener>) -> Self {
        stream.io().switch.clone()
    }
}
