//! Permissions: a small model with Discord's bits. Everybody may write, bots may also manage messages and threads, the
//! owner may do everything. Channels have overwrites. The only roles are `@everyone` and one per bot.

use super::{Account, Channel, World};
use crate::snowflake::Snowflake;

/// A set of Discord's permission bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Permissions(u64);

/// The bits the sandbox knows, by Discord's names.
const NAMES: [(&str, u64); 21] = [
    ("MANAGE_CHANNELS", 1 << 4),
    ("MANAGE_GUILD", 1 << 5),
    ("ADD_REACTIONS", 1 << 6),
    ("VIEW_CHANNEL", 1 << 10),
    ("SEND_MESSAGES", 1 << 11),
    ("MANAGE_MESSAGES", 1 << 13),
    ("EMBED_LINKS", 1 << 14),
    ("ATTACH_FILES", 1 << 15),
    ("READ_MESSAGE_HISTORY", 1 << 16),
    ("MENTION_EVERYONE", 1 << 17),
    ("USE_EXTERNAL_EMOJIS", 1 << 18),
    ("CHANGE_NICKNAME", 1 << 26),
    ("MANAGE_WEBHOOKS", 1 << 29),
    ("USE_APPLICATION_COMMANDS", 1 << 31),
    ("MANAGE_THREADS", 1 << 34),
    ("CREATE_PUBLIC_THREADS", 1 << 35),
    ("CREATE_PRIVATE_THREADS", 1 << 36),
    ("USE_EXTERNAL_STICKERS", 1 << 37),
    ("SEND_MESSAGES_IN_THREADS", 1 << 38),
    ("USE_EMBEDDED_ACTIVITIES", 1 << 39),
    ("PIN_MESSAGES", 1 << 51),
];

/// The bit of a permission by its Discord name, such as `SEND_MESSAGES`.
pub(crate) fn find_permission(name: &str) -> Option<Permissions> {
    NAMES.iter().find(|(known, _)| *known == name).map(|(_, bit)| Permissions(*bit))
}

impl Permissions {
    pub(crate) const MANAGE_CHANNELS: Self = Self(1 << 4);
    pub(crate) const ADD_REACTIONS: Self = Self(1 << 6);
    pub(crate) const VIEW_CHANNEL: Self = Self(1 << 10);
    pub(crate) const SEND_MESSAGES: Self = Self(1 << 11);
    pub(crate) const MANAGE_MESSAGES: Self = Self(1 << 13);
    pub(crate) const EMBED_LINKS: Self = Self(1 << 14);
    pub(crate) const ATTACH_FILES: Self = Self(1 << 15);
    pub(crate) const READ_MESSAGE_HISTORY: Self = Self(1 << 16);
    pub(crate) const MENTION_EVERYONE: Self = Self(1 << 17);
    pub(crate) const MANAGE_WEBHOOKS: Self = Self(1 << 29);
    pub(crate) const USE_APPLICATION_COMMANDS: Self = Self(1 << 31);
    pub(crate) const MANAGE_THREADS: Self = Self(1 << 34);
    pub(crate) const CREATE_PUBLIC_THREADS: Self = Self(1 << 35);
    pub(crate) const CREATE_PRIVATE_THREADS: Self = Self(1 << 36);
    pub(crate) const SEND_MESSAGES_IN_THREADS: Self = Self(1 << 38);
    pub(crate) const PIN_MESSAGES: Self = Self(1 << 51);

    const MANAGE_GUILD: u64 = 1 << 5;
    const MANAGING: u64 =
        Self::MANAGE_CHANNELS.0 | Self::MANAGE_MESSAGES.0 | Self::MANAGE_WEBHOOKS.0 | Self::MANAGE_THREADS.0 | Self::PIN_MESSAGES.0;

    fn all() -> u64 {
        NAMES.iter().fold(0, |bits, (_, bit)| bits | bit)
    }

    /// Permissions of the role `@everyone`.
    pub(crate) fn everyone() -> Self {
        Self(Self::all() & !Self::MANAGING & !Self::MANAGE_GUILD)
    }

    /// Additional permissions of a bot's role.
    pub(crate) fn bot_role() -> Self {
        Self(Self::MANAGING)
    }

    pub(crate) fn bits(self) -> u64 {
        self.0
    }

    pub(crate) fn has(self, wanted: Self) -> bool {
        self.0 & wanted.0 == wanted.0
    }
}

impl World {
    /// An account's permissions in a channel. A thread has those of its channel.
    pub(crate) fn permissions(&self, account: &Account, channel: &Channel) -> Permissions {
        if channel.is_direct() {
            let bits = if channel.recipients.contains(&account.id) { Permissions::all() } else { 0 };
            return Permissions(bits);
        }
        if account.id == self.accounts.owner() {
            return Permissions(Permissions::all());
        }
        let place = channel.parent.and_then(|parent| self.channels.get(&parent)).unwrap_or(channel);
        let role = if account.is_bot() { Permissions::bot_role().0 } else { 0 };
        let mut bits = Permissions::everyone().0 | role;
        for (id, is_member) in [(self.guild.id, false), (account.role.unwrap_or_default(), false), (account.id, true)] {
            if let Some(overwrite) = place.overwrites.iter().find(|o| o.id == id && o.is_member == is_member) {
                bits = bits & !overwrite.deny | overwrite.allow;
            }
        }
        // Without the permission to view a channel there are no other permissions in it.
        Permissions(if bits & Permissions::VIEW_CHANNEL.0 == 0 { 0 } else { bits })
    }

    pub(crate) fn can_view(&self, user: Snowflake, channel: &Channel) -> bool {
        let Some(account) = self.accounts.get(user) else { return false };
        let invited = match &channel.thread {
            Some(thread) if channel.kind == super::ChannelKind::PrivateThread => thread.members.contains_key(&user),
            _ => true,
        };
        invited && self.permissions(account, channel).has(Permissions::VIEW_CHANNEL)
    }
}
