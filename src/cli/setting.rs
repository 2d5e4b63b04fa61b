//! Loads the configuration and the roster for most commands.

use std::fmt::Display;
use std::path::{Path, PathBuf};

use anyhow::Context;

use crate::cli::Globals;
use crate::config;
use crate::config::Config;
use kernel::commands::refuse;
use kernel::config::Sources;
use kernel::network;
use kernel::persona::roster::Roster;
use kernel::persona::{expert, load, skill};

/// Where `teamroom sandbox` keeps the team's files.
pub(super) const SANDBOX: &str = ".teamroom/sandbox";
/// The same for `teamroom sandbox --slack`.
pub(super) const SLACK_SANDBOX: &str = ".teamroom/slack-sandbox";

/// Reads the configuration from the file, `.env` and the environment of this process. If only the sandbox's database exists, that one is used.
pub(super) fn read_config(globals: &Globals) -> anyhow::Result<Config> {
    let sources = read_sources(globals.config.clone())?;
    let sandbox = if globals.sandbox { Some(chosen_sandbox(&sources)) } else { find_only_sandbox(&sources) };
    load(sources, sandbox)
}

/// Like [`read_config`], for commands about the team itself: uses the sandbox's database only on request.
pub(super) fn read_team_config(globals: &Globals) -> anyhow::Result<Config> {
    let sources = read_sources(globals.config.clone())?;
    let sandbox = globals.sandbox.then(|| chosen_sandbox(&sources));
    load(sources, sandbox)
}

/// Like [`read_config`], with one value from the command line, by the dotted name of its key.
pub(super) fn read_config_with(file: Option<PathBuf>, key: &str, value: String) -> anyhow::Result<Config> {
    let mut sources = read_sources(file)?;
    sources.overrides.insert(key.to_owned(), value);
    load_checked(sources)
}

fn read_sources(file: Option<PathBuf>) -> anyhow::Result<Sources> {
    let dir = std::env::current_dir().context("this directory cannot be read")?;
    if let Some(missing) = file.as_ref().filter(|file| !dir.join(file).exists()) {
        refuse(format!("there is no file {}. --config takes a file with settings, such as teamroom.toml", missing.display()))?;
    }
    Ok(Sources::from_process(dir, file)?)
}

fn load(mut sources: Sources, sandbox: Option<&str>) -> anyhow::Result<Config> {
    if let Some(data) = sandbox {
        sources.overrides.insert("data".to_owned(), data.to_owned());
    }
    load_checked(sources)
}

/// The configuration, if its connections can be made as the environment says.
fn load_checked(sources: Sources) -> anyhow::Result<Config> {
    let config = config::load(sources)?;
    network::check()?;
    Ok(config)
}

/// The sandbox that `--sandbox` means: that on Discord, or the one on Slack where it is the only one.
fn chosen_sandbox(sources: &Sources) -> &'static str {
    find_sandbox(sources).unwrap_or(SANDBOX)
}

fn find_sandbox(sources: &Sources) -> Option<&'static str> {
    [SANDBOX, SLACK_SANDBOX].into_iter().find(|data| has_database(sources, data))
}

fn has_database(sources: &Sources, data: &str) -> bool {
    sources.dir.join(data).join("teamroom.db").exists()
}

/// The sandbox, if no database and no directory for one is configured, and only a sandbox's database exists.
fn find_only_sandbox(sources: &Sources) -> Option<&'static str> {
    let is_set = |name: &str| sources.env.get(name).is_some_and(|value| !value.trim().is_empty());
    if ["DATABASE_URL", "DATABASE_URL_FILE", "TEAMROOM_DATA"].into_iter().any(is_set) || has_database(sources, ".teamroom") {
        return None;
    }
    let file = sources.file.clone().unwrap_or_else(|| sources.dir.join("teamroom.toml"));
    let names_data = match std::fs::read_to_string(file) {
        // The reading that follows reports a parse error.
        Ok(text) => text.parse::<toml::Table>().map_or(true, |table| table.contains_key("data")),
        Err(_) => false,
    };
    find_sandbox(sources).filter(|_| !names_data)
}

/// Loads the personas, their skills and the experts. Invalid files are reported on standard error. The others form the team.
pub(super) fn read_roster(config: &Config) -> anyhow::Result<Roster> {
    let loaded = load::load(&config.personas);
    let skills = skill::load::load(&config.skills);
    let roster = loaded.roster?.with_skills(skills.skills).in_zone(config.schedules.zone);
    let experts = expert::load(&config.experts, &roster);
    let told = |path: &Path, error: &dyn Display, rest: &str| format!("{}: {error}; {rest}", path.display());
    let faults: Vec<String> = (loaded.refused.iter().map(|(path, error)| told(path, error, "the other personas are used")))
        .chain(loaded.in_part.iter().map(|(path, error)| told(path, error, "the rest of the file is used")))
        .chain(skills.refused.iter().map(|(path, error)| told(path, error, "the other skills are used")))
        .chain(experts.refused.iter().map(|(path, error)| told(path, error, "the other experts are used")))
        .chain(experts.without_picture.iter().map(|(path, error)| told(path, error, "a generated picture is used")))
        .collect();
    let roster = roster.with_experts(experts.experts);
    for fault in faults.iter().chain(&config.list_unknown_personas(&roster)) {
        eprintln!("{fault}");
    }
    Ok(roster.with_faults(faults))
}

/// The files that settings come from, for [`Reload`](crate::app::Reload). They need not exist.
pub(super) fn list_files(file: Option<&Path>) -> anyhow::Result<Vec<PathBuf>> {
    let dir = std::env::current_dir().context("this directory cannot be read")?;
    Ok(vec![dir.join(file.unwrap_or(Path::new("teamroom.toml"))), dir.join(".env")])
}

/// Loads the personas, the skills and the experts of a running team. An invalid file is an error, because the team has its previous content. A bad
/// feed, tool or picture of a persona is left out and reported, as at the start.
///
/// # Errors
/// All invalid files, and why.
pub(super) fn reload_roster(config: &Config) -> anyhow::Result<Roster> {
    let (loaded, skills) = (load::load(&config.personas), skill::load::load(&config.skills));
    let experts = loaded.roster.as_ref().map(|roster| expert::load(&config.experts, roster)).unwrap_or_default();
    let faults = [&loaded.refused, &experts.refused, &experts.without_picture].into_iter().flatten();
    let faults = faults.map(|(path, error)| format!("{}: {error}", path.display()));
    let faults: Vec<_> = faults.chain(skills.refused.iter().map(|(path, error)| format!("{}: {error}", path.display()))).collect();
    anyhow::ensure!(faults.is_empty(), "{}", faults.join("\n"));
    let in_part = loaded.in_part.iter().map(|(path, error)| format!("{}: {error}; the rest of the file is used", path.display()));
    let in_part: Vec<String> = in_part.collect();
    for fault in &in_part {
        eprintln!("{fault}");
    }
    let roster = loaded.roster?.with_skills(skills.skills).with_experts(experts.experts).in_zone(config.schedules.zone);
    Ok(roster.with_faults(in_part))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sources(dir: &tempfile::TempDir, env: &[(&str, &str)]) -> Sources {
        let env = env.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        Sources { dir: dir.path().into(), env, ..Sources::default() }
    }

    fn touch(dir: &tempfile::TempDir, path: &str, text: &str) {
        let path = dir.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    #[test]
    fn the_sandbox_is_meant_where_nothing_else_is_there() {
        let dir = tempfile::tempdir().unwrap();
        let found = |env: &[(&str, &str)]| find_only_sandbox(&sources(&dir, env));
        assert_eq!(found(&[]), None, "there is none");
        touch(&dir, ".teamroom/slack-sandbox/teamroom.db", "");
        assert_eq!(found(&[]), Some(SLACK_SANDBOX));
        touch(&dir, ".teamroom/sandbox/teamroom.db", "");
        assert_eq!((found(&[]), found(&[("DATABASE_URL", "")])), (Some(SANDBOX), Some(SANDBOX)));
        assert_eq!((found(&[("DATABASE_URL", "postgres://x")]), found(&[("TEAMROOM_DATA", "elsewhere")])), (None, None));
        touch(&dir, "teamroom.toml", "team = 'Ours'");
        assert_eq!(found(&[]), Some(SANDBOX));
        touch(&dir, "teamroom.toml", "data = 'elsewhere'");
        assert_eq!(found(&[]), None);
        touch(&dir, "teamroom.toml", "");
        touch(&dir, ".teamroom/teamroom.db", "");
        assert_eq!(found(&[]), None, "the team has one of its own");
    }

    #[test]
    fn the_files_of_the_sandbox_are_found() {
        let dir = tempfile::tempdir().unwrap();
        let sources = sources(&dir, &[]);
        let chosen = chosen_sandbox(&sources);
        assert_eq!(load(sources, Some(chosen)).unwrap().data, dir.path().join(SANDBOX));
    }
}
