use std::time::Duration;

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
