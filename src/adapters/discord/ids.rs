//! Ids of Discord and of the team. To the team an id says its platform, `discord:1234`; to Discord it is the number alone.

use std::fmt::Display;
use std::num::NonZeroU64;

use crate::adapters::discord::rest::Failure;

/// The platform's name in ids and in the database.
pub const PLATFORM: &str = "discord";

/// An id of Discord as the team has it.
pub(super) fn from_discord<T: From<String>>(id: impl Display) -> T {
    format!("{PLATFORM}:{id}").into()
}

/// An id of the team as Discord has it.
///
/// # Errors
/// It is of another platform, or no number. Ids come from the store and from people; anything but a number could address another path.
pub(super) fn to_discord(id: &str) -> Result<NonZeroU64, Failure> {
    let number =
        id.strip_prefix(PLATFORM).and_then(|rest| rest.strip_prefix(':')).filter(|id| id.bytes().all(|byte| byte.is_ascii_digit()));
    number.and_then(|number| number.parse().ok()).ok_or_else(|| Failure::refused(format!("{id:?} is not an id of Discord")))
}

#[cfg(test)]
mod tests {
    use kernel::chat::SendError;
    use kernel::ids::ChannelId;

    use super::*;

    #[test]
    fn an_id_comes_back_as_it_was() {
        let id: ChannelId = from_discord(1234);
        assert_eq!(id.as_str(), "discord:1234");
        assert_eq!(to_discord(id.as_str()).map(NonZeroU64::get), Ok(1234));
    }

    #[test]
    fn an_id_that_is_not_of_discord_is_refused_for_good_and_reaches_no_path() {
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
        let refused = SendError::from(to_discord("slack:C024BE91L").unwrap_err());
        assert_eq!(refused, SendError::Refused("\"slack:C024BE91L\" is not an id of Discord".to_owned()));
    }
}
