//! What most commands begin with: the configuration and the roster.

use std::path::PathBuf;

use anyhow::Context;

use crate::config::{self, Config, Sources};
use crate::domain::roster::Roster;
use crate::persona::load;

/// Reads the configuration from the file, `.env` and the environment of this process.
pub(super) fn read_config(file: Option<PathBuf>) -> anyhow::Result<Config> {
    read_config_with(file, [])
}

/// The same with values from the command line, by the dotted names of their keys.
pub(super) fn read_config_with<const N: usize>(file: Option<PathBuf>, overrides: [(&str, String); N]) -> anyhow::Result<Config> {
    let dir = std::env::current_dir().context("this directory cannot be read")?;
    let mut sources = Sources::from_process(dir, file)?;
    sources.overrides = overrides.into_iter().map(|(key, value)| (key.to_owned(), value)).collect();
    Ok(config::load(sources)?)
}

/// Loads the personas. Files that are refused are told on standard error; the others make the team.
pub(super) fn read_roster(config: &Config) -> anyhow::Result<Roster> {
    let loaded = load::load(&config.personas);
    for (path, error) in &loaded.refused {
        eprintln!("{}: {error}; the others are used", path.display());
    }
    let roster = loaded.roster?;
    for stranger in config.list_unknown_personas(&roster) {
        eprintln!("{stranger}");
    }
    Ok(roster)
}
