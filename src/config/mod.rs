//! What an operator can set, each section of `teamroom.toml` in a file of its own.
//!
//! Everything is validated here and all errors are told at once; the rest of the crate sees plain values. This folder does no I/O but
//! reading the configuration itself.

mod backlog;
mod budget;
mod chat;
mod discord;
mod guard;
mod models;
mod reader;
mod schedules;
mod server;
mod standup;
mod tools;

use std::path::PathBuf;

use secrecy::{ExposeSecret as _, SecretString};

use crate::domain::ids::PersonaSlug;
use crate::domain::roster::Roster;

pub use backlog::BacklogSettings;
pub use budget::Budgets;
pub use chat::{ChannelRules, ChatSettings, FallbackAnswer};
pub use discord::DiscordSettings;
pub use guard::GuardLimits;
pub use models::{ModelPrice, ModelRef, ModelSettings, ProviderKind, ProviderSettings};
pub use reader::{ConfigError, ConfigErrors, Sources};
pub use schedules::ScheduleSettings;
pub use server::{LogFormat, ServerSettings};
pub use standup::StandupSettings;
pub use tools::{ListedHost, SearchEngine, SearchSettings, ToolSettings};

pub(crate) use reader::find_nearest;
use reader::{Reader, Section};

/// The whole configuration, valid.
#[derive(Debug, Clone)]
pub struct Config {
    /// The team's name, for prompts and pages.
    pub team: String,
    /// Where `personas/*.md` lie.
    pub personas: PathBuf,
    /// Where the team keeps its files; the SQLite database too, unless `database_url` says otherwise.
    pub data: PathBuf,
    /// The directory that feeds of kind `git` and `files` are relative to.
    pub work: PathBuf,
    /// `postgres://…` or `sqlite:…`; by default `sqlite:<data>/teamroom.db`. From `DATABASE_URL`.
    pub database_url: SecretString,
    pub chat: ChatSettings,
    pub guard: GuardLimits,
    pub schedules: ScheduleSettings,
    pub standup: StandupSettings,
    pub backlog: BacklogSettings,
    pub tools: ToolSettings,
    pub models: ModelSettings,
    pub budgets: Budgets,
    pub discord: DiscordSettings,
    pub server: ServerSettings,
}

/// Reads and checks everything.
///
/// # Errors
/// All that is wrong, each with its place, its key and what is allowed there.
pub fn load(sources: Sources) -> Result<Config, ConfigErrors> {
    let dir = sources.dir.clone();
    let mut reader = Reader::new(sources);
    let config = Config::read(&mut reader.root(), &dir);
    reader.finish().map(|()| config)
}

/// The text of a `teamroom.toml` in which every key stands as a comment with its default. Loading it gives the defaults.
pub fn default_file() -> String {
    describe(&[]).render_file()
}

/// The text of `.env.example`: every variable, with tokens for these personas.
pub fn default_env(personas: &[PersonaSlug]) -> String {
    describe(personas).render_env()
}

fn describe(personas: &[PersonaSlug]) -> Reader {
    let mut reader = Reader::describing(personas.iter().map(DiscordSettings::token_variable));
    Config::read(&mut reader.root(), std::path::Path::new(""));
    reader
}

impl Config {
    fn read(root: &mut Section<'_>, dir: &std::path::Path) -> Self {
        let team = root.read("team", "Teamroom".to_owned(), "What the team is called, in prompts and on pages.");
        let personas = root.read(
            "personas",
            PathBuf::from("personas"),
            "Where the persona files are. Without such a folder the built-in team is used.",
        );
        let data = root.read("data", PathBuf::from(".teamroom"), "Where the team keeps its files and, by default, its database.");
        let work = root.read("work", PathBuf::from("."), "The directory whose git history and knowledge/ folder the personas' feeds read.");
        let data = dir.join(data);
        let schedules = ScheduleSettings::read(root);
        Self {
            team,
            personas: dir.join(personas),
            work: dir.join(work),
            chat: ChatSettings::read(&mut root.section("chat")),
            guard: GuardLimits::read(&mut root.section("guard")),
            standup: StandupSettings::read(&mut root.section("standup"), schedules.zone),
            backlog: BacklogSettings::read(&mut root.section("backlog")),
            tools: ToolSettings::read(&mut root.section("tools")),
            schedules,
            models: ModelSettings::read(&mut root.section("models")),
            budgets: Budgets::read(&mut root.section("budgets")),
            discord: DiscordSettings::read(&mut root.section("discord")),
            server: ServerSettings::read(&mut root.section("server")),
            database_url: read_database_url(root).unwrap_or_else(|| format!("sqlite:{}", data.join("teamroom.db").display()).into()),
            data,
        }
    }

    /// What the configuration says of personas that the roster does not have. The rest of the team works all the same, so these are
    /// warnings.
    pub fn list_unknown_personas(&self, roster: &Roster) -> Vec<String> {
        let known = roster.personas().iter().map(|persona| persona.slug.as_str()).collect::<Vec<_>>();
        let tokens = self.discord.tokens.keys().map(|slug| (slug.as_str(), DiscordSettings::token_variable(slug)));
        let bindings = self.chat.channels.bindings.iter().filter(|(_, bound)| bound != "listen");
        let bindings = bindings.map(|(channel, bound)| (bound.as_str(), format!("the rule of chat.channels for {channel}")));
        let speakers = self.standup.order.iter().map(|slug| (slug.as_str(), "standup.order".to_owned()));
        let strangers = tokens.chain(bindings).chain(speakers).filter(|(slug, _)| !known.contains(slug));
        strangers
            .map(|(slug, place)| {
                let meant = find_nearest(slug, known.iter().copied()).map(|meant| format!("; did you mean {meant}?"));
                let meant = meant.unwrap_or_else(|| format!("; there are {}", known.join(", ")));
                format!("{place} names a persona {slug}, which is not on the team{meant}")
            })
            .collect()
    }

    /// Every secret there is, for taking them out of what the team writes.
    pub fn list_secrets(&self) -> Vec<&SecretString> {
        let keys = self.models.providers.iter().filter_map(|provider| provider.key.as_ref());
        let search = self.tools.search.iter().filter_map(|search| search.key.as_ref());
        // Without a password it is the path of a file, which people may read.
        let database = Some(&self.database_url).filter(|url| url.expose_secret().contains('@'));
        self.discord.tokens.values().chain(keys).chain(search).chain(database).chain(&self.server.token).collect()
    }
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
mod tests;
