use std::time::Duration;

use super::reader::Section;
use crate::domain::ids::PersonaSlug;

/// `[backlog]`: how work items are worked off.
#[derive(Debug, Clone, PartialEq)]
pub struct BacklogSettings {
    /// How often the backlog is looked through when nothing rings.
    pub every: Duration,
    /// The most items in progress at a time, over all processes.
    pub parallel: u32,
    /// How often an item is tried before it is failed.
    pub attempts: u32,
    /// How long one run of an item may take.
    pub run_timeout: Duration,
    /// Where items are announced that came from no channel. None: where the standup is held.
    pub channel: Option<String>,
    /// Who judges what code cannot. None: the coordinator, or for its own work whoever fits best.
    pub reviewer: Option<PersonaSlug>,
    /// A program with its arguments that must end with 0 in the workspace of what was built. Empty: none.
    pub test_command: Vec<String>,
}

impl Default for BacklogSettings {
    fn default() -> Self {
        Self {
            every: Duration::from_mins(5),
            parallel: 3,
            attempts: 3,
            run_timeout: Duration::from_mins(15),
            channel: None,
            reviewer: None,
            test_command: Vec::new(),
        }
    }
}

impl BacklogSettings {
    pub(super) fn read(section: &mut Section<'_>) -> Self {
        let default = Self::default();
        Self {
            every: section.read_where(
                "every",
                default.every,
                "at least 1 s",
                "How often the backlog is looked through; what becomes ready is taken up at once all the same.",
                |every| *every >= Duration::from_secs(1),
            ),
            parallel: section.read_where(
                "parallel",
                default.parallel,
                "at least 1",
                "The most items in progress at a time, one for each persona.",
                |parallel| *parallel > 0,
            ),
            attempts: section.read_where(
                "attempts",
                default.attempts,
                "at least 1",
                "How often an item is tried before it fails.",
                |attempts| *attempts > 0,
            ),
            run_timeout: section.read_where("run_timeout", default.run_timeout, "at least 1 s", "How long one try may take.", |limit| {
                *limit >= Duration::from_secs(1)
            }),
            channel: section.read("channel", default.channel, "Where work is announced that came from no channel, by name or id."),
            reviewer: section.read("reviewer", default.reviewer, "The persona that judges work; by default the coordinator."),
            test_command: section.read(
                "test_command",
                default.test_command,
                "A program with its arguments that must succeed in the folder of what was built. It runs confined to that folder.",
            ),
        }
    }
}
