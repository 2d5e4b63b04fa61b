//! The backlog as people reach it: slash commands, buttons, and the terminal beside a team or without one.

#![expect(clippy::unwrap_used, reason = "clippy takes only functions marked as tests for tests, and these call others")]

mod buttons;
mod commands;
mod stage;
mod terminal;
