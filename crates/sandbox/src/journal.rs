//! A record of HTTP requests and gateway frames, for tests that check them against Discord's descriptions.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use serde_json::Value;

use super::snowflake::Snowflake;

/// Older exchanges are dropped.
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
    /// The JSON of the request, also if it was sent as `payload_json`. Null if there is none.
    pub request: Value,
    /// 0 if a fault left the request without a response.
    pub status: u16,
    /// Answer headers by lower-case name.
    pub headers: Vec<(String, String)>,
    /// The JSON of the response. Null if there is none.
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

    pub(crate) fn frame(&self, user: Option<Snowflake>, direction: Direction, text: &str) {
        self.keep(|| {
            let payload = serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.to_owned()));
            Exchange::Frame(FrameExchange { user: user.map(|user| user.to_string()), direction, payload })
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
