//! What a feature adds to the team. The configuration, the application and the command line know features only by this.

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

/// What a feature adds to the team. Each implements what it has.
#[async_trait]
pub trait Feature: Send + Sync {
    /// Reads its section of `teamroom.toml`.
    fn read_settings(&self, _root: &mut Section<'_>) -> Option<Arc<dyn FeatureSection>> {
        None
    }

    /// Adds its commands and buttons. Nothing is provided yet, so their handlers hold `services.late()`.
    fn register(&self, _registry: &mut Registry, _services: &Services) {}

    /// Provides what its commands, jobs, meetings and actions work with.
    fn provide(&self, _deps: &FeatureDeps<'_>, _services: &Services) {}

    /// Takes up what a killed process left. Called in the process that serves, before jobs are run.
    async fn recover(&self, _services: &Services) -> anyhow::Result<()> {
        Ok(())
    }

    /// React to what people say, before a persona answers.
    fn listeners(&self, _services: &Services) -> Vec<Arc<dyn Listener>> {
        Vec::new()
    }

    /// What personas can do with it.
    fn tools(&self, _deps: &ToolDeps) -> Vec<Arc<dyn Tool>> {
        Vec::new()
    }

    /// What an answer of a persona must not claim to have done without doing it.
    fn acts(&self) -> &'static [Act] {
        &[]
    }

    /// Runs its jobs.
    fn job_handlers(&self, _services: &Services) -> Result<Vec<Arc<dyn JobHandler>>, Refused> {
        Ok(Vec::new())
    }

    /// How long its rows are kept.
    fn list_retention(&self, _settings: &RetentionSettings, _workspaces: &Workspaces) -> Vec<RetentionRule> {
        Vec::new()
    }

    /// Removes what a person has said and what is about that person alone (SEC-4). What remains loses the account and the names afterwards. May be
    /// called again for the same person.
    async fn forget_person(&self, _store: &Store, _erasure: &Erasure) -> kernel::db::Result<()> {
        Ok(())
    }

    /// The actions that its scheduled jobs have, for the configuration.
    fn action_kinds(&self) -> &'static [ActionKind] {
        &[]
    }

    /// The same actions.
    fn actions(&self, _deps: &FeatureDeps<'_>, _services: &Services) -> Vec<Arc<dyn Action>> {
        Vec::new()
    }

    /// The kind of its meetings. It is also the name of their commands, of which `start` and `status` are two.
    fn meeting_kind(&self) -> Option<MeetingKind> {
        None
    }

    /// How its meetings are held. None in a process that runs no jobs.
    fn agenda(&self, _services: &Services) -> Option<Arc<dyn Agenda>> {
        None
    }

    /// What came of one of its meetings that is over, for those who look back at it. None: it is of another feature.
    async fn find_meeting_result(&self, _meeting: &Meeting, _store: &Store, _roster: &Roster) -> Result<Option<MeetingResult>, StoreError> {
        Ok(None)
    }

    /// How its results are heard.
    fn playable(&self, _services: &Services) -> Option<Arc<dyn Playable>> {
        None
    }

    /// What a meeting that is over has led to, for the command line.
    async fn show_result(&self, _meeting: &Meeting, _services: &Services) -> anyhow::Result<CommandReply> {
        Ok(CommandReply::private("It is over."))
    }

    /// Adds to its commands what only makes sense at a terminal.
    fn extend_command_line(&self, command: clap::Command) -> clap::Command {
        command
    }

    /// The command that it has added, if it was given.
    fn find_terminal_command(&self, _given: &ArgMatches) -> Option<TerminalCommand> {
        None
    }
}

/// What features work with.
pub struct FeatureDeps<'a> {
    pub config: &'a Config,
    pub roster: Arc<Roster>,
    pub people: People,
    pub store: Store,
    /// None in a process that only carries out commands.
    pub running: Option<Running>,
    /// The address of the kanban page, if people can open it.
    pub kanban: Option<String>,
    /// What speaks for the personas, if anything does.
    pub speech: Option<Arc<Speech>>,
    pub clock: SharedClock,
}

/// What the tools of features work with.
pub struct ToolDeps {
    pub store: Store,
    pub roster: Arc<Roster>,
    /// People who may own work, with their names.
    pub people: People,
    pub config: Config,
}

/// What jobs and meetings work with.
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

/// What a terminal command shows at its end.
pub enum Shown {
    Reply(CommandReply),
    /// For another program, as it is.
    Raw(String),
    /// All was printed on the way.
    Nothing,
}

/// The settings of a feature.
pub trait FeatureSection: Any + Debug + Send + Sync {
    /// Personas that are named, each with its key.
    fn list_personas(&self) -> Vec<(PersonaSlug, &'static str)> {
        Vec::new()
    }

    /// People that are named.
    fn list_people(&self) -> Vec<(UserId, String)> {
        Vec::new()
    }

    /// Checks the settings against what the feeds say now, for `teamroom doctor`.
    fn check(&self, _page: &[PageEntry]) -> Vec<Finding> {
        Vec::new()
    }
}

/// The settings of the features that are there.
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
