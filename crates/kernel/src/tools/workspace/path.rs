//! Validates file names from models: only plain names that mean the same on every system.

use std::path::PathBuf;

use crate::text::is_invisible;
use crate::tools::ToolError;

/// The most characters of a path component, and the most components.
const MOST_CHARS: usize = 120;
const MOST_PARTS: usize = 8;
const MOST_DEEP_PARTS: usize = 32;
/// The most bytes of a component. File systems allow 255, and temporary names are a few bytes longer.
const MOST_PART_BYTES: usize = 240;

/// The prefix of the team's own temporary files and folders.
pub(super) const OURS: &str = ".teamroom";

/// Device names on Windows, with any extension.
const DEVICES: [&str; 6] = ["con", "prn", "aux", "nul", "conin$", "conout$"];
/// Device names followed by a digit, including superscripts.
const NUMBERED_DEVICES: [&str; 2] = ["com", "lpt"];

/// The folder of files that others made. Only the team writes there.
pub const INPUTS: &str = "inputs";

/// A relative path of plain names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FilePath {
    parts: Vec<String>,
}

impl FilePath {
    /// With `/` as separator.
    pub(super) fn as_text(&self) -> String {
        self.parts.join("/")
    }

    /// The parent folder. None for the workspace itself.
    pub(super) fn folder(&self) -> Option<PathBuf> {
        let (_, folders) = self.parts.split_last()?;
        (!folders.is_empty()).then(|| folders.iter().collect())
    }

    pub(super) fn file(&self) -> &str {
        self.parts.last().map(String::as_str).unwrap_or_default()
    }
}

/// Parses a path with `/` as separator.
///
/// # Errors
/// Refused, with the reason.
pub(super) fn parse(path: &str) -> Result<FilePath, ToolError> {
    // Files of other items keep their paths, two folders further down.
    parse_within(path, if is_input(path) { MOST_PARTS + 2 } else { MOST_PARTS })
}

/// The same in a repository, whose folders are as deep as people made them.
pub(super) fn parse_deep(path: &str) -> Result<FilePath, ToolError> {
    parse_within(path, MOST_DEEP_PARTS)
}

fn parse_within(path: &str, most: usize) -> Result<FilePath, ToolError> {
    let refuse = |why: &str| ToolError::Refused(format!("\"{}\" is not allowed as a path: {why}", shown(path)));
    let parts: Vec<String> = path.split('/').map(str::to_owned).collect();
    if path.starts_with('/') {
        return Err(refuse("it begins with /; paths are relative to your workspace"));
    }
    if parts.len() > most {
        return Err(refuse(&format!("it has more than {most} parts")));
    }
    match parts.iter().find_map(|part| find_fault(part)) {
        Some(fault) => Err(refuse(&fault)),
        None => Ok(FilePath { parts }),
    }
}

/// Whether a path leads below [`INPUTS`], also on a file system that ignores case.
pub fn is_input(path: &str) -> bool {
    let first = path.split('/').find(|part| !matches!(*part, "" | "."));
    first.is_some_and(|first| first.to_lowercase() == INPUTS)
}

/// Whether a text is a plain file or folder name.
pub(super) fn is_plain_part(part: &str) -> bool {
    !part.contains('/') && find_fault(part).is_none()
}

/// Why a path component is refused.
fn find_fault(part: &str) -> Option<String> {
    let folded = part.to_lowercase();
    let fault = match part {
        "" => "a part of it is empty",
        "." | ".." => "it holds . or ..; name the file from the top of your workspace",
        _ if part.contains(|c: char| c.is_control() || is_invisible(c)) => "it holds a character that does not show",
        _ if part.contains(['\\', ':']) => "it holds \\ or :; put / between its parts",
        _ if part.chars().count() > MOST_CHARS || part.len() > MOST_PART_BYTES => {
            return Some(format!("a part of it is longer than {MOST_CHARS} characters or {MOST_PART_BYTES} bytes"));
        }
        _ if part.trim() != part || part.ends_with('.') => "a part of it begins with a space, or ends with a space or a dot",
        // Programs that list the folder would treat such a name as an option.
        _ if part.starts_with('-') => "a part of it begins with -",
        _ if is_device(&folded) => "Windows takes it for a device",
        // Git runs programs named in such a folder.
        _ if folded == ".git" || folded.starts_with("git~") => "the folder .git is not for you to write",
        _ if folded.starts_with(OURS) => "names with .teamroom in front are the team's own",
        _ => return None,
    };
    Some(fault.to_owned())
}

fn is_device(folded: &str) -> bool {
    let stem = folded.split('.').next().unwrap_or_default().trim_end();
    let numbered = |device: &&str| {
        let rest = stem.strip_prefix(*device).map(str::chars);
        rest.is_some_and(|mut rest| matches!((rest.next(), rest.next()), (Some('0'..='9' | '¹' | '²' | '³'), None)))
    };
    DEVICES.contains(&stem) || NUMBERED_DEVICES.iter().any(numbered)
}

/// A refused path for display: invisible characters are escaped, and it is cut.
fn shown(path: &str) -> String {
    path.chars().take(80).flat_map(char::escape_debug).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_names_are_paths() {
        for path in ["notes.md", "src/main.rs", "a/b/c/d/e/f/g/h", "zwölf → 十二.md", ".env.example", "com10.txt", "console.log"] {
            assert!(parse(path).is_ok(), "{path}");
        }
        let path = parse("docs/deep/a.md").expect("a path");
        assert_eq!((path.as_text().as_str(), path.folder(), path.file()), ("docs/deep/a.md", Some(PathBuf::from("docs/deep")), "a.md"));
        assert_eq!(parse("a.md").expect("a path").folder(), None);
    }

    #[test]
    fn a_refusal_says_what_is_wrong_and_hides_nothing() {
        let told = parse("a/..\u{202E}/b\n").expect_err("refused").to_string();
        assert_eq!(told, "\"a/..\\u{202e}/b\\n\" is not allowed as a path: it holds a character that does not show");
        let told = parse("../x").expect_err("refused").to_string();
        assert_eq!(told, "\"../x\" is not allowed as a path: it holds . or ..; name the file from the top of your workspace");
    }
}
