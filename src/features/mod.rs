//! One folder per feature. A feature imports the kernel and the public functions of features before it, and adds its parts to the team through
//! [`Feature`]. To remove a feature, delete its folder and its two lines here.

pub mod backlog;
pub mod backup;
pub mod board;
pub mod chat;
mod feature;
pub mod meeting;
pub mod memory;
pub mod mission;
pub mod overwatch;
pub mod relationships;
pub mod reminders;
pub mod schedule;
pub mod standup;
pub mod voice;

use std::sync::Arc;

use crate::store::Store;
use kernel::commands::{Authorize, Registry, Services};
use kernel::config::Section;
use kernel::db::StoreError;
use kernel::persona::roster::Roster;
use kernel::tools::{Act, Tool};
use meeting::model::{Meeting, MeetingResult};
use schedule::model::Actions;

pub use feature::{Feature, FeatureDeps, FeatureSection, FeatureSettings, Running, Shown, TerminalCommand, ToolDeps};

/// The order in which people read about their commands. If several features would take a message, the first one takes it.
pub const FEATURES: &[&dyn Feature] = &[
    &chat::ChatFeature,
    &backlog::BacklogFeature,
    &reminders::RemindersFeature,
    &memory::MemoryFeature,
    &relationships::RelationshipsFeature,
    &schedule::ScheduleFeature,
    &standup::StandupFeature,
    &board::BoardFeature,
    &overwatch::OverwatchFeature,
    &mission::MissionFeature,
    &voice::VoiceFeature,
    &backup::BackupFeature,
];

/// The commands of all features, for a team on `platform`.
pub fn registry(platform: &'static str, services: &Services, authorize: Authorize) -> Registry {
    let mut registry = Registry::new(platform, authorize);
    for feature in FEATURES {
        feature.register(&mut registry, services);
    }
    chat::commands::register_help(&mut registry, services);
    registry
}

/// The sections of `teamroom.toml` that belong to one feature alone.
pub fn read_settings(root: &mut Section<'_>) -> FeatureSettings {
    FEATURES.iter().filter_map(|feature| feature.read_settings(root)).collect()
}

/// The tools that the features give to personas.
pub fn tools(deps: &ToolDeps) -> Vec<Arc<dyn Tool>> {
    FEATURES.iter().flat_map(|feature| feature.tools(deps)).collect()
}

/// The acts that a persona's answer must not claim without having done them.
pub fn acts() -> Vec<Act> {
    FEATURES.iter().flat_map(|feature| feature.acts()).copied().collect()
}

/// The actions that scheduled jobs can have.
pub fn actions() -> Actions {
    Actions::of(FEATURES.iter().flat_map(|feature| feature.action_kinds()).cloned())
}

/// The result of a meeting that is over. None if its feature was removed.
///
/// # Errors
/// The database is unavailable.
pub async fn find_meeting_result(meeting: &Meeting, store: &Store, roster: &Roster) -> Result<Option<MeetingResult>, StoreError> {
    for feature in FEATURES {
        if let Some(result) = feature.find_meeting_result(meeting, store, roster).await? {
            return Ok(Some(result));
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use kernel::commands::CommandSpec;

    fn check(command: &CommandSpec) {
        let is_name = |name: &str| name.len() <= 32 && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-');
        let is_line = |text: &str| !text.is_empty() && text.chars().count() <= 100;
        assert!(is_name(command.name) && is_line(command.description), "{}", command.name);
        assert!(command.description.ends_with('.'), "{}", command.description);
        let names: BTreeSet<_> = command.arguments.iter().map(|argument| argument.name).collect();
        assert_eq!(names.len(), command.arguments.len(), "{} has two arguments of one name", command.name);
        assert!(command.arguments.len() <= 25 && command.subcommands.len() <= 25, "{}", command.name);
        for argument in &command.arguments {
            assert!(is_name(argument.name) && is_line(argument.description), "{} {}", command.name, argument.name);
        }
        assert!(command.arguments.is_sorted_by_key(|argument| !argument.required), "{}: what is required comes first", command.name);
        command.subcommands.iter().for_each(check);
    }

    #[test]
    fn every_command_is_within_the_limits_of_discord() {
        let registry = registry("discord", &Services::new("not here"), kernel::commands::permit_all());
        assert!(registry.commands().len() > FEATURES.len());
        registry.commands().iter().for_each(check);
    }
}
