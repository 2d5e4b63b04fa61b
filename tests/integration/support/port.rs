//! Ports for servers that bind them only later.

use std::net::TcpListener;
use std::sync::atomic::{AtomicU16, Ordering};

/// Below the ports that the system gives to those who ask for any, so that nobody else gets it meanwhile.
const FIRST: u16 = 16_000;
const COUNT: u16 = 16_000;

/// A port that nobody listens on, each time another one.
pub(crate) fn free_port() -> u16 {
    static NEXT: AtomicU16 = AtomicU16::new(0);
    // Test processes that run side by side begin at different places.
    let begin = u16::try_from(std::process::id() % u32::from(COUNT)).unwrap_or_default();
    loop {
        let port = FIRST + (begin.wrapping_mul(97).wrapping_add(NEXT.fetch_add(1, Ordering::Relaxed))) % COUNT;
        if TcpListener::bind(("127.0.0.1", port)).is_ok() {
            return port;
        }
    }
}
