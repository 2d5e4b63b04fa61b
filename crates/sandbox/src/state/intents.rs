//! Gateway intents: the events that a bot subscribes to.

/// A set of gateway intents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Intents(u64);

impl Intents {
    /// Events that everybody gets.
    pub(crate) const NONE: Self = Self(0);
    pub(crate) const GUILDS: Self = Self(1);
    pub(crate) const GUILD_MEMBERS: Self = Self(1 << 1);
    pub(crate) const GUILD_WEBHOOKS: Self = Self(1 << 5);
    pub(crate) const GUILD_PRESENCES: Self = Self(1 << 8);
    pub(crate) const GUILD_MESSAGES: Self = Self(1 << 9);
    pub(crate) const GUILD_MESSAGE_REACTIONS: Self = Self(1 << 10);
    pub(crate) const GUILD_MESSAGE_TYPING: Self = Self(1 << 11);
    pub(crate) const DIRECT_MESSAGES: Self = Self(1 << 12);
    pub(crate) const DIRECT_MESSAGE_REACTIONS: Self = Self(1 << 13);
    pub(crate) const DIRECT_MESSAGE_TYPING: Self = Self(1 << 14);
    pub(crate) const MESSAGE_CONTENT: Self = Self(1 << 15);
    /// All events, for people's clients.
    pub(crate) const ALL: Self = Self(u64::MAX);

    /// Every bit that Discord defines: 0 to 16, 20, 21, 24 and 25.
    const KNOWN: u64 = ((1 << 17) - 1) | (0b11 << 20) | (0b11 << 24);

    /// The intents of an IDENTIFY, or `None` if a bit is unknown (close code 4013).
    pub(crate) fn parse(bits: u64) -> Option<Self> {
        (bits & !Self::KNOWN == 0).then_some(Self(bits))
    }

    pub(crate) fn has(self, wanted: Self) -> bool {
        self.0 & wanted.0 == wanted.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_bit_is_refused() {
        assert!(Intents::parse(1 << 17).is_none());
        assert!(Intents::parse(1 << 40).is_none());
    }

    #[test]
    fn known_bits_are_told_apart() {
        let intents = Intents::parse(1 << 9 | 1 << 15).expect("both exist");
        assert!(intents.has(Intents::MESSAGE_CONTENT) && !intents.has(Intents::GUILDS));
        assert!(intents.has(Intents::NONE));
    }
}
