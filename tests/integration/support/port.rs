//! Ports for servers that bind them only later.

use std::net::TcpListener;
use std::sync::atomic::{AtomicU16, Ordering};

/// The first port. All ports are below the range from which the system assigns ports, so that nobody takes them meanwhile.
const FIRST: u16 = 16_000;
const COUNT: u16 = 16_000;

/// A free port, a different one each time.
pub(crate) fn free_port() -> u16 {
    static NEXT: AtomicU16 = AtomicU16::new(0);
    // Parallel test processes start at different ports.
    let begin = u16::try_from(std::process::id() % u32::from(COUNT)).unwrap_or_default();
    loop {
        let port = FIRST + (begin.wrapping_mul(97).wrapping_add(NEXT.fetch_add(1, Ordering::Relaxed))) % COUNT;
        if TcpListener::bind(("127.0.0.1", port)).is_ok() {
            return port;
        }
    }
}
