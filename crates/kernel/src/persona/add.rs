//! Adds a persona file to the team's folder.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::ids::PersonaSlug;
use crate::persona::load::BUILT_IN;

/// A persona file that is in the folder.
#[derive(Debug, PartialEq, Eq)]
pub struct Added {
    pub path: PathBuf,
    /// The built-in personas were written as well.
    pub with_built_in: bool,
}

#[derive(Debug, thiserror::Error)]
pub enum AddError {
    #[error("{} exists already, with another text", .0.display())]
    Taken(PathBuf),
    #[error("{} cannot be written: {error}", path.display())]
    Unwritable { path: PathBuf, error: io::Error },
}

/// Writes `<slug>.md`. An existing file is never changed; adding the same text again is no error.
///
/// Without a folder the team is the built-in one. Its files are then written too, because the folder replaces it.
///
/// # Errors
/// The file exists with another text, or cannot be written.
pub fn add(dir: &Path, slug: &PersonaSlug, text: &str) -> Result<Added, AddError> {
    let name = format!("{slug}.md");
    let path = dir.join(&name);
    let with_built_in = !dir.exists();
    let written = if with_built_in { write_folder(dir, &name, text) } else { write_new(dir, &name, text) };
    match written {
        Ok(()) => Ok(Added { path, with_built_in }),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => match fs::read_to_string(&path) {
            Ok(known) if known == text => Ok(Added { path, with_built_in: false }),
            _ => Err(AddError::Taken(path)),
        },
        Err(error) => Err(AddError::Unwritable { path, error }),
    }
}

/// Readers see all files or none.
fn write_folder(dir: &Path, name: &str, text: &str) -> io::Result<()> {
    let beside = dir.with_extension(format!("{:08x}.new", fastrand::u32(..)));
    let write = || {
        fs::create_dir_all(&beside)?;
        for (name, text) in BUILT_IN.iter().copied().chain([(name, text)]) {
            fs::write(beside.join(name), text)?;
        }
        fs::rename(&beside, dir)
    };
    write().inspect_err(|_| drop(fs::remove_dir_all(&beside)))
}

/// Readers see the whole file or none. A link, because renaming would replace an existing file.
fn write_new(dir: &Path, name: &str, text: &str) -> io::Result<()> {
    let beside = dir.join(format!(".{name}.{:08x}.new", fastrand::u32(..)));
    let written = fs::write(&beside, text).and_then(|()| fs::hard_link(&beside, dir.join(name)));
    fs::remove_file(&beside).ok();
    written
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::persona::load::load;

    const DANA: &str = "---\nname: Dana\nrole: designer\n---\nYou draw.\n";

    fn names(dir: &Path) -> Vec<String> {
        let mut names: Vec<_> = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn a_new_file_is_added_once_and_no_other_is_ever_changed() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("dana.md");
        for _ in 0..2 {
            let added = add(dir.path(), &"dana".into(), DANA).unwrap();
            assert_eq!(added, Added { path: path.clone(), with_built_in: false });
        }
        let told = add(dir.path(), &"dana".into(), "another text").unwrap_err().to_string();
        assert_eq!(told, format!("{} exists already, with another text", path.display()));
        assert_eq!(fs::read_to_string(&path).unwrap(), DANA);
        assert_eq!(names(dir.path()), ["dana.md"]);
    }

    #[test]
    fn without_a_folder_the_built_in_team_is_written_with_it() {
        let dir = tempfile::tempdir().unwrap();
        let personas = dir.path().join("new/personas");
        assert!(add(&personas, &"dana".into(), DANA).unwrap().with_built_in);
        let roster = load(&personas).roster.unwrap();
        assert_eq!((roster.personas().len(), roster.coordinator().name.as_str()), (BUILT_IN.len() + 1, "Kelly"));
        assert_eq!(names(&dir.path().join("new")), ["personas"]);
        assert!(!add(&personas, &"dana".into(), DANA).unwrap().with_built_in);
    }

    #[test]
    fn a_folder_that_cannot_be_written_is_told() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("file");
        fs::write(&file, "x").unwrap();
        for personas in [file.clone(), file.join("personas")] {
            let told = add(&personas, &"dana".into(), DANA).unwrap_err().to_string();
            assert!(told.starts_with(&format!("{} cannot be written: ", personas.join("dana.md").display())), "{told}");
        }
        assert_eq!(names(dir.path()), ["file"]);
    }
}
