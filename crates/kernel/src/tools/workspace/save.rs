//! Saves files below a folder of a person, which no name or link leads out of.

use std::io;
use std::path::{Path, PathBuf};

use cap_std::ambient_authority;
use cap_std::fs::{Dir, OpenOptions};
use std::io::Write as _;

use crate::tools::workspace::path;

/// Why files were not saved. For people.
#[derive(Debug, thiserror::Error)]
pub enum NotSaved {
    #[error("{0}")]
    Name(String),
    #[error("{} exists already. Choose another folder", .0.display())]
    Exists(PathBuf),
    #[error("cannot save {}: {error}", path.display())]
    Failed { path: PathBuf, error: io::Error },
}

/// Saves files below `folder`, which is created if needed. A file that is there already with another content is not overwritten.
///
/// # Errors
/// A name that is no plain path, a file that exists, or the disk. Files before it are saved.
pub fn save_files<'a>(folder: &Path, files: impl Iterator<Item = (&'a str, &'a [u8])>) -> Result<Vec<PathBuf>, NotSaved> {
    let failed = |path: &Path| {
        let path = path.to_owned();
        move |error| NotSaved::Failed { path, error }
    };
    std::fs::create_dir_all(folder).map_err(failed(folder))?;
    let dir = Dir::open_ambient_dir(folder, ambient_authority()).map_err(failed(folder))?;
    let mut saved = Vec::new();
    for (name, content) in files {
        let parsed = path::parse(name).map_err(|refused| NotSaved::Name(refused.to_string()))?;
        let place = folder.join(parsed.as_text());
        let below = open_folder_of(&dir, &parsed).map_err(failed(&place))?;
        save(&below, parsed.file(), content).map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => NotSaved::Exists(place.clone()),
            _ => NotSaved::Failed { path: place.clone(), error },
        })?;
        saved.push(place);
    }
    Ok(saved)
}

/// The folder that the file is to be in, which is created if needed.
fn open_folder_of(dir: &Dir, path: &path::FilePath) -> io::Result<Dir> {
    match path.folder() {
        Some(below) => {
            dir.create_dir_all(&below)?;
            dir.open_dir(below)
        }
        None => dir.try_clone(),
    }
}

fn save(folder: &Dir, file: &str, content: &[u8]) -> io::Result<()> {
    match folder.open_with(file, OpenOptions::new().write(true).create_new(true)) {
        Ok(mut file) => file.write_all(content),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && folder.read(file).is_ok_and(|there| there == content) => Ok(()),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_saved_below_the_folder_and_nothing_is_overwritten() {
        let home = tempfile::tempdir().expect("a directory");
        let folder = home.path().join("out/here");
        let save = |name: &str, content: &[u8]| save_files(&folder, std::iter::once((name, content)));
        assert_eq!(save("docs/a.md", b"one").expect("saved"), [folder.join("docs/a.md")]);
        assert_eq!(std::fs::read(folder.join("docs/a.md")).expect("read"), b"one");
        save("docs/a.md", b"one").expect("the same file again");
        assert!(matches!(save("docs/a.md", b"two"), Err(NotSaved::Exists(path)) if path.ends_with("docs/a.md")));
        assert!(matches!(save("../x", b"two"), Err(NotSaved::Name(_))));
        std::os::unix::fs::symlink(home.path(), folder.join("link")).expect("a link");
        assert!(matches!(save("link/x.md", b"two"), Err(NotSaved::Failed { .. })));
        assert!(!home.path().join("x.md").exists() && !home.path().join("out/x").exists());
    }
}
