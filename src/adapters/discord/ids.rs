//! Ids of Discord and of the team. The team's ids begin with the platform, as in `discord:1234`. Discord's are only the number.

use std::fmt::Display;
use std::num::NonZeroU64;

/// The platform's name in ids and in the database.
pub const PLATFORM: &str = "discord";

/// Converts an id of Discord to one of the team.
pub(super) fn from_discord<T: From<String>>(id: impl Display) -> T {
    format!("{PLATFORM}:{id}").into()
}

/// An id that Discord cannot have given.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not an id of Discord")]
pub(super) struct ForeignId(String);

/// Converts an id of the team to one of Discord.
///
/// # Errors
/// It is of another platform, or no number. Ids come from the store and from people; anything but a number could address another path.
pub(super) fn to_discord(id: &str) -> Result<NonZeroU64, ForeignId> {
    let number =
        id.strip_prefix(PLATFORM).and_then(|rest| rest.strip_prefix(':')).filter(|id| id.bytes().all(|byte| byte.is_ascii_digit()));
    number.and_then(|number| number.parse().ok()).ok_or_else(|| ForeignId(id.to_owned()))
}

#[cfg(test)]
mod tests {
    use kernel::ids::ChannelId;

    use super::*;

    #[test]
    fn an_id_comes_back_as_it_was() {
        let id: ChannelId = from_discord(1234);
        assert_eq!(id.as_str(), "discord:1234");
        assert_eq!(to_discord(id.as_str()).map(NonZeroU64::get), Ok(1234));
    }

    #[test]
    fn an_id_that_is_not_of_discord_reaches_no_path() {
        for bad in [
            "",
            "10",
            "x",
            "discord:",
            "discord:0",
            "discord:x",
            "discord:10/../../users/@me",
            "discord:-1",
            "discord:+1",
            "discord:10?x=1",
        ] {
            assert!(to_discord(bad).is_err(), "{bad}");
        }
    }
}
