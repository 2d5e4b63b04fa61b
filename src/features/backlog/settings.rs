use std::time::Duration;

use crate::features::backlog::model::WorkingHours;
use kernel::config::{choice, mins, secs, settings};
use kernel::ids::PersonaSlug;

settings! {
    /// `[backlog]`: how work items are executed.
    #[derive(Debug, Clone, PartialEq)]
    pub struct BacklogSettings {
        every: Duration = mins(5), only "at least 1 s", |every| *every >= secs(1),
            "How often waiting items are checked. Items that become ready start at once.";
        parallel: u32 = 3, only "at least 1", |parallel| *parallel > 0, "Most items in progress at the same time. Each persona works on one.";
        attempts: u32 = 3, only "at least 1", |attempts| *attempts > 0, "Number of attempts before an item fails.";
        run_timeout: Duration = mins(15), only "at least 1 s", |limit| *limit >= secs(1), "Time limit of one attempt.";
        working_hours: WorkingHours = WorkingHours::default(), "When people are reminded of what items ask them for, in the team's zone.";
        channel: Option<String> = None, "Channel for news and questions about items that were not added in a channel, by name or id. Default: that of the last item from a meeting, else the ops channel.";
        reviewer: Option<PersonaSlug> = None, "The persona that reviews results. Default: the coordinator.";
        review_below: f64 = 4.0, only "from 1 to 6", |below| (1.0..=6.0).contains(below),
            "A mission's step that others build on is done without a review if its author's own critique has at least this mean, of 1 to 5. 6: every step is reviewed.";
        amendments: Amendments = Amendments::Ask,
            "What becomes of rejections. \"ask\": after five of a persona in one kind of work, what it should do differently is drafted, and an operator decides; \"never\": nothing is drafted.";
        test_command: Vec<String> = Vec::new(),
            "A test command with arguments that must succeed in the folder of the result. It runs in a sandbox.";
    }
}

/// What becomes of the rejections of a persona.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Amendments {
    Ask,
    Never,
}

choice!(Amendments { "ask" => Self::Ask, "never" => Self::Never });
