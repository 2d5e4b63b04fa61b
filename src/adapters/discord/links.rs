//! The addresses under which people open messages.

use serenity::model::id::{ChannelId, GuildId, MessageId};

use crate::adapters::discord::address::Address;

const DISCORD: &str = "https://discord.com";

/// A message of `channel`, which may be a thread of `parent`.
pub(super) fn link(
    address: &Address,
    server: Option<GuildId>,
    parent: Option<ChannelId>,
    channel: ChannelId,
    message: MessageId,
) -> String {
    let base = address.api("");
    let base = base.trim_end_matches("/api/v10");
    if base == DISCORD {
        let server = server.map_or_else(|| "@me".to_owned(), |server| server.to_string());
        return format!("{DISCORD}/channels/{server}/{channel}/{message}");
    }
    // The page of the sandbox.
    match parent {
        Some(parent) => format!("{base}/#{parent}/{channel}/{message}"),
        None => format!("{base}/#{channel}//{message}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::adapters::discord::settings::DiscordSettings;

    #[test]
    fn a_message_is_opened_where_its_server_has_a_page() {
        let link = |api: Option<&str>, server: Option<u64>, parent: Option<u64>| {
            let settings = DiscordSettings { api_url: api.map(str::to_owned), ..DiscordSettings::default() };
            let address = Address::parse(&settings).expect("an address");
            super::link(&address, server.map(GuildId::new), parent.map(ChannelId::new), ChannelId::new(2), MessageId::new(3))
        };
        assert_eq!(link(None, Some(1), Some(9)), "https://discord.com/channels/1/2/3");
        assert_eq!(link(None, None, None), "https://discord.com/channels/@me/2/3");
        assert_eq!(link(Some("http://127.0.0.1:4800/"), Some(1), None), "http://127.0.0.1:4800/#2//3");
        assert_eq!(link(Some("http://127.0.0.1:4800"), Some(1), Some(9)), "http://127.0.0.1:4800/#9/2/3");
    }
}
