//! The Discord adapter against the sandbox, over real sockets.

mod commands;
mod gateway_faults;
mod receiving;
mod rest_faults;
mod sending;
mod stage;
mod webhooks;
