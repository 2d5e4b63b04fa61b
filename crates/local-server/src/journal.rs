//! A record of requests and frames, for tests that check them against the descriptions of a platform.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

/// Older exchanges are dropped.
const LIMIT: usize = 50_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Sent by the server.
    Sent,
    /// Received from a client.
    Received,
}

pub struct Journal<E> {
    kept: Option<Mutex<VecDeque<E>>>,
}

impl<E: Clone> Journal<E> {
    pub fn new(on: bool) -> Self {
        Self { kept: on.then(Mutex::default) }
    }

    pub fn is_on(&self) -> bool {
        self.kept.is_some()
    }

    pub fn keep(&self, exchange: impl FnOnce() -> E) {
        let Some(kept) = &self.kept else { return };
        let exchange = exchange();
        let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() == LIMIT {
            kept.pop_front();
        }
        kept.push_back(exchange);
    }

    /// Oldest first.
    pub fn list(&self) -> Vec<E> {
        let Some(kept) = &self.kept else { return Vec::new() };
        kept.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned().collect()
    }
}
