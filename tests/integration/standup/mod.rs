//! Standups from end to end.

#![expect(clippy::unwrap_used, reason = "clippy takes only functions marked as tests for tests, and stories are functions they call")]

mod aftermath;
mod crashes;
mod processes;
