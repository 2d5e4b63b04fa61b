use std::time::Duration;

use kernel::config::{hours, mins, settings};

settings! {
    /// `[guard]`: the limits on agents that answer agents (CHAT-13).
    #[derive(Debug, Clone, PartialEq)]
    pub struct GuardLimits {
        replies_to_sender: usize = 2, in 0..=100, "The most replies of an agent to the same agent among the last messages of a channel.";
        replies_to_sender_standup: usize = 1, in 0..=100, "The same in a standup channel.";
        window: usize = 10, in 1..=100, "How many of the last messages of a channel that looks at.";
        run: usize = 4, in 1..=100, "The most messages of agents in a row with no person between.";
        chain: u32 = 8, in 1..=1000, "The most turns that one message of a person sets off, however slow.";
        pair_per_minute: usize = 3, in 1..=1000, "The most messages a minute between two agents in a channel, in either direction.";
        model_calls: u32 = 12, in 1..=1000,
            "The most model calls that one message of a person pays for, with what it asks other personas and what they answer each other.";
        cooldown: Duration = mins(1), in Duration::ZERO..=hours(24), "How long the two are silent after that.";
        similarity: f64 = 0.9, in 0.0..=1.0,
            "Text at least this much like one of the last five messages of agents is repetition and is not answered.";
    }
}
