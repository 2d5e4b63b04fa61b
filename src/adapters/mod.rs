//! Translations between the kernel's types and protocols.

pub mod discord;
pub mod http;
pub mod platforms;
pub mod slack;
mod websocket;
