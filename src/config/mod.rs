//! What an operator can set, each section of `teamroom.toml` in a file of its own.
//!
//! Everything is validated here and all errors are told at once; the rest of the crate sees plain values. This folder does no I/O but
//! reading the configuration itself.

mod budget;
mod chat;
mod discord;
mod guard;
mod models;
mod server;

use std::path::PathBuf;

pub use budget::Budgets;
pub use chat::{ChannelRules, ChatSettings, FallbackAnswer};
pub use discord::DiscordSettings;
pub use guard::GuardLimits;
pub use models::{ModelPrice, ModelRef, ModelSettings, ProviderKind, ProviderSettings};
pub use server::{LogFormat, ServerSettings};

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
    pub database_url: secrecy::SecretString,
    pub chat: ChatSettings,
    pub guard: GuardLimits,
    pub models: ModelSettings,
    pub budgets: Budgets,
    pub discord: DiscordSettings,
    pub server: ServerSettings,
}
