//! The Discord adapter against the sandbox, over real sockets.

mod receiving;
mod stage;
