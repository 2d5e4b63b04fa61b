//! The sections `chat` and `guard` of `teamroom.toml`.

mod chat;
mod guard;

pub use chat::{ChannelRules, ChatSettings, FallbackAnswer};
pub use guard::GuardLimits;
