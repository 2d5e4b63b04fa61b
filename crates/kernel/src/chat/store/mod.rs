//! Stored messages, channels, files and accounts.

mod channels;
mod files;
mod identities;
mod transcript;

pub use channels::ChannelSeen;
pub use files::FileText;
pub use identities::Identity;
