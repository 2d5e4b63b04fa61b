//! A copy of a workspace for running a command, so that the original cannot be changed.

use std::io;
use std::path::{Path, PathBuf};

use crate::tools::ToolError;
use crate::tools::workspace::folder::describe;
use crate::tools::workspace::{Workspace, blocking};

/// A copy of a workspace's files, removed on drop.
#[derive(Debug)]
pub struct WorkspaceCopy {
    path: PathBuf,
}

impl WorkspaceCopy {
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for WorkspaceCopy {
    fn drop(&mut self) {
        if let Err(error) = std::fs::remove_dir_all(&self.path) {
            tracing::warn!(path = %self.path.display(), %error, "the copy of a workspace could not be removed");
        }
    }
}

impl Workspace {
    /// Copies all files without symbolic links. Removes an earlier copy left by a crash.
    ///
    /// # Errors
    /// It cannot be read or copied.
    pub async fn copy(&self) -> Result<WorkspaceCopy, ToolError> {
        let (folder, path) = (self.folder.clone(), self.copy.clone());
        blocking(move || {
            let files = folder.list()?;
            make_empty(&path).map_err(|error| not_copied(&error))?;
            // Removed from here on, also after an error.
            let copy = WorkspaceCopy { path };
            files.iter().try_for_each(|file| folder.copy_file(&file.path, &copy.path)).map_err(|error| not_copied(&error))?;
            Ok(copy)
        })
        .await
    }
}

fn make_empty(path: &Path) -> io::Result<()> {
    match std::fs::remove_dir_all(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => std::fs::create_dir_all(path),
    }
}

fn not_copied(error: &io::Error) -> ToolError {
    ToolError::Failed(format!("the workspace could not be copied: {}", describe(error)))
}
