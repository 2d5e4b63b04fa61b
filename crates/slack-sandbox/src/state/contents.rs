//! The bytes of files: in memory, or in a folder under the ids of the files.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use axum::body::Bytes;
use local_server::StateError;

pub(crate) enum Contents {
    Memory(HashMap<String, Bytes>),
    Folder(PathBuf),
}

impl Default for Contents {
    fn default() -> Self {
        Self::Memory(HashMap::new())
    }
}

impl Contents {
    /// Keeps the bytes in a folder from now on.
    pub(super) fn keep_in(&mut self, folder: PathBuf, reset: bool) -> Result<(), StateError> {
        if reset && folder.exists() {
            std::fs::remove_dir_all(&folder).map_err(|source| StateError::io("clear", &folder, source))?;
        }
        std::fs::create_dir_all(&folder).map_err(|source| StateError::io("make", &folder, source))?;
        *self = Self::Folder(folder);
        Ok(())
    }

    pub(crate) fn put(&mut self, id: &str, bytes: Bytes) {
        match self {
            Self::Memory(all) => _ = all.insert(id.to_owned(), bytes),
            Self::Folder(folder) => report(&folder.join(id), "written", std::fs::write(folder.join(id), &bytes)),
        }
    }

    pub(crate) fn get(&self, id: &str) -> Option<Bytes> {
        match self {
            Self::Memory(all) => all.get(id).cloned(),
            Self::Folder(folder) => std::fs::read(folder.join(id)).ok().map(Bytes::from),
        }
    }

    pub(crate) fn remove(&mut self, id: &str) {
        match self {
            Self::Memory(all) => _ = all.remove(id),
            Self::Folder(folder) => report(&folder.join(id), "removed", std::fs::remove_file(folder.join(id))),
        }
    }

    /// Removes bytes whose file no longer exists.
    pub(super) fn sweep(&self, is_known: impl Fn(&str) -> bool) {
        let Self::Folder(folder) = self else { return };
        for found in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            if !is_known(&found.file_name().to_string_lossy()) {
                report(&found.path(), "removed", std::fs::remove_file(found.path()));
            }
        }
    }
}

fn report(path: &Path, what: &str, outcome: std::io::Result<()>) {
    if let Err(error) = outcome {
        tracing::warn!(%error, path = %path.display(), "a file could not be {what}");
    }
}
