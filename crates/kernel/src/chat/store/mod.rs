//! Stored messages, channels, files and accounts.

mod annotations;
mod channels;
mod files;
mod identities;
mod transcript;

pub use annotations::{Annotation, AnnotationKind, Reaction, forget_annotations, forget_reactions_of, retention};
pub use channels::{ChannelSeen, find_channel, find_channel_called};
pub use files::{FileText, picture_retention};
pub use identities::Identity;
