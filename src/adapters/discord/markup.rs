//! Discord's markup, in both directions.

use std::num::NonZeroU64;

use crate::adapters::discord::ids::{from_discord, to_discord};
use kernel::chat::format::TextFormat;
use kernel::chat::markdown::simplify;
use kernel::chat::text::{self, ChannelRef, Markup, Mention, escape_values};
use kernel::ids::{ChannelId, UserId};

/// What a message can hold; <https://docs.discord.com/developers/resources/message#create-message>. Discord counts code points.
pub const TEXT: TextFormat = TextFormat { limit: 2000, has_tables: false, render: written };

/// A text in Discord's markup.
pub(crate) fn written(text: &str) -> String {
    text::render(&simplify(text), &Discord)
}

struct Discord;

impl Markup for Discord {
    fn mention(&self, user: &UserId) -> String {
        to_discord(user.as_str()).map_or_else(|_| format!("@{}", user.bare()), |id| format!("<@{id}>"))
    }

    fn channel(&self, channel: &ChannelId) -> String {
        to_discord(channel.as_str()).map_or_else(|_| format!("#{}", channel.bare()), |id| format!("<#{id}>"))
    }

    fn subtext(&self, line: &str) -> String {
        format!("-# {line}")
    }
}

/// What a person wrote, with Discord's mentions of accounts and channels as values. Other markup stays: a mention of a role addresses nobody on the
/// team.
pub(crate) fn read(text: &str) -> String {
    let text = &*escape_values(text);
    let mut neutral = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('<') {
        let (before, from) = rest.split_at(at);
        neutral.push_str(before);
        rest = if let Some((value, after)) = read_reference(from) {
            neutral.push_str(&value);
            after
        } else {
            neutral.push('<');
            &from[1..]
        };
    }
    neutral.push_str(rest);
    neutral
}

/// The mention or channel at the beginning of a text, and what follows it.
fn read_reference(text: &str) -> Option<(String, &str)> {
    let (reference, after) = text.strip_prefix('<')?.split_once('>')?;
    let is_id = |id: &&str| id.parse().is_ok_and(|number: NonZeroU64| number.to_string() == **id);
    if let Some(id) = reference.strip_prefix('#').filter(is_id) {
        return Some((ChannelRef(&from_discord(id)).to_string(), after));
    }
    let id = reference.strip_prefix('@')?;
    let id = Some(id.strip_prefix('!').unwrap_or(id)).filter(is_id)?;
    Some((Mention(&from_discord(id)).to_string(), after))
}

#[cfg(test)]
mod tests {
    use kernel::chat::text::{Subtext, list_mentions};
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn values_are_written_in_discords_markup() {
        let text = format!("{} in {}\n{}", Mention(&"discord:42".into()), ChannelRef(&"discord:7".into()), Subtext("in short"));
        assert_eq!(written(&text), "<@42> in <#7>\n-# in short");
    }

    #[test]
    fn mentions_become_values_and_all_else_stays() {
        assert_eq!(read("<@2> and <@!1>, in <#7>: a < b"), "<user:discord:2> and <user:discord:1>, in <channel:discord:7>: a < b");
        assert_eq!(read("<user:discord:2>, as I type it"), r"\<user:discord:2>, as I type it");
        assert_eq!(written("<user:slack:U1> in <channel:slack:C1>"), "@U1 in #C1");
        for text in ["<@&77>", "<@x>", "<@>", "<@12 <:smile:3>", "<@123456789012345678901>", "<t:1>", "<"] {
            assert_eq!(read(text), text);
            assert!(list_mentions(&read(text)).is_empty());
        }
    }

    proptest! {
        #[test]
        fn what_was_written_comes_back(text in "(<@[0-9]{1,4}>|<#7>|[<>@#a-z \n]){0,20}") {
            prop_assert_eq!(text::render(&read(&text), &Discord), text);
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(10_000))]

        /// Words with all marks of Markdown, as in `features::board::marks`.
        #[test]
        fn a_text_with_marks_is_shown_as_it_is(text in r"[a-v][a-v0-9_*~|\\\[\](){}<>#.=+&$^;!-]{0,12}( ([a-v0-9_*~|\\\[\](){}<>#.=+&$^;!-]{1,12}|&amp;|\$d\^2\$)){0,6}") {
            let sent = written(&kernel::chat::medium::Medium::Chat.line(&text));
            prop_assert_eq!(kernel::chat::text::plain(&sent), text);
        }
    }
}
