//! What was said over HTTP and the gateway, for tests that check it against Discord's own descriptions.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use serde_json::Value;

use super::gateway::Peer;

/// Exchanges kept; older ones are forgotten.
const LIMIT: usize = 50_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// By the sandbox.
    Sent,
    /// From a client.
    Received,
}

#[derive(Clone, Debug)]
pub enum Exchange {
    Rest(RestExchange),
    Frame(FrameExchange),
}

/// One request and its answer.
#[derive(Clone, Debug)]
pub struct RestExchange {
    pub method: String,
    /// Without the query; begins with `/api/v10/`.
    pub path: String,
    pub query: String,
    /// The JSON of the request, also where it came as `payload_json`; null where there is none.
    pub request: Value,
    /// 0 where the request was left without an answer on purpose.
    pub status: u16,
    /// Answer headers by lower-case name.
    pub headers: Vec<(String, String)>,
    /// The JSON of the answer; null where there is none.
    pub response: Value,
}

/// One gateway payload.
#[derive(Clone, Debug)]
pub struct FrameExchange {
    /// The user's id, once the connection has identified.
    pub user: Option<String>,
    pub direction: Direction,
    pub payload: Value,
}

pub(crate) struct Journal {
    kept: Option<Mutex<VecDeque<Exchange>>>,
}

impl Journal {
    pub(crate) fn new(on: bool) -> Self {
        Self { kept: on.then(Mutex::default) }
    }

    pub(crate) fn is_on(&self) -> bool {
        self.kept.is_some()
    }

    pub(crate) fn rest(&self, exchange: RestExchange) {
        self.keep(|| Exchange::Rest(exchange));
    }

    pub(crate) fn frame(&self, peer: Option<&Peer>, direction: Direction, text: &str) {
        self.keep(|| {
            let payload = serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.to_owned()));
            Exchange::Frame(FrameExchange { user: peer.map(|peer| peer.user.to_string()), direction, payload })
        });
    }

    fn keep(&self, exchange: impl FnOnce() -> Exchange) {
        let Some(kept) = &self.kept else { return };
        let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() == LIMIT {
            kept.pop_front();
        }
        kept.push_back(exchange());
    }

    pub(crate) fn list(&self) -> Vec<Exchange> {
        let Some(kept) = &self.kept else { return Vec::new() };
        kept.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned().collect()
    }
}
