//! Workspaces: the folder of a work item, which nothing that a model names can leave.
//!
//! `path` says which names there may be, before any of them meets a file system. `folder` reads and writes below one open directory: a name is
//! resolved from there by `cap-std`, part by part, so that neither `..` nor a link leads out, also when a link is put in its place meanwhile.
//! `tools` hands this to models, and `copy` makes what the test command runs in. What a file says is judged by whoever asked for it.

mod copy;
mod folder;
mod path;
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
pub use tools::workspace_tools;

/// The most bytes of one file.
pub const MOST_FILE_BYTES: u64 = 1024 * 1024;
/// The most files of a workspace.
pub const MOST_FILES: usize = 200;
/// The most bytes of all files of a workspace.
pub const MOST_BYTES: u64 = 20 * 1024 * 1024;

/// Where the copies lie that the test command runs in, beside the workspaces. No item can be called so.
const COPIES: &str = ".teamroom-copies";

/// The workspaces of all items, in one folder. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Workspaces {
    root: PathBuf,
    /// Held while a file is written, so that two writers do not pass a limit together.
    writing: Arc<Mutex<()>>,
}

/// The folder of one item. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Workspace {
    folder: Arc<Folder>,
    path: PathBuf,
    /// Where its copy is made.
    copy: PathBuf,
    writing: Arc<Mutex<()>>,
}

/// A file as it was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    /// With `/` between its parts.
    pub path: String,
    /// In hexadecimal digits.
    pub sha256: String,
    pub bytes: u64,
}

/// A file as it is now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileFacts {
    /// In hexadecimal digits.
    pub sha256: String,
    pub bytes: u64,
}

/// The beginning of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileHead {
    pub head: Vec<u8>,
    /// Of the whole file.
    pub bytes: u64,
}

/// One line of a listing.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct FileEntry {
    /// With `/` between its parts.
    pub path: String,
    pub bytes: u64,
}

impl Workspaces {
    /// Nothing is made before an item's workspace is opened.
    pub fn new(root: PathBuf) -> Self {
        Self { root, writing: Arc::default() }
    }

    /// The workspace of an item, made if it is not there. The steps of a mission will share the one of their mission: which folder an item
    /// works in is decided here and nowhere else.
    ///
    /// # Errors
    /// The folder cannot be made or opened.
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
            // From here on by the open folder: a link in place of the item's folder leads nowhere.
            root.create_dir_all(&name)?;
            root.open_dir(&name).map(Folder::new)
        })
        .await
        .map_err(|error| ToolError::Failed(format!("the workspace could not be opened: {}", folder::describe(&error))))?;
        Ok(Workspace { folder: Arc::new(folder), path, copy, writing })
    }
}

impl Workspace {
    /// Writes a file, whole or not at all: readers see the old one or the new one. Folders on its way are made.
    ///
    /// # Errors
    /// Refused: the name, or a limit. Failed: the disk, with the old file as it was.
    pub async fn write(&self, path: &str, contents: &[u8]) -> Result<Written, ToolError> {
        let path = path::parse(path)?;
        let (folder, contents, writing) = (self.folder.clone(), contents.to_vec(), self.writing.clone());
        blocking(move || {
            let _writing = writing.lock().expect("no code panics while it writes");
            folder.write(&path, &contents)
        })
        .await
    }

    /// The first `most` bytes of a file.
    ///
    /// # Errors
    /// Refused: the name. Failed: there is no such file, or it cannot be read.
    pub async fn read(&self, path: &str, most: u64) -> Result<FileHead, ToolError> {
        let path = path::parse(path)?;
        let folder = self.folder.clone();
        blocking(move || folder.read(&path, most)).await
    }

    /// What a file holds and how much of it.
    ///
    /// # Errors
    /// As of [`Self::read`].
    pub async fn digest(&self, path: &str) -> Result<FileFacts, ToolError> {
        let path = path::parse(path)?;
        let folder = self.folder.clone();
        blocking(move || folder.digest(&path)).await
    }

    /// All files, by path. Links are not followed and not listed.
    ///
    /// # Errors
    /// The workspace cannot be read.
    pub async fn list(&self) -> Result<Vec<FileEntry>, ToolError> {
        let folder = self.folder.clone();
        blocking(move || folder.list()).await
    }

    /// Where it lies, to be told to people. Whoever opens files below it by name can be led out of it.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

/// Runs what waits for a disk where it keeps nobody else waiting.
async fn blocking<T: Send + 'static, E: From<Ended> + Send + 'static>(
    work: impl FnOnce() -> Result<T, E> + Send + 'static,
) -> Result<T, E> {
    tokio::task::spawn_blocking(work).await.unwrap_or_else(|_| Err(Ended.into()))
}

/// The process ends while a file is being read or written.
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
