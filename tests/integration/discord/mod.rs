//! The Discord adapter against the sandbox, over real sockets.

mod avatars;
mod buttons;
mod commands;
mod doctor;
mod gateway_faults;
mod logs;
mod places;
mod receiving;
mod rest_faults;
mod sending;
mod stage;
mod webhooks;
