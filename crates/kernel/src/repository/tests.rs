//! Runs the test command on a copy of a version, so that it can change nothing that is kept.

use std::path::Path;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use crate::repository::RepositoryError;
use crate::repository::git::Git;
use crate::repository::protected::is_protected;
use crate::repository::worktree::{Worktree, not_written, remove_folder};
use crate::tools::command::{CommandError, CommandResult, run_confined};

/// Which files the tests run on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Version {
    /// The version before the work, with the work of the items that it builds on.
    Base,
    /// The files as they are, committed or not.
    Current,
    /// The commit, but all tests, and the files that decide how they run, are as they were before. Tests in which a conflict was resolved are left to
    /// a reviewer.
    WithTestsOfBase,
    /// The commit, but the tests that were changed by the items it builds on are as they were before.
    WithTestsOfOthers,
}

/// How the test command ended.
pub type TestRun = Result<CommandResult, CommandError>;

impl Worktree {
    /// Runs the test command on a version. None without a command.
    ///
    /// # Errors
    /// The version cannot be copied.
    pub async fn test(&self, version: Version, limit: Duration, cancel: &CancellationToken) -> Result<Option<TestRun>, RepositoryError> {
        if self.settings.test_command.is_empty() {
            return Ok(None);
        }
        let copy = Copy::make(self.home().join("test"))?;
        self.export(version, &copy).await?;
        Ok(Some(run_confined(&self.settings.test_command, &copy.files, limit, cancel).await))
    }

    async fn export(&self, version: Version, copy: &Copy) -> Result<(), RepositoryError> {
        let git = self.git().with_index(&copy.index);
        match version {
            Version::Base => git.text(&["read-tree", self.start()]).await.map(drop)?,
            Version::Current => {
                git.text(&["read-tree", "HEAD"]).await?;
                git.text(&["add", "--all", "."]).await?;
            }
            Version::WithTestsOfBase | Version::WithTestsOfOthers => {
                git.text(&["read-tree", "HEAD"]).await?;
                let mut changed = self.list_changed("HEAD").await?;
                if version == Version::WithTestsOfOthers {
                    let theirs = self.list_changed_by_others().await?;
                    changed.retain(|(_, path)| theirs.contains(path));
                }
                for (how, path) in changed {
                    if is_protected(&path, &self.settings) {
                        if !self.has_conflict(&path) {
                            self.put_back(&git, &how, &path).await?;
                        }
                    } else if let Some(text) = self.find_changed_inline_tests(&how, &path, "HEAD").await? {
                        copy.put(&git, &path, &text).await?;
                    }
                }
            }
        }
        let prefix = format!("--prefix={}/", copy.files.display());
        git.text(&["checkout-index", "--all", "--force", &prefix]).await.map(drop)
    }

    async fn put_back(&self, git: &Git, how: &str, path: &str) -> Result<(), RepositoryError> {
        if how == "A" {
            return git.text(&["update-index", "--force-remove", "--", path]).await.map(drop);
        }
        // `100644 blob <hash>\t<path>`
        let entry = git.text(&["ls-tree", self.start(), "--", path]).await?;
        let mut words = entry.split_whitespace();
        let (Some(mode), Some(_), Some(hash)) = (words.next(), words.next(), words.next()) else {
            return Err(RepositoryError(format!("{path} was not found in the version before")));
        };
        git.text(&["update-index", "--add", "--replace", "--cacheinfo", &format!("{mode},{hash},{path}")]).await.map(drop)
    }
}

/// A folder for files and an index, removed on drop.
struct Copy {
    home: std::path::PathBuf,
    files: std::path::PathBuf,
    index: std::path::PathBuf,
}

impl Copy {
    fn make(home: std::path::PathBuf) -> Result<Self, RepositoryError> {
        let copy = Self { files: home.join("files"), index: home.join("index"), home };
        let make = |path: &Path| {
            remove_folder(&copy.home)?;
            std::fs::create_dir_all(path)
        };
        make(&copy.files).map_err(|error| not_written(&copy.home, &error))?;
        Ok(copy)
    }
}

impl Copy {
    /// Puts a text into the index in place of a file.
    async fn put(&self, git: &Git, path: &str, text: &str) -> Result<(), RepositoryError> {
        let blob = self.home.join("blob");
        std::fs::write(&blob, text).map_err(|error| not_written(&blob, &error))?;
        let hash = git.text(&["hash-object", "-w", "--no-filters", "--", &blob.display().to_string()]).await?;
        git.text(&["update-index", "--cacheinfo", &format!("100644,{},{path}", hash.trim())]).await.map(drop)
    }
}

impl Drop for Copy {
    fn drop(&mut self) {
        if let Err(error) = remove_folder(&self.home) {
            tracing::warn!(path = %self.home.display(), %error, "a copy for tests could not be removed");
        }
    }
}
