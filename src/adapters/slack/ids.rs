//! Ids of Slack and of the team. The team's ids begin with the platform: `slack:C07A` is a channel, and `slack:C07A-1732.0001` a message in it. The
//! thread on that message has the same id. Slack's own numbers of messages are unique only within a channel.

use kernel::ids::{ChannelId, MessageId, UserId};

/// The platform's name in ids and in the database.
pub const PLATFORM: &str = "slack";

/// An id that Slack cannot have given.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not an id of Slack")]
pub(super) struct ForeignId(String);

/// A channel or a thread of it, as Slack has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Spot<'a> {
    pub(super) channel: &'a str,
    /// The time stamp of the message on which the thread hangs.
    pub(super) thread: Option<&'a str>,
}

pub(super) fn channel_id(channel: &str, thread: Option<&str>) -> ChannelId {
    match thread {
        Some(thread) => ChannelId::on(PLATFORM, format_args!("{channel}{SEPARATOR}{thread}")),
        None => ChannelId::on(PLATFORM, channel),
    }
}

pub(super) fn message_id(channel: &str, stamp: &str) -> MessageId {
    MessageId::on(PLATFORM, format_args!("{channel}{SEPARATOR}{stamp}"))
}

pub(super) fn user_id(user: &str) -> UserId {
    UserId::on(PLATFORM, user)
}

pub(super) fn to_spot(id: &ChannelId) -> Result<Spot<'_>, ForeignId> {
    let foreign = || ForeignId(id.to_string());
    let own = strip(id.as_str()).ok_or_else(foreign)?;
    let (channel, thread) = own.split_once(SEPARATOR).map_or((own, None), |(channel, stamp)| (channel, Some(stamp)));
    let fits = is_plain(channel) && thread.is_none_or(is_stamp);
    if fits { Ok(Spot { channel, thread }) } else { Err(foreign()) }
}

/// The channel and the time stamp of a message.
pub(super) fn to_message(id: &MessageId) -> Result<(&str, &str), ForeignId> {
    let parts = strip(id.as_str()).and_then(|own| own.split_once(SEPARATOR));
    parts.filter(|(channel, stamp)| is_plain(channel) && is_stamp(stamp)).ok_or_else(|| ForeignId(id.to_string()))
}

pub(super) fn to_user(id: &UserId) -> Result<&str, ForeignId> {
    strip(id.as_str()).filter(|user| is_plain(user)).ok_or_else(|| ForeignId(id.to_string()))
}

const SEPARATOR: char = '-';

fn strip(id: &str) -> Option<&str> {
    id.strip_prefix(PLATFORM)?.strip_prefix(':')
}

/// Ids come from the store and from people. Any other character could end the value and begin another argument.
fn is_plain(id: &str) -> bool {
    !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit())
}

fn is_stamp(stamp: &str) -> bool {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    stamp.split_once('.').is_some_and(|(seconds, rest)| is_number(seconds) && is_number(rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_come_back_as_they_were() {
        assert_eq!(to_spot(&channel_id("C07A", None)), Ok(Spot { channel: "C07A", thread: None }));
        let thread = channel_id("C07A", Some("1732700000.000100"));
        assert_eq!(thread.as_str(), "slack:C07A-1732700000.000100");
        assert_eq!(to_spot(&thread), Ok(Spot { channel: "C07A", thread: Some("1732700000.000100") }));
        assert_eq!(message_id("C07A", "1732700000.000100").as_str(), thread.as_str());
        assert_eq!(to_message(&message_id("D1", "1.2")), Ok(("D1", "1.2")));
        assert_eq!(to_user(&user_id("U1")), Ok("U1"));
    }

    #[test]
    fn an_id_that_is_not_of_slack_is_no_argument() {
        for bad in ["", "C1", "discord:1", "slack:", "slack:c1", "slack:C1&x=1", "slack:C1-", "slack:C1-1", "slack:C1-1.x", "slack:C1-.1"] {
            assert!(to_spot(&bad.into()).is_err(), "{bad}");
        }
        assert!(to_message(&"slack:C1".into()).is_err());
        assert!(to_user(&"slack:../x".into()).is_err());
    }
}
