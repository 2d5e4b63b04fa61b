use std::time::Duration;

use super::reader::Section;

/// `[guard]`: the limits on agents that answer agents (CHAT-13).
#[derive(Debug, Clone, PartialEq)]
pub struct GuardLimits {
    /// The most replies to one sender among the last `window` messages of a channel.
    pub replies_to_sender: usize,
    /// The same in a standup channel.
    pub replies_to_sender_standup: usize,
    /// How many of the last messages of a channel that looks at.
    pub window: usize,
    /// The most agent messages in a row with no person between.
    pub run: usize,
    /// The most turns in a chain that one person's message started, however slow.
    pub chain: u32,
    /// The most messages a minute between two agents in a channel, in either direction.
    pub pair_per_minute: usize,
    /// How long the two are silent after that.
    pub cooldown: Duration,
    /// Text at least this much like one of the last five agent messages is repetition. 0 to 1.
    pub similarity: f64,
}

impl Default for GuardLimits {
    fn default() -> Self {
        Self {
            replies_to_sender: 2,
            replies_to_sender_standup: 1,
            window: 10,
            run: 4,
            chain: 8,
            pair_per_minute: 3,
            cooldown: Duration::from_mins(1),
            similarity: 0.9,
        }
    }
}

impl GuardLimits {
    pub(super) fn read(section: &mut Section<'_>) -> Self {
        let default = Self::default();
        Self {
            replies_to_sender: section.read_within(
                "replies_to_sender",
                default.replies_to_sender,
                0..=100,
                "The most replies of an agent to the same agent among the last messages of a channel.",
            ),
            replies_to_sender_standup: section.read_within(
                "replies_to_sender_standup",
                default.replies_to_sender_standup,
                0..=100,
                "The same in a standup channel.",
            ),
            window: section.read_within("window", default.window, 1..=100, "How many of the last messages of a channel that looks at."),
            run: section.read_within("run", default.run, 1..=100, "The most messages of agents in a row with no person between."),
            chain: section.read_within(
                "chain",
                default.chain,
                1..=1000,
                "The most turns that one message of a person sets off, however slow.",
            ),
            pair_per_minute: section.read_within(
                "pair_per_minute",
                default.pair_per_minute,
                1..=1000,
                "The most messages a minute between two agents in a channel, in either direction.",
            ),
            cooldown: section.read_within(
                "cooldown",
                default.cooldown,
                Duration::ZERO..=Duration::from_hours(24),
                "How long the two are silent after that.",
            ),
            similarity: section.read_within(
                "similarity",
                default.similarity,
                0.0..=1.0,
                "Text at least this much like one of the last five messages of agents is repetition and is not answered.",
            ),
        }
    }
}
