//! Identifiers. Platforms name things by strings of their own (snowflakes, `C024BE91L`), so these are opaque text.

use std::fmt;

use serde::{Deserialize, Serialize};

macro_rules! identifiers {
    ($($(#[$doc:meta])* $name:ident),+ $(,)?) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(String);

        impl $name {
            /// Wraps an identifier as the platform or the store wrote it.
            pub fn new(id: impl Into<String>) -> Self {
                Self(id.into())
            }

            /// The identifier as text.
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
    /// A persona's short name: the stem of its file in `personas/`.
    PersonaSlug,
    /// A turn of a persona.
    TurnId,
    /// A row of the outbox.
    OutboxId,
    /// An ask from one persona to another.
    AskId,
    /// All turns that one person's message set off, however many agents pass it on. The id of that message.
    ChainId,
    /// A model call in the ledger.
    LedgerId,
    /// A meeting: a standup, later a board meeting or an overwatch.
    MeetingId,
    /// A call on the essential question.
    PredictionId,
    /// A row of the backlog.
    WorkItemId,
    /// Something remembered.
    MemoryId,
    /// A call that a person has to allow.
    ApprovalId,
    /// Something that somebody is to be told about at a time.
    ReminderId,
}

macro_rules! generated {
    ($($name:ident),+) => {$(
        impl $name {
            /// A fresh identifier; later ones sort after earlier ones.
            pub fn generate() -> Self {
                Self(uuid::Uuid::now_v7().simple().to_string())
            }
        }
    )+};
}

generated!(TurnId, OutboxId, AskId, LedgerId, MeetingId, PredictionId, WorkItemId, MemoryId, ApprovalId, ReminderId);
