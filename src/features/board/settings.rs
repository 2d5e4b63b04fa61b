use std::time::Duration;

use kernel::config::{hours, mins, secs, settings};

settings! {
    /// `[board]`: meetings about one question.
    #[derive(Debug, Clone, PartialEq)]
    pub struct BoardSettings {
        rounds: u32 = 5, in 1..=10, "How many rounds a board meeting has at most, unless the caller says otherwise.";
        threshold: f64 = 0.2, in 0.0..=0.9, "Below this share of new comments in two rounds running, a board meeting has nothing new to say and ends.";
        members: u32 = 4, in 2..=10, "How many personas are chosen for a question if nobody names them.";
        lead: Duration = secs(20), in Duration::ZERO..=mins(10), "How long people have to correct the question before the first round of a board meeting starts.";
        turn_timeout: Duration = mins(2), in secs(5)..=mins(10), "How long a persona may take for its turn in a board meeting.";
        session: Duration = hours(1), in mins(1)..=hours(24), "How long a board meeting may take in all. Pauses do not count.";
    }
}
