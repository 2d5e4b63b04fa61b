//! The sections `chat` and `guard` of `teamroom.toml`.

mod chat;
mod guard;

pub use chat::{ChannelRules, ChatSettings, FallbackAnswer, Outsiders};
pub use guard::GuardLimits;
