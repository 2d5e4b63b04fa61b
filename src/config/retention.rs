use std::time::Duration;

use kernel::config::settings;

settings! {
    /// `[retention]`: how long finished rows are kept. Rows that something open refers to are kept longer.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub struct RetentionSettings {
        // Must be longer than the age of the oldest message that is still answered (`chat.max_age`).
        messages_days: u32 = 90, in 8..=3650,
            "How many days messages, the text of their files, answers and questions between personas are kept.";
        // By default 13 months, so that the same day of last year is kept. `/costs` shows a month, and a persona is asked for two.
        model_calls_days: u32 = 400, in 62..=3650, "How many days each model call is kept. What each day cost is kept for good.";
        samples_days: u32 = 400, in 2..=3650, "How many days the values of feeds are kept.";
        firings_days: u32 = 90, in 2..=3650, "How many days it is kept what the schedule started.";
        events_days: u32 = 90, in 2..=3650,
            "How many days it is kept what happened and who did it. What happened to an item is kept for `work_days`.";
        memories_days: u32 = 400, in 30..=3650,
            "How many days lessons and messages can be found again that nobody asked about. What people taught is kept until they have it forgotten.";
        work_days: u32 = 180, in 2..=3650,
            "How many days the steps and runs of an item are kept after it has ended. The item itself and its result are kept for good.";
    }
}

impl RetentionSettings {
    pub fn messages(&self) -> Duration {
        days(self.messages_days)
    }

    pub fn model_calls(&self) -> Duration {
        days(self.model_calls_days)
    }

    pub fn samples(&self) -> Duration {
        days(self.samples_days)
    }

    pub fn firings(&self) -> Duration {
        days(self.firings_days)
    }

    pub fn events(&self) -> Duration {
        days(self.events_days)
    }

    pub fn memories(&self) -> Duration {
        days(self.memories_days)
    }

    pub fn work(&self) -> Duration {
        days(self.work_days)
    }
}

fn days(days: u32) -> Duration {
    Duration::from_hours(24 * u64::from(days))
}
