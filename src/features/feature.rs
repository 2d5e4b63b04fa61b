//! The additions of a feature to the team. The configuration, the application and the command line know features only through this trait.

use std::any::Any;
use std::fmt::Debug;
use std::sync::Arc;

use async_trait::async_trait;
use clap::ArgMatches;
use futures_util::future::BoxFuture;

use crate::config::{Config, RetentionSettings};
use crate::features::chat::listener::Listener;
use crate::features::meeting::agenda::Agenda;
use crate::features::meeting::model::{Meeting, MeetingKind, MeetingResult};
use crate::features::schedule::action::Action;
use crate::features::schedule::model::ActionKind;
use crate::features::voice::Playable;
use crate::store::Store;
use kernel::agent::{Agents, PageEntry};
use kernel::chat::ChatPlatform;
use kernel::commands::{CommandReply, Refused, Registry, Services};
use kernel::config::Section;
use kernel::db::StoreError;
use kernel::finding::Finding;
use kernel::ids::{PersonaSlug, UserId};
use kernel::jobs::{JobHandler, RetentionRule};
use kernel::llm::Speech;
use kernel::people::{Erasure, People};
use kernel::persona::roster::Roster;
use kernel::time::SharedClock;
use kernel::tools::workspace::Workspaces;
use kernel::tools::{Act, Tool};

/// The additions of a feature to the team. A feature implements the methods that it needs.
#[async_trait]
pub trait Feature: Send + Sync {
    /// Reads the feature's section of `teamroom.toml`.
    fn read_settings(&self, _root: &mut Section<'_>) -> Option<Arc<dyn FeatureSection>> {
        None
    }

    /// Adds the feature's commands and buttons. No service is provided yet at this time, so their handlers hold `services.late()`.
    fn register(&self, _registry: &mut Registry, _services: &Services) {}

    /// Provides the services that the feature's commands, jobs, meetings and actions need.
    fn provide(&self, _deps: &FeatureDeps<'_>, _services: &Services) {}

    /// Resumes the work of a killed process. Called in the serving process, before jobs are run.
    async fn recover(&self, _services: &Services) -> anyhow::Result<()> {
        Ok(())
    }

    /// The feature's listeners, which see what people say before a persona answers.
    fn listeners(&self, _services: &Services) -> Vec<Arc<dyn Listener>> {
        Vec::new()
    }

    /// The tools that the feature gives to personas.
    fn tools(&self, _deps: &ToolDeps) -> Vec<Arc<dyn Tool>> {
        Vec::new()
    }

    /// The acts that a persona's answer must not claim without having done them.
    fn acts(&self) -> &'static [Act] {
        &[]
    }

    /// The handlers of the feature's jobs.
    fn job_handlers(&self, _services: &Services) -> Result<Vec<Arc<dyn JobHandler>>, Refused> {
        Ok(Vec::new())
    }

    /// How long the feature's rows are kept.
    fn list_retention(&self, _settings: &RetentionSettings, _workspaces: &Workspaces) -> Vec<RetentionRule> {
        Vec::new()
    }

    /// Removes the person's texts and the rows that are only about this person (SEC-4). Afterwards the remaining rows lose the account and the names.
    /// May be called again for the same person.
    async fn forget_person(&self, _store: &Store, _erasure: &Erasure) -> kernel::db::Result<()> {
        Ok(())
    }

    /// The kinds of the feature's scheduled actions, for the configuration.
    fn action_kinds(&self) -> &'static [ActionKind] {
        &[]
    }

    /// The feature's scheduled actions.
    fn actions(&self, _deps: &FeatureDeps<'_>, _services: &Services) -> Vec<Arc<dyn Action>> {
        Vec::new()
    }

    /// The kind of the feature's meetings. Also the name of their command group, which must have the commands `start` and `status`.
    fn meeting_kind(&self) -> Option<MeetingKind> {
        None
    }

    /// The steps of the feature's meetings. None in a process that runs no jobs.
    fn agenda(&self, _services: &Services) -> Option<Arc<dyn Agenda>> {
        None
    }

    /// The result of one of the feature's meetings that is over, for people who look back at it. None if the meeting belongs to another feature.
    async fn find_meeting_result(&self, _meeting: &Meeting, _store: &Store, _roster: &Roster) -> Result<Option<MeetingResult>, StoreError> {
        Ok(None)
    }

    /// How the feature's results are turned into audio.
    fn playable(&self, _services: &Services) -> Option<Arc<dyn Playable>> {
        None
    }

    /// The result of a meeting that is over, for the command line.
    async fn show_result(&self, _meeting: &Meeting, _services: &Services) -> anyhow::Result<CommandReply> {
        Ok(CommandReply::private("It is over."))
    }

    /// Adds commands and options that only make sense at a terminal.
    fn extend_command_line(&self, command: clap::Command) -> clap::Command {
        command
    }

    /// The added command, if the command line contains it.
    fn find_terminal_command(&self, _given: &ArgMatches) -> Option<TerminalCommand> {
        None
    }
}

/// The dependencies of features.
pub struct FeatureDeps<'a> {
    pub config: &'a Config,
    pub roster: Arc<Roster>,
    pub people: People,
    pub store: Store,
    /// None in a process that only carries out commands.
    pub running: Option<Running>,
    /// The address of the kanban page, if people can open it.
    pub kanban: Option<String>,
    /// The speech synthesis for the personas, if any is configured.
    pub speech: Option<Arc<Speech>>,
    pub clock: SharedClock,
}

/// The dependencies of the features' tools.
pub struct ToolDeps {
    pub store: Store,
    pub roster: Arc<Roster>,
    /// People who may own work, with their names.
    pub people: People,
    pub config: Config,
    /// Set once the team has started.
    pub services: Services,
    pub clock: SharedClock,
}

/// The dependencies of jobs and meetings.
#[derive(Clone)]
pub struct Running {
    pub agents: Arc<Agents>,
    pub workspaces: Workspaces,
    pub platform: Arc<dyn ChatPlatform>,
    /// Whether people can answer on the platform. At a terminal they only watch.
    pub hears_people: bool,
}

/// A command that only the command line has. Ctrl-C ends it.
pub type TerminalCommand = Box<dyn FnOnce(Services) -> BoxFuture<'static, anyhow::Result<Shown>> + Send>;

/// The final output of a terminal command.
pub enum Shown {
    Reply(CommandReply),
    /// Output for another program, unchanged.
    Raw(String),
    /// Everything was printed before.
    Nothing,
}

/// The settings of a feature.
pub trait FeatureSection: Any + Debug + Send + Sync {
    /// The personas that the settings name, each with its key.
    fn list_personas(&self) -> Vec<(PersonaSlug, &'static str)> {
        Vec::new()
    }

    /// The people that the settings name.
    fn list_people(&self) -> Vec<(UserId, String)> {
        Vec::new()
    }

    /// Checks the settings against the feeds' current data, for `teamroom doctor`.
    fn check(&self, _page: &[PageEntry]) -> Vec<Finding> {
        Vec::new()
    }
}

/// The settings of all features.
#[derive(Debug, Clone, Default)]
pub struct FeatureSettings(Vec<Arc<dyn FeatureSection>>);

impl FeatureSettings {
    pub fn get<T: FeatureSection + Default + Clone>(&self) -> T {
        let found = self.iter().find_map(|section| (section as &dyn Any).downcast_ref::<T>());
        found.cloned().unwrap_or_default()
    }

    /// Replaces the settings of one feature.
    pub fn set<T: FeatureSection>(&mut self, section: T) {
        self.0.retain(|known| !(known.as_ref() as &dyn Any).is::<T>());
        self.0.push(Arc::new(section));
    }

    pub fn iter(&self) -> impl Iterator<Item = &dyn FeatureSection> {
        self.0.iter().map(AsRef::as_ref)
    }
}

impl FromIterator<Arc<dyn FeatureSection>> for FeatureSettings {
    fn from_iter<I: IntoIterator<Item = Arc<dyn FeatureSection>>>(sections: I) -> Self {
        Self(sections.into_iter().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, Clone, Default, PartialEq)]
    struct Colour(u8);
    impl FeatureSection for Colour {}

    #[derive(Debug, Clone, Default, PartialEq)]
    struct Size(u8);
    impl FeatureSection for Size {}

    #[test]
    fn each_feature_has_its_own_settings_and_one_that_is_not_there_the_defaults() {
        let mut settings: FeatureSettings = [Arc::new(Colour(3)) as Arc<dyn FeatureSection>].into_iter().collect();
        assert_eq!((settings.get(), settings.get()), (Colour(3), Size(0)));
        settings.set(Size(5));
        settings.set(Colour(4));
        assert_eq!((settings.get(), settings.get()), (Colour(4), Size(5)));
        assert_eq!(settings.iter().count(), 2);
    }
}
