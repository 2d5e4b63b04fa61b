//! Loads the folder of skill files, or the built-in skills.

use std::io;
use std::path::{Path, PathBuf};

use crate::persona::front_matter::{list_markdown, read_at_most};
use crate::persona::skill::Skill;
use crate::persona::skill::file::{MAX_BYTES, SkillFileError, parse};
use crate::text::fold_name;

macro_rules! built_in {
    ($($name:literal),+ $(,)?) => {
        [$(($name, include_str!(concat!("../../../../../skills/", $name)))),+]
    };
}

/// The built-in skills: file names and texts.
pub const BUILT_IN: [(&str, &str); 3] = built_in!["comparing-sources.md", "decision-document.md", "small-tested-changes.md"];

/// The result of loading a folder.
#[derive(Debug)]
pub struct Loaded {
    pub skills: Vec<Skill>,
    /// Files that are not used, and why.
    pub refused: Vec<(PathBuf, SkillFileError)>,
}

/// Loads `dir/*.md`, or the built-in skills if the folder does not exist. Invalid files are skipped. An empty folder is a team without skills.
pub fn load(dir: &Path) -> Loaded {
    let mut loaded = Loaded { skills: Vec::new(), refused: Vec::new() };
    for (path, skill) in read_folder(dir) {
        match skill.and_then(|skill| check_name(skill, &loaded.skills)) {
            Ok(skill) => loaded.skills.push(skill),
            Err(error) => loaded.refused.push((path, error)),
        }
    }
    loaded
}

/// A name stands for one skill, in prompts and in lists.
fn check_name(skill: Skill, known: &[Skill]) -> Result<Skill, SkillFileError> {
    match known.iter().find(|known| fold_name(&known.name) == fold_name(&skill.name)) {
        Some(other) => Err(SkillFileError::SharedName { name: skill.name, other: other.slug.clone() }),
        None => Ok(skill),
    }
}

fn read_folder(dir: &Path) -> Vec<(PathBuf, Result<Skill, SkillFileError>)> {
    match list_markdown(dir) {
        Ok(paths) => paths.into_iter().map(|path| (path.clone(), read_file(&path))).collect(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            BUILT_IN.iter().map(|(name, text)| (PathBuf::from(name), parse(name.trim_end_matches(".md"), text.as_bytes()))).collect()
        }
        Err(error) => vec![(dir.to_owned(), Err(error.into()))],
    }
}

fn read_file(path: &Path) -> Result<Skill, SkillFileError> {
    let slug = path.file_stem().unwrap_or_default().to_string_lossy();
    parse(&slug, &read_at_most(path, MAX_BYTES)?)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn skill(name: &str) -> String {
        format!("---\nname: {name}\nsummary: In short.\n---\nAt length.\n")
    }

    #[test]
    fn without_a_folder_there_are_the_built_in_skills() {
        let loaded = load(Path::new("/nowhere/skills"));
        assert!(loaded.refused.is_empty(), "{:?}", loaded.refused);
        assert_eq!(loaded.skills.len(), BUILT_IN.len());
        for (name, text) in BUILT_IN {
            assert!(text.lines().count() < 40, "{name} is long");
        }
    }

    #[test]
    fn a_bad_file_and_a_name_that_is_taken_are_refused_and_the_others_load() {
        let dir = tempfile::tempdir().expect("a directory");
        for (name, text) in [
            ("a.md", skill("Count")),
            ("b.md", skill("count")),
            ("c.md", "Count.".into()),
            ("d.md", skill("Weigh")),
            ("README.md", "-".into()),
        ] {
            fs::write(dir.path().join(name), text).expect("written");
        }
        let loaded = load(dir.path());
        assert_eq!(loaded.skills.iter().map(|skill| skill.slug.as_str()).collect::<Vec<_>>(), ["a", "d"]);
        let refused: Vec<_> =
            loaded.refused.iter().map(|(path, error)| (path.file_name().expect("a name").to_str(), error.to_string())).collect();
        assert_eq!(refused[0], (Some("b.md"), "the name \"count\" is also used by a.md. Change one of them".into()));
        assert!(refused[1].0 == Some("c.md") && refused[1].1.starts_with("line 1: "), "{refused:?}");
    }

    #[test]
    fn an_empty_folder_is_a_team_without_skills_and_a_file_in_its_place_is_told() {
        let dir = tempfile::tempdir().expect("a directory");
        let loaded = load(dir.path());
        assert!(loaded.skills.is_empty() && loaded.refused.is_empty());
        fs::write(dir.path().join("skills"), "x").expect("written");
        assert!(load(&dir.path().join("skills")).refused[0].1.to_string().contains("could not be read"));
    }
}
