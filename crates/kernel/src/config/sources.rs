use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::config::error::{ConfigError, ConfigErrors};

/// The sources of settings. Tests fill it by hand.
#[derive(Debug, Clone, Default)]
pub struct Sources {
    /// The file named by the operator. None: `teamroom.toml` in `dir`, if it exists.
    pub file: Option<PathBuf>,
    /// The environment of the process. `.env` supplies missing variables.
    pub env: BTreeMap<String, String>,
    /// The base of relative paths.
    pub dir: PathBuf,
    /// Values from the command line by dotted key (`chat.max_responders`). They override everything.
    pub overrides: BTreeMap<String, String>,
}

impl Sources {
    /// The environment of the process and the `.env` in `dir`. Only this function reads them.
    ///
    /// # Errors
    /// The invalid lines of `.env`.
    pub fn from_process(dir: PathBuf, file: Option<PathBuf>) -> Result<Self, ConfigErrors> {
        let mut env = read_dotenv(&dir.join(".env"))?;
        // Variables that are not Unicode are ignored.
        env.extend(std::env::vars_os().filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?))));
        Ok(Self { file, env, dir, overrides: BTreeMap::new() })
    }
}

/// The variables of a `.env` file, if it exists. Errors contain the line number but not its text, which may be a secret.
fn read_dotenv(path: &Path) -> Result<BTreeMap<String, String>, ConfigErrors> {
    let unreadable = |problem: String| ConfigErrors(vec![ConfigError { place: ".env".into(), key: "file".into(), problem }]);
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(BTreeMap::new()),
        Err(error) => return Err(unreadable(format!("cannot be read: {error}"))),
    };
    let mut variables = BTreeMap::new();
    let mut errors = Vec::new();
    for pair in dotenvy::from_read_iter(text.as_bytes()) {
        match pair {
            Ok((name, value)) => {
                variables.insert(name, value);
            }
            Err(dotenvy::Error::LineParse(wrong, _)) => {
                // The error contains the rest of the file from the invalid line.
                let line = text.lines().position(|line| line.contains(wrong.trim())).map_or(1, |index| index + 1);
                let problem = "is not NAME=value; a value with spaces, $ or # stands in single quotes".into();
                errors.push(ConfigError { place: format!(".env:{line}"), key: "line".into(), problem });
            }
            Err(error) => return Err(unreadable(error.to_string())),
        }
    }
    if errors.is_empty() { Ok(variables) } else { Err(ConfigErrors(errors)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dotenv_file_gives_its_variables_and_may_be_missing() {
        let dir = tempfile::tempdir().expect("a directory");
        assert_eq!(read_dotenv(&dir.path().join(".env")), Ok(BTreeMap::new()));
        std::fs::write(dir.path().join(".env"), "# a comment\nexport A=1\nB='p$ss w#rd'\n").expect("written");
        let variables = read_dotenv(&dir.path().join(".env")).expect("readable");
        assert_eq!(variables, [("A".into(), "1".into()), ("B".into(), "p$ss w#rd".into())].into());
    }

    #[test]
    fn the_environment_of_the_process_wins_over_the_dotenv_file() {
        let dir = tempfile::tempdir().expect("a directory");
        std::fs::write(dir.path().join(".env"), "PATH=mine\nTEAMROOM_TEST_OF_SOURCES=mine\n").expect("written");
        let sources = Sources::from_process(dir.path().into(), None).expect("readable");
        assert_eq!(sources.env["TEAMROOM_TEST_OF_SOURCES"], "mine");
        assert_ne!(sources.env["PATH"], "mine");
    }

    #[test]
    fn a_broken_dotenv_line_is_told_by_number_and_not_by_text() {
        let dir = tempfile::tempdir().expect("a directory");
        std::fs::write(dir.path().join(".env"), "A=1\nDISCORD_TOKEN_VINCE = hunter2 hunter3\n").expect("written");
        let text = read_dotenv(&dir.path().join(".env")).expect_err("a broken line").to_string();
        assert!(text.contains(".env:2"), "{text}");
        assert!(!text.contains("hunter"), "{text}");
    }
}
