//! `teamroom init`: writes the files that an operator edits, with explanations.

use std::fs::OpenOptions;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use anyhow::Context as _;

use crate::config;
use kernel::llm::nearby::{NearbyServer, SERVERS, find_server};
use kernel::persona::load::BUILT_IN;

/// The `.env.example` of this version. `tests/tidy.rs` compares it with the configuration.
const ENV_EXAMPLE: &str = include_str!("../../.env.example");

/// Writes `teamroom.toml`, `.env` and the built-in `personas/` into `dir`. Existing files are kept.
///
/// # Errors
/// A file could not be written. The files before it exist.
pub fn run(dir: &Path) -> anyhow::Result<()> {
    for (path, written) in write_files(dir)? {
        let note = if written { "written" } else { "is there already and stays as it is" };
        println!("{}: {note}", path.display());
    }
    println!("Nothing needs to be filled in to begin: `teamroom sandbox` works at once.");
    Ok(())
}

/// Names a model server on this machine, with the settings that use it.
pub async fn offer_model() {
    if let Some(NearbyServer { name, base_url, model }) = find_server(&SERVERS).await {
        println!("{name} runs on this machine with {model}. To use it, write into .env:");
        println!("TEAMROOM_MODEL_URL={base_url}\nTEAMROOM_MODEL={model}");
    }
}

/// Each file, and whether it is new.
fn write_files(dir: &Path) -> anyhow::Result<Vec<(PathBuf, bool)>> {
    let personas = dir.join("personas");
    // An existing folder has its own personas. The built-in files would add six more.
    let has_team = personas.exists();
    let mut files = vec![(dir.join("teamroom.toml"), config::default_file(), 0o644), (dir.join(".env"), ENV_EXAMPLE.to_owned(), 0o600)];
    if !has_team {
        files.extend(BUILT_IN.iter().map(|(name, text)| (personas.join(name), (*text).to_owned(), 0o644)));
    }
    std::fs::create_dir_all(&personas).with_context(|| format!("creating {}", personas.display()))?;
    let mut outcome = Vec::new();
    for (path, text, mode) in files {
        let written = write_new(&path, &text, mode).with_context(|| format!("writing {}", path.display()))?;
        outcome.push((path, written));
    }
    if has_team {
        outcome.push((personas, false));
    }
    Ok(outcome)
}

/// False if the file exists.
fn write_new(path: &Path, text: &str, mode: u32) -> io::Result<bool> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    // `.env` will hold tokens, so only its owner may read it from the first byte on.
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, mode);
    match options.open(path) {
        Ok(mut file) => file.write_all(text.as_bytes()).map(|()| true),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::config::load;
    use kernel::config::Sources;

    #[test]
    fn what_init_writes_loads_as_the_defaults_and_the_built_in_team() {
        let dir = tempfile::tempdir().expect("a directory");
        run(dir.path()).expect("written");
        let config = load(Sources { dir: dir.path().into(), ..Sources::default() }).expect("a configuration");
        let roster = kernel::persona::load::load(&config.personas).roster.expect("a roster");
        assert_eq!((config.team.as_str(), roster.personas().len()), ("Teamroom", 7));
    }

    #[test]
    fn what_is_there_already_is_never_overwritten() {
        let dir = tempfile::tempdir().expect("a directory");
        fs::write(dir.path().join(".env"), "DISCORD_TOKEN_KELLY=x").expect("written");
        fs::create_dir(dir.path().join("personas")).expect("created");
        let outcome = write_files(dir.path()).expect("written");
        let new: Vec<_> = outcome.iter().map(|(path, new)| (path.file_name().expect("a name").to_str().expect("text"), *new)).collect();
        assert_eq!(new, [("teamroom.toml", true), (".env", false), ("personas", false)]);
        assert_eq!(fs::read_to_string(dir.path().join(".env")).expect("readable"), "DISCORD_TOKEN_KELLY=x");
        assert_eq!(fs::read_dir(dir.path().join("personas")).expect("readable").count(), 0);
    }

    #[cfg(unix)]
    #[test]
    fn nobody_else_can_read_the_secrets() {
        use std::os::unix::fs::PermissionsExt as _;
        let dir = tempfile::tempdir().expect("a directory");
        write_files(dir.path()).expect("written");
        let mode = fs::metadata(dir.path().join(".env")).expect("there").permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }

    #[test]
    fn a_directory_that_cannot_be_written_is_an_error_with_its_path() {
        let dir = tempfile::tempdir().expect("a directory");
        let file = dir.path().join("file");
        fs::write(&file, "").expect("written");
        let error = format!("{:#}", run(&file).expect_err("no directory"));
        assert!(error.contains("file/personas"), "{error}");
    }
}
