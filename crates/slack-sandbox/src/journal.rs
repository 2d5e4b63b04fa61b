//! A record of requests and frames, for tests that check them against Slack's descriptions.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use serde_json::Value;

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
    Call(CallExchange),
    Frame(FrameExchange),
}

/// A call of the Web API with its answer.
#[derive(Clone, Debug)]
pub struct CallExchange {
    pub method: String,
    /// The slug of the app, if the token is known.
    pub app: Option<String>,
    pub arguments: Value,
    /// 0 if a fault left the call without an answer.
    pub status: u16,
    /// Null if it is not JSON.
    pub answer: Value,
}

/// A text frame of a Socket Mode connection.
#[derive(Clone, Debug)]
pub struct FrameExchange {
    pub app: String,
    /// The number of the connection.
    pub connection: u64,
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

    pub(crate) fn keep(&self, exchange: impl FnOnce() -> Exchange) {
        let Some(kept) = &self.kept else { return };
        let exchange = exchange();
        let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() == LIMIT {
            kept.pop_front();
        }
        kept.push_back(exchange);
    }

    pub(crate) fn list(&self) -> Vec<Exchange> {
        let Some(kept) = &self.kept else { return Vec::new() };
        kept.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned().collect()
    }
}
