//! The Discord adapter against the sandbox, over real sockets.

mod gateway_faults;
mod receiving;
mod rest_faults;
mod sending;
mod stage;
