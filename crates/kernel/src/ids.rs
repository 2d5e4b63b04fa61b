//! Typed identifiers. Opaque text, because platforms use different formats (snowflakes, `C024BE91L`).

use std::fmt;

use serde::{Deserialize, Serialize};

macro_rules! identifiers {
    ($($(#[$doc:meta])* $name:ident),+ $(,)?) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(String);

        impl $name {
            /// Wraps an identifier of the platform or the store.
            pub fn new(id: impl Into<String>) -> Self {
                Self(id.into())
            }

            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl From<&str> for $name {
            fn from(id: &str) -> Self {
                Self::new(id)
            }
        }

        impl From<String> for $name {
            fn from(id: String) -> Self {
                Self(id)
            }
        }
    )+};
}

identifiers! {
    /// A message on the platform.
    MessageId,
    /// A channel, thread or direct conversation on the platform.
    ChannelId,
    /// An account on the platform.
    UserId,
    /// A persona's short name: the file name in `personas/` without its extension.
    PersonaSlug,
    TurnId,
    /// A row of the outbox.
    OutboxId,
    /// An ask from one persona to another.
    AskId,
    /// All turns that one person's message started, through any number of agents. The id of that message.
    ChainId,
    /// A model call in the ledger.
    LedgerId,
    /// A meeting: a standup, later a board meeting or an overwatch.
    MeetingId,
    /// A prediction.
    PredictionId,
    WorkItemId,
    MemoryId,
    /// A request to approve a tool call.
    ApprovalId,
    ReminderId,
}

macro_rules! generated {
    ($($name:ident),+) => {$(
        impl $name {
            /// A new identifier. Identifiers sort by creation time.
            pub fn generate() -> Self {
                Self(uuid::Uuid::now_v7().simple().to_string())
            }
        }
    )+};
}

generated!(TurnId, OutboxId, AskId, LedgerId, MeetingId, PredictionId, WorkItemId, MemoryId, ApprovalId, ReminderId);
