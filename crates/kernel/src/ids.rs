//! Typed identifiers. Opaque text, because platforms use different formats (snowflakes, `C024BE91L`).
//!
//! The id of a message, a channel or an account says its platform: `discord:1234`. Its adapter adds the platform's name to what it reads, and takes
//! it off what it sends. People may leave it out: [`complete`]. Ids that the team makes up itself, such as the channel `terminal`, have no platform.

use std::borrow::Cow;
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

/// Stands between the name of a platform and the platform's own id.
const SEPARATOR: char = ':';

/// Converts an id from the form that a person writes to the stored form: a bare number belongs to `platform`. A name, and an id with its platform,
/// stay as they are.
pub fn complete<'a>(platform: &str, written: &'a str) -> Cow<'a, str> {
    let is_number = !written.is_empty() && written.bytes().all(|byte| byte.is_ascii_digit());
    if is_number { format!("{platform}{SEPARATOR}{written}").into() } else { written.into() }
}

macro_rules! platform_ids {
    ($($name:ident),+) => {$(
        impl $name {
            /// Makes the id from the platform's name and the platform's own id.
            pub fn on(platform: &str, id: impl fmt::Display) -> Self {
                Self(format!("{platform}{SEPARATOR}{id}"))
            }

            /// The name of its platform.
            pub fn platform(&self) -> Option<&str> {
                self.0.split_once(SEPARATOR).map(|(platform, _)| platform)
            }

            /// Without the platform, for people.
            pub fn bare(&self) -> &str {
                self.0.split_once(SEPARATOR).map_or(&*self.0, |(_, id)| id)
            }
        }
    )+};
}

platform_ids!(MessageId, ChannelId, UserId);

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
    /// An instruction to a persona to do something differently.
    AmendmentId,
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

generated!(TurnId, OutboxId, AskId, LedgerId, MeetingId, PredictionId, WorkItemId, MemoryId, ApprovalId, ReminderId, AmendmentId);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_says_its_platform() {
        let channel = ChannelId::on("discord", 7);
        assert_eq!((channel.as_str(), channel.platform(), channel.bare()), ("discord:7", Some("discord"), "7"));
        let made_up = ChannelId::new("terminal");
        assert_eq!((made_up.platform(), made_up.bare()), (None, "terminal"));
    }

    #[test]
    fn a_bare_number_is_of_the_teams_platform_and_a_name_stays_a_name() {
        assert_eq!(complete("discord", "1234"), "discord:1234");
        for kept in ["discord:1234", "slack:1234", "ops", "#ops", "2026-plans", "research-*", "*", ""] {
            assert_eq!(complete("discord", kept), kept);
        }
    }
}
