//! Tools as a run calls them.

#![expect(clippy::unwrap_used, reason = "clippy takes only functions marked as tests for tests, and these call others")]

mod local;
mod local_command;
mod local_disk;
mod local_git;
mod local_store;
mod web;
