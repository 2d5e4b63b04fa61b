//! Work items from their claim to their end.

#![expect(clippy::unwrap_used, reason = "clippy takes only functions marked as tests for tests, and stories are functions they call")]

mod learning;
mod proof;
mod review;
mod stage;
