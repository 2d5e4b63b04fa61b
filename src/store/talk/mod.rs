//! What was heard, decided and said: one file per noun, in the order of a message's way through the team.

mod asks;
mod channels;
mod decisions;
mod files;
mod inbox;
mod outbox;
mod transcript;
mod turns;

pub use asks::AskUpdate;
pub use channels::ChannelSeen;
pub use decisions::{Decided, MeetingStep};
pub use files::FileText;
pub use inbox::{Claim, InboxRow};
pub use outbox::{Delivery, OutboxRow};
pub use turns::{CancelScope, Finished, FollowUp, TurnRow};

pub(super) use asks::AskColumns;
pub(super) use inbox::InboxColumns;
pub(super) use outbox::insert_outbound;
pub(super) use turns::TurnColumns;
