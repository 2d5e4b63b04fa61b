//! What was said, in which channels, with which files, and by which accounts.

mod channels;
mod files;
mod identities;
mod transcript;

pub use channels::ChannelSeen;
pub use files::FileText;
pub use identities::Identity;
