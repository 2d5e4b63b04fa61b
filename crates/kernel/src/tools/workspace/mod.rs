//! Workspaces: one folder per work item, which a model cannot leave.
//!
//! `path` validates names. `folder` reads and writes below one open directory; `cap-std` resolves each name part by part from there, so
//! neither `..` nor a symbolic link leads outside, even if swapped at run time. `tools` are the model's tools, and `copy` makes copies for
//! the test command.

mod copy;
mod folder;
mod path;
mod removal;
mod save;
mod tools;

#[cfg(test)]
mod tests;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use cap_std::ambient_authority;
use cap_std::fs::Dir;

use crate::ids::WorkItemId;
use crate::tools::ToolError;
use folder::Folder;

pub use copy::WorkspaceCopy;
pub use path::{INPUTS, is_input};
pub use save::{NotSaved, save_files};
pub use tools::workspace_tools;

/// The largest file.
pub const MOST_FILE_BYTES: u64 = 1024 * 1024;
/// The most files of a workspace.
pub const MOST_FILES: usize = 200;
/// The size limit of a workspace.
pub const MOST_BYTES: u64 = 20 * 1024 * 1024;

/// The folder for copies, beside the workspaces. No item can have this name.
const COPIES: &str = ".teamroom-copies";

/// The workspaces of all items, in one folder. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Workspaces {
    root: PathBuf,
    /// Locked while a file is written, so that two writers cannot exceed a limit together.
    writing: Arc<Mutex<()>>,
}

/// The workspace of one item. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Workspace {
    folder: Arc<Folder>,
    path: PathBuf,
    /// The place of its copy.
    copy: PathBuf,
    /// The files of a repository: any number of them, in folders of any depth.
    is_repository: bool,
    writing: Arc<Mutex<()>>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    /// With `/` as separator.
    pub path: String,
    /// In hexadecimal.
    pub sha256: String,
    pub bytes: u64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileFacts {
    /// In hexadecimal.
    pub sha256: String,
    pub bytes: u64,
}

/// The beginning of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileHead {
    pub head: Vec<u8>,
    /// The size of the whole file.
    pub bytes: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct FileEntry {
    /// With `/` as separator.
    pub path: String,
    pub bytes: u64,
}

impl Workspaces {
    /// Creates nothing yet.
    pub fn new(root: PathBuf) -> Self {
        Self { root, writing: Arc::default() }
    }

    /// Opens the workspace of an item and creates it if needed. Only this function maps items to folders: the steps of a mission will share
    /// one.
    ///
    /// # Errors
    /// The folder cannot be created or opened.
    pub async fn open(&self, item: &WorkItemId) -> Result<Workspace, ToolError> {
        let name = item.to_string();
        if !path::is_plain_part(&name) {
            return Err(ToolError::Refused(format!(
                "the item \"{}\" cannot have a workspace: its id is no name of a folder",
                item.as_str().escape_debug()
            )));
        }
        let path = self.root.join(&name);
        let (root, copy, writing) = (self.root.clone(), self.root.join(COPIES).join(&name), self.writing.clone());
        let folder = blocking(move || {
            std::fs::create_dir_all(&root)?;
            let root = Dir::open_ambient_dir(&root, ambient_authority())?;
            // Uses the open folder from here on, so that swapping it with a symbolic link has no effect.
            root.create_dir_all(&name)?;
            root.open_dir(&name).map(Folder::new)
        })
        .await
        .map_err(|error| ToolError::Failed(format!("the workspace could not be opened: {}", folder::describe(&error))))?;
        Ok(Workspace { folder: Arc::new(folder), path, copy, is_repository: false, writing })
    }
}

impl Workspace {
    /// The files of a repository's worktree, with the same rules for names and links.
    ///
    /// # Errors
    /// The folder cannot be opened.
    pub(crate) fn of_repository(tree: &Path) -> io::Result<Self> {
        let folder = Arc::new(Folder::new(Dir::open_ambient_dir(tree, ambient_authority())?));
        Ok(Self { folder, path: tree.to_owned(), copy: PathBuf::new(), is_repository: true, writing: Arc::default() })
    }

    fn parse(&self, path: &str) -> Result<path::FilePath, ToolError> {
        if self.is_repository { path::parse_deep(path) } else { path::parse(path) }
    }

    /// Deletes a file.
    ///
    /// # Errors
    /// Refused: the name. Failed: it does not exist.
    pub async fn delete(&self, path: &str) -> Result<(), ToolError> {
        let path = self.parse(path)?;
        let folder = self.folder.clone();
        blocking(move || folder.delete(&path)).await
    }

    /// Writes a file atomically and creates its parent folders.
    ///
    /// # Errors
    /// Refused: the name, or a limit. Failed: the disk; the old file is unchanged.
    pub async fn write(&self, path: &str, contents: &[u8]) -> Result<Written, ToolError> {
        let path = self.parse(path)?;
        if self.is_repository {
            let (folder, contents) = (self.folder.clone(), contents.to_vec());
            return blocking(move || folder.write_any(&path, &contents)).await;
        }
        if is_input(&path.as_text()) {
            return Err(ToolError::Refused(format!(
                "{} is not written: {INPUTS}/ holds what others made, and stays as it is",
                path.as_text()
            )));
        }
        let (folder, contents, writing) = (self.folder.clone(), contents.to_vec(), self.writing.clone());
        blocking(move || {
            let _writing = writing.lock().expect("no code panics while it writes");
            folder.write(&path, &contents)
        })
        .await
    }

    /// Puts a file that others made below [`INPUTS`]. Writes nothing if it is there already.
    ///
    /// # Errors
    /// Refused: the name. Failed: the disk.
    pub async fn put_input(&self, path: &str, contents: &[u8], sha256: &str) -> Result<(), ToolError> {
        let path = path::parse(&format!("{INPUTS}/{path}"))?;
        let (folder, contents, sha256) = (self.folder.clone(), contents.to_vec(), sha256.to_owned());
        blocking(move || match folder.digest(&path) {
            Ok(there) if there.sha256 == sha256 => Ok(()),
            _ => folder.replace(&path, &contents).map(drop),
        })
        .await
    }

    /// The first `most` bytes of a file.
    ///
    /// # Errors
    /// Refused: the name. Failed: it does not exist or cannot be read.
    pub async fn read(&self, path: &str, most: u64) -> Result<FileHead, ToolError> {
        let path = self.parse(path)?;
        let folder = self.folder.clone();
        blocking(move || folder.read(&path, most)).await
    }

    /// The size and hash of a file.
    ///
    /// # Errors
    /// As [`Self::read`].
    pub async fn digest(&self, path: &str) -> Result<FileFacts, ToolError> {
        let path = self.parse(path)?;
        let folder = self.folder.clone();
        blocking(move || folder.digest(&path)).await
    }

    /// All files, sorted by path, without symbolic links.
    ///
    /// # Errors
    /// The workspace cannot be read.
    pub async fn list(&self) -> Result<Vec<FileEntry>, ToolError> {
        let folder = self.folder.clone();
        blocking(move || folder.list()).await
    }

    /// The path, for people. Opening files below it by name is not safe.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

/// Runs blocking I/O on the blocking thread pool.
async fn blocking<T: Send + 'static, E: From<Ended> + Send + 'static>(
    work: impl FnOnce() -> Result<T, E> + Send + 'static,
) -> Result<T, E> {
    tokio::task::spawn_blocking(work).await.unwrap_or_else(|_| Err(Ended.into()))
}

/// The process is shutting down.
struct Ended;

impl From<Ended> for ToolError {
    fn from(_: Ended) -> Self {
        Self::Failed("the process was ending".into())
    }
}

impl From<Ended> for io::Error {
    fn from(_: Ended) -> Self {
        Self::other("the process was ending")
    }
}
