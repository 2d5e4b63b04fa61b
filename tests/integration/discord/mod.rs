//! The Discord adapter against the sandbox, over real sockets.
#![expect(clippy::unwrap_used, reason = "what a test cannot go on without may fail it")]

mod buttons;
mod commands;
mod gateway_faults;
mod logs;
mod places;
mod receiving;
mod rest_faults;
mod sending;
mod stage;
mod webhooks;
