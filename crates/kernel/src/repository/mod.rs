//! Work in a person's repository: a worktree for each item, on a branch of its own.
//!
//! The checked-out branch and the working copy are never touched. `git` runs git and nothing else, `worktree` makes, commits and removes worktrees,
//! `join` joins the branches that an item builds on, `marks` finds the conflicts that are left, `change` says what a branch changes, `tests` runs the
//! test command on copies, `protected` says which files are tests, and `inline` which part of a file.
//!
//! A worktree has a folder with a record, which is written first: repository, branch, base, and where the work starts if that is not the base. Whatever
//! step a process dies at, the next one takes the worktree up from the record, or makes it again. A join that was not recorded is made again, with the
//! same id, because its date is that of what it joins. Removing a worktree removes the record last.

mod change;
mod git;
mod inline;
mod join;
mod marks;
mod protected;
mod tests;
mod worktree;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use tokio::sync::Mutex;

use crate::config::Section;

pub use change::Change;
pub(crate) use git::{ALONE, command};
pub use join::{Conflict, Needed};
pub use tests::{TestRun, Version};
pub use worktree::{BRANCHES, Worktree};

/// `[repositories.NAME]`: a repository that items of kind `build` work in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RepositorySettings {
    pub name: String,
    pub path: PathBuf,
    /// Empty: a change is judged by its diff only.
    pub test_command: Vec<String>,
    /// Files and folders that are the tests. Empty: they are recognised by their names.
    pub tests: Vec<String>,
}

impl RepositorySettings {
    /// Reads all `[repositories.NAME]`.
    pub fn read_all(root: &mut Section<'_>) -> Vec<Self> {
        let names = root.list_entries("repositories", "main");
        names.into_iter().filter_map(|name| Self::read(&mut root.entry("repositories", &name), name)).collect()
    }

    fn read(section: &mut Section<'_>, name: String) -> Option<Self> {
        let path = section.require(
            "path",
            PathBuf::from("."),
            "The folder of a git repository that the team may work in, each item on a branch of its own.",
        );
        let test_command = "A test command with arguments that a change must pass. It runs in a sandbox.";
        let test_command = section.read("test_command", Vec::new(), test_command);
        let tests =
            "Files and folders that are the tests. A change must pass them as they were before. Default: recognised by their names.";
        let tests = section.read("tests", Vec::new(), tests);
        Some(Self { name, path: path?, test_command, tests })
    }
}

/// Why git failed. For people and models.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct RepositoryError(pub String);

/// The configured repositories, and where their worktrees are. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct Repositories {
    known: Arc<[RepositorySettings]>,
    root: PathBuf,
    /// Worktrees are made and removed one after the other: git fails when it reads one that is half there.
    making: Arc<Mutex<()>>,
}

impl Repositories {
    /// `root`: the folder for worktrees, created with the first.
    pub fn new(known: Vec<RepositorySettings>, root: &Path) -> Self {
        // Git takes relative paths from the repository.
        Self { known: known.into(), root: std::path::absolute(root).unwrap_or_else(|_| root.to_owned()), making: Arc::default() }
    }

    pub fn find(&self, name: &str) -> Option<&RepositorySettings> {
        self.known.iter().find(|known| known.name == name)
    }

    /// The only one, which is meant where none is named.
    pub fn find_only(&self) -> Option<&RepositorySettings> {
        if let [only] = &*self.known { Some(only) } else { None }
    }

    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.known.iter().map(|known| known.name.as_str())
    }
}
