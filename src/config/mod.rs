//! The configuration. Each section of `teamroom.toml` has its own file.
//!
//! Everything is validated here and all errors are reported at once. The rest of the crate gets plain values. This folder does no I/O except reading
//! the configuration.

mod retention;

use std::path::{Path, PathBuf};

use secrecy::{ExposeSecret as _, SecretString};

use kernel::ids::{PersonaSlug, UserId, complete};
use kernel::persona::roster::Roster;

use kernel::config::{ConfigErrors, Reader, Section, Sources, find_nearest, settings};
use kernel::feeds::FeedSettings;
use kernel::jobs::JobsSettings;
use kernel::llm::budget::Budgets;
use kernel::llm::settings::ModelSettings;
use kernel::repository::RepositorySettings;
use kernel::tools::settings::ToolSettings;

use crate::adapters::discord;
use crate::adapters::discord::settings::DiscordSettings;
use crate::adapters::http::settings::ServerSettings;
use crate::adapters::slack::settings::SlackSettings;
use crate::features;
use crate::features::backlog::settings::BacklogSettings;
use crate::features::chat::settings::{ChatSettings, GuardLimits};
use crate::features::schedule::settings::ScheduleSettings;
use crate::features::{FeatureSection, FeatureSettings};
pub use retention::RetentionSettings;

/// The platform that the team runs on. Ids in settings and arguments may leave it out.
pub const PLATFORM: &str = discord::PLATFORM;

settings! {
    /// The whole configuration, valid.
    #[derive(Debug, Clone)]
    pub struct Config {
        team: String = "Teamroom".into(), "What the team is called, in prompts and on pages.";
        personas: PathBuf = "personas".into(), "Where the persona files are. Without such a folder the built-in team is used.";
        skills: PathBuf = "skills".into(), "Where the skill files are. Without such a folder the built-in skills are used.";
        experts: PathBuf = "experts".into(), "Where the expert files are: guests of board meetings. Without such a folder there are none.";
        data: PathBuf = ".teamroom".into(), "Where the team keeps its files and, by default, its database.";
        work: PathBuf = ".".into(), "The directory whose git history and knowledge/ folder the personas' feeds read.";
        me: Option<String> = None, "Your name in the chat, which `me` means at the command line. By default the only person whom the team knows.";
        schedules: ScheduleSettings = ScheduleSettings::default(), by read_schedules;
        chat: ChatSettings = ChatSettings::default(), table ChatSettings::read;
        guard: GuardLimits = GuardLimits::default(), table GuardLimits::read;
        /// The sections that belong to one feature alone.
        features: FeatureSettings = FeatureSettings::default(), by features::read_settings;
        backlog: BacklogSettings = BacklogSettings::default(), table BacklogSettings::read;
        jobs: JobsSettings = JobsSettings::default(), table JobsSettings::read_checked;
        retention: RetentionSettings = RetentionSettings::default(), table RetentionSettings::read;
        models: ModelSettings = ModelSettings::default(), table ModelSettings::read_all;
        budgets: Budgets = Budgets::default(), table Budgets::read;
        repositories: Vec<RepositorySettings> = Vec::new(), by RepositorySettings::read_all;
        tools: ToolSettings = ToolSettings::default(), table ToolSettings::read;
        feeds: FeedSettings = FeedSettings::default(), table FeedSettings::read;
        discord: DiscordSettings = DiscordSettings::default(), table DiscordSettings::read;
        slack: SlackSettings = SlackSettings::default(), table SlackSettings::read;
        server: ServerSettings = ServerSettings::default(), table ServerSettings::read;
        /// `postgres://…` or `sqlite:…`; by default `sqlite:<data>/teamroom.db`. From `DATABASE_URL`.
        database_url: SecretString = SecretString::default();
    }
}

/// Reads and checks everything.
///
/// # Errors
/// All errors, each with its location, its key and the allowed values.
pub fn load(sources: Sources) -> Result<Config, ConfigErrors> {
    let dir = sources.dir.clone();
    let mut reader = Reader::new(sources);
    let config = Config::read_in(&dir, &mut reader.root());
    reader.finish().map(|()| config)
}

/// The text of a `teamroom.toml` that contains every key as a comment with its default. Loading it gives the defaults.
pub fn default_file() -> String {
    describe(&[]).render_file()
}

/// The text of `.env.example`: every variable, with tokens for these personas.
pub fn default_env(personas: &[PersonaSlug]) -> String {
    describe(personas).render_env()
}

fn describe(personas: &[PersonaSlug]) -> Reader {
    let mut reader = Reader::describing(personas.iter().map(DiscordSettings::token_variable));
    Config::read_in(Path::new(""), &mut reader.root());
    reader
}

impl Config {
    /// Relative paths start at `dir`.
    fn read_in(dir: &Path, root: &mut Section<'_>) -> Self {
        let mut config = Self::read(root);
        for path in [&mut config.personas, &mut config.skills, &mut config.experts, &mut config.data, &mut config.work] {
            *path = dir.join(&*path);
        }
        if let Some(folder) = &mut config.models.embedding_folder {
            *folder = dir.join(&*folder);
        }
        for repository in &mut config.repositories {
            repository.path = dir.join(&repository.path);
        }
        let database = || format!("sqlite:{}", config.data.join("teamroom.db").display()).into();
        config.database_url = read_database_url(root).unwrap_or_else(database);
        config.complete_ids();
        config
    }

    /// Adds the platform to ids of channels, people and roles that are written without.
    pub fn complete_ids(&mut self) {
        let Self { chat, backlog, discord, schedules, .. } = self;
        let rules = &mut chat.channels;
        let kinds = rules.kinds.iter_mut().map(|(channel, _)| channel);
        let bindings = rules.bindings.iter_mut().map(|(channel, _)| channel);
        let answers = rules.fallback.iter_mut().map(|(channel, _)| channel);
        let places =
            schedules.jobs.iter_mut().filter_map(|job| job.channel.as_mut()).chain(&mut backlog.channel).chain(&mut discord.ops_channel);
        for written in kinds.chain(bindings).chain(answers).chain(places).chain(&mut chat.allowed_channels).chain(&mut chat.operators) {
            *written = complete(PLATFORM, written).into_owned();
        }
        for written in chat.allowed_users.iter_mut().chain(&mut chat.allowed_bots) {
            *written = UserId::new(complete(PLATFORM, written.as_str()));
        }
    }

    /// Personas that the configuration names and the roster does not have. The rest of the team still works, so these are warnings.
    pub fn list_unknown_personas(&self, roster: &Roster) -> Vec<String> {
        let known = roster.personas().iter().map(|persona| persona.slug.as_str()).collect::<Vec<_>>();
        let tokens = self.discord.tokens.keys().map(|slug| (slug.as_str(), DiscordSettings::token_variable(slug)));
        let apps = self.slack.own.keys().map(|slug| (slug.as_str(), SlackSettings::token_variables(slug)[0].clone()));
        let bindings = self.chat.channels.bindings.iter().filter(|(_, bound)| bound != "listen");
        let bindings = bindings.map(|(channel, bound)| (bound.as_str(), format!("the rule of chat.channels for {channel}")));
        let of_features: Vec<_> = self.features.iter().flat_map(FeatureSection::list_personas).collect();
        let of_features = of_features.iter().map(|(slug, key)| (slug.as_str(), (*key).to_owned()));
        let strangers = tokens.chain(apps).chain(bindings).chain(of_features).filter(|(slug, _)| !known.contains(slug));
        strangers
            .map(|(slug, place)| {
                let meant = find_nearest(slug, known.iter().copied()).map(|meant| format!("; did you mean {meant}?"));
                let meant = meant.unwrap_or_else(|| format!("; there are {}", known.join(", ")));
                format!("{place} names a persona {slug}, which is not on the team{meant}")
            })
            .collect()
    }

    /// The name or id of the channel for operators.
    pub fn ops_channel(&self) -> &str {
        let on_slack = self.slack.ops_channel.as_deref().filter(|_| self.slack.is_set());
        on_slack.or(self.discord.ops_channel.as_deref()).unwrap_or("ops")
    }

    /// The budgets that apply: tokens are limited where money cannot be.
    pub fn effective_budgets(&self) -> Budgets {
        let budgets = self.budgets.clone();
        if self.models.list_unpriced().is_empty() { budgets } else { budgets.without_prices() }
    }

    /// The channels in which the settings let the team post by itself.
    pub fn list_channels(&self) -> Vec<String> {
        let jobs = self.schedules.jobs.iter().filter(|job| job.enabled).filter_map(|job| job.channel.clone());
        let mut channels: Vec<String> = jobs.chain(self.backlog.channel.clone()).chain(self.discord.ops_channel.clone()).collect();
        channels.sort();
        channels.dedup();
        channels
    }

    /// Every secret, for redaction of the team's output.
    pub fn list_secrets(&self) -> Vec<&SecretString> {
        let keys = self.models.providers.iter().filter_map(|provider| provider.key.as_ref());
        let search = self.tools.search.iter().filter_map(|search| search.key.as_ref());
        // Without a password it is a file path, which people may read.
        let database = Some(&self.database_url).filter(|url| url.expose_secret().contains('@'));
        self.discord
            .tokens
            .values()
            .chain(self.slack.list_secrets())
            .chain(keys)
            .chain(search)
            .chain(&self.feeds.github_token)
            .chain(database)
            .chain(&self.server.token)
            .collect()
    }
}

fn read_schedules(root: &mut Section<'_>) -> ScheduleSettings {
    ScheduleSettings::read(root, &features::actions())
}

fn read_database_url(root: &mut Section<'_>) -> Option<SecretString> {
    let about =
        "The database: postgres://user:password@host/name, or sqlite:path/of/the/file. Not set: a file in the team's data directory.";
    let url = root.secret("DATABASE_URL", about)?;
    let known = ["postgres://", "postgresql://", "sqlite:"].iter().any(|scheme| url.expose_secret().starts_with(scheme));
    if !known {
        root.refuse_variable("DATABASE_URL", "is no address of a database; give one that begins with postgres:// or sqlite:");
    }
    known.then_some(url)
}

#[cfg(test)]
pub(crate) mod tests;
