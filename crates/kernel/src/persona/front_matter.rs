//! Markdown files with settings: YAML between two lines of `---`, then the text.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;

use crate::text::is_invisible;

/// What is wrong in such a file, and where.
#[derive(Debug, thiserror::Error)]
#[error("line {line}: {problem}")]
pub struct Malformed {
    pub(super) line: usize,
    pub(super) problem: String,
}

impl Malformed {
    fn new(line: usize, problem: impl Into<String>) -> Self {
        Self { line, problem: problem.into() }
    }
}

/// A file that is split, with its settings not read yet.
pub(super) struct Document {
    text: String,
    /// Where the settings end. They keep their first line of `---`, so that line numbers match the file.
    settings_end: usize,
    body_start: usize,
}

impl Document {
    /// `file` and `body` name both in messages: "a persona file", "the prompt".
    ///
    /// # Errors
    /// It is not UTF-8, contains hidden characters, or lacks settings or text.
    pub(super) fn parse(bytes: &[u8], file: &str, body: &str) -> Result<Self, Malformed> {
        let text = decode(bytes)?;
        refuse_hidden(&text)?;
        if text.lines().next().map(str::trim_end) != Some("---") {
            return Err(Malformed::new(1, format!("{file} begins with a line ---, its settings, and another line ---")));
        }
        let mut end = 0;
        for (index, line) in text.split_inclusive('\n').enumerate() {
            if index > 0 && line.trim_end() == "---" {
                let body_start = end + line.len();
                if text[body_start..].trim().is_empty() {
                    return Err(Malformed::new(index + 1, format!("{body} below the settings is missing")));
                }
                return Ok(Self { settings_end: end, body_start, text });
            }
            end += line.len();
        }
        Err(Malformed::new(text.lines().count(), "the line --- that ends the settings is missing"))
    }

    pub(super) fn read_settings<T: DeserializeOwned>(&self) -> Result<T, Malformed> {
        serde_saphyr::from_str(self.settings()).map_err(|error| yaml_error(&error))
    }

    fn settings(&self) -> &str {
        &self.text[..self.settings_end]
    }

    pub(super) fn body(&self) -> &str {
        self.text[self.body_start..].trim()
    }

    /// A problem with the value of a key.
    pub(super) fn refuse(&self, key: &str, problem: impl Into<String>) -> Malformed {
        Malformed::new(self.line_of(key), format!("{key}: {}", problem.into()))
    }

    pub(super) fn line_of(&self, key: &str) -> usize {
        let is_key = |line: &str| line.strip_prefix(key).is_some_and(|rest| rest.trim_start().starts_with(':'));
        self.settings().lines().position(is_key).map_or(1, |index| index + 1)
    }

    /// The line of an entry in the list of a key, or of the key if the list is in one line.
    pub(super) fn line_of_entry(&self, key: &str, position: usize) -> usize {
        let line = self.line_of(key);
        let below = self.settings().lines().enumerate().skip(line);
        let list = below.take_while(|(_, text)| text.trim().is_empty() || text.starts_with([' ', '-', '#']));
        let mut indent = None;
        let mut entries = list.filter(|(_, text)| {
            let entry = text.trim_start();
            entry.starts_with('-') && *indent.get_or_insert(text.len() - entry.len()) == text.len() - entry.len()
        });
        entries.nth(position).map_or(line, |(index, _)| index + 1)
    }

    /// A problem with an entry in the list of a key.
    pub(super) fn refuse_entry(&self, key: &str, position: usize, problem: impl Into<String>) -> Malformed {
        Malformed::new(self.line_of_entry(key, position), format!("{key}: {}", problem.into()))
    }

    /// A problem with the text.
    pub(super) fn refuse_body(&self, problem: impl Into<String>) -> Malformed {
        Malformed::new(self.text[..self.body_start].matches('\n').count() + 1, problem)
    }
}

/// Decodes UTF-8, normalises line ends and removes a byte order mark.
fn decode(bytes: &[u8]) -> Result<String, Malformed> {
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let line = bytes[..error.valid_up_to()].split(|byte| *byte == b'\n').count();
        Malformed::new(line, "is not UTF-8 text")
    })?;
    Ok(text.trim_start_matches('\u{FEFF}').replace("\r\n", "\n"))
}

/// Refuses invisible characters: a prompt must contain only what its reader sees. A variation selector is allowed, because it only makes
/// an emoji colourful.
fn refuse_hidden(text: &str) -> Result<(), Malformed> {
    for (line, content) in (1..).zip(text.lines()) {
        if let Some(hidden) = content.chars().find(|c| is_invisible(*c) && *c != '\u{FE0F}') {
            return Err(Malformed::new(line, format!("contains the hidden character U+{:04X}. Remove it", u32::from(hidden))));
        }
    }
    Ok(())
}

fn yaml_error(error: &serde_saphyr::Error) -> Malformed {
    let line = error.location().map_or(1, |location| usize::try_from(location.line()).unwrap_or(1));
    let told = error.without_snippet().to_string();
    // The message already begins with the line.
    Malformed::new(line, told.split(" at line ").next().unwrap_or(&told))
}

/// Whether the name of a file, without its ending, may be an id.
pub(super) fn is_slug(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-')
}

/// The Markdown files of a folder, sorted. Skips a README and editors' backup files.
pub(super) fn list_markdown(dir: &Path) -> io::Result<Vec<PathBuf>> {
    let entries = std::fs::read_dir(dir)?.collect::<io::Result<Vec<_>>>()?;
    let is_meant = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        path.extension().is_some_and(|extension| extension == "md")
            && !name.starts_with(['.', '#'])
            && name != "README.md"
            && !path.is_dir()
    };
    let mut paths: Vec<_> = entries.into_iter().map(|entry| entry.path()).filter(is_meant).collect();
    paths.sort();
    Ok(paths)
}

/// Reads one byte more than `limit` of a file that is larger.
pub(super) fn read_at_most(path: &Path, limit: usize) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(limit as u64 + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}
