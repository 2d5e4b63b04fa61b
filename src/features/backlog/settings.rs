use std::time::Duration;

use kernel::config::{mins, secs, settings};
use kernel::ids::PersonaSlug;

settings! {
    /// `[backlog]`: how work items are executed.
    #[derive(Debug, Clone, PartialEq)]
    pub struct BacklogSettings {
        every: Duration = mins(5), only "at least 1 s", |every| *every >= secs(1),
            "How often the backlog is looked through; what becomes ready is taken up at once all the same.";
        parallel: u32 = 3, only "at least 1", |parallel| *parallel > 0, "The most items in progress at a time, one for each persona.";
        attempts: u32 = 3, only "at least 1", |attempts| *attempts > 0, "How often an item is tried before it fails.";
        run_timeout: Duration = mins(15), only "at least 1 s", |limit| *limit >= secs(1), "How long one try may take.";
        channel: Option<String> = None, "Where work is announced that came from no channel, by name or id.";
        reviewer: Option<PersonaSlug> = None, "The persona that judges work; by default the coordinator.";
        test_command: Vec<String> = Vec::new(),
            "A program with its arguments that must succeed in the folder of what was built. It runs confined to that folder.";
    }
}
