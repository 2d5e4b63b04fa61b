//! The changes of a branch: all of them, for people to merge, and those since the work on it began, for the checks.

use std::collections::HashSet;
use std::path::Path;

use crate::repository::RepositoryError;
use crate::repository::inline::with_tests_of;
use crate::repository::join::{Conflict, read_text};
use crate::repository::marks::find_marks;
use crate::repository::protected::is_protected;
use crate::repository::worktree::Worktree;
use crate::tools::workspace::MOST_FILE_BYTES;

/// The largest patch.
const MOST_PATCH: usize = 1024 * 1024;

/// The most conflict marks that are named.
const MOST_MARKS: usize = 12;

/// What a branch changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    pub branch: String,
    /// The newest commit that HEAD also has.
    pub base: String,
    pub commit: String,
    /// `git diff --stat` since the base, including what the item builds on.
    pub diffstat: String,
    /// Tests, and what decides how they run: changed, added or deleted since the work began.
    pub tests: Vec<String>,
}

impl Worktree {
    /// Whether there is anything to deliver. Joined branches count, even without a change to them.
    ///
    /// # Errors
    /// The repository.
    pub async fn has_changes(&self) -> Result<bool, RepositoryError> {
        let status = self.git().text(&["status", "--porcelain", "--untracked-files=normal"]).await?;
        Ok(!status.trim().is_empty() || self.differs("HEAD").await?)
    }

    async fn differs(&self, commit: &str) -> Result<bool, RepositoryError> {
        let from = if self.is_join() { self.base() } else { self.start() };
        Ok(!self.git().holds(&["diff", "--quiet", "--no-ext-diff", from, commit]).await?)
    }

    /// What was changed so far, committed or not, as people read it.
    ///
    /// # Errors
    /// The repository.
    pub async fn diff(&self) -> Result<String, RepositoryError> {
        self.git().text(&["add", "--all", "."]).await?;
        self.git().text(&["diff", "--cached", "--no-ext-diff", "--no-textconv", "--no-color", self.base()]).await
    }

    /// What the branch changes. None if nothing.
    ///
    /// # Errors
    /// The repository.
    pub async fn change(&self) -> Result<Option<Change>, RepositoryError> {
        let (git, base) = (self.git(), self.base());
        let commit = git.text(&["rev-parse", "--verify", "HEAD^{commit}"]).await?.trim().to_owned();
        let diffstat = git.text(&["diff", "--no-ext-diff", "--no-textconv", "--no-color", "--stat=72", base, &commit]).await?;
        if diffstat.trim().is_empty() || !self.differs(&commit).await? {
            return Ok(None);
        }
        let changed = self.list_changed(&commit).await?;
        let mut tests = Vec::new();
        let is_kept = |path: &str| !changed.iter().any(|(_, changed)| changed == path);
        for Conflict { path, .. } in self.conflicts() {
            if is_kept(path) && is_protected(path, &self.settings) {
                tests.push(format!("{path} (conflict, kept as one side has it)"));
            }
        }
        for (how, path) in &changed {
            if is_protected(path, &self.settings) {
                tests.push(format!("{path} ({})", if self.has_conflict(path) { "conflict resolved" } else { describe(how) }));
            } else if self.with_inline_tests_of_start(how, path, &commit).await?.is_some() {
                tests.push(format!("{path} (tests in it changed)"));
            }
        }
        Ok(Some(Change {
            branch: self.branch().to_owned(),
            base: base.to_owned(),
            commit,
            diffstat: diffstat.trim_end().to_owned(),
            tests,
        }))
    }

    /// The paths that changed since the work began, with git's letter.
    pub(super) async fn list_changed(&self, commit: &str) -> Result<Vec<(String, String)>, RepositoryError> {
        self.list_changed_between(self.start(), commit).await
    }

    /// The paths that changed before the work began, by the items that it builds on.
    pub(super) async fn list_changed_by_others(&self) -> Result<HashSet<String>, RepositoryError> {
        Ok(self.list_changed_between(self.base(), self.start()).await?.into_iter().map(|(_, path)| path).collect())
    }

    async fn list_changed_between(&self, from: &str, to: &str) -> Result<Vec<(String, String)>, RepositoryError> {
        let listed = self.git().text(&["diff", "--no-ext-diff", "--no-renames", "--name-status", "-z", from, to]).await?;
        let parts: Vec<&str> = listed.split('\0').collect();
        Ok(parts.chunks_exact(2).map(|pair| (pair[0].to_owned(), pair[1].to_owned())).collect())
    }

    /// A changed file of Rust with the tests in it as they were before. None if they are the same, or if a conflict in them was resolved.
    pub(super) async fn find_changed_inline_tests(&self, how: &str, path: &str, commit: &str) -> Result<Option<String>, RepositoryError> {
        let text = self.with_inline_tests_of_start(how, path, commit).await?;
        let conflict = self.conflicts().iter().find(|conflict| conflict.path == path);
        Ok(text.filter(|text| conflict.is_none_or(|conflict| find_marks(text, &conflict.known).is_empty())))
    }

    async fn with_inline_tests_of_start(&self, how: &str, path: &str, commit: &str) -> Result<Option<String>, RepositoryError> {
        if how != "M" || Path::new(path).extension().is_none_or(|extension| extension != "rs") {
            return Ok(None);
        }
        let at = async |commit: &str| self.git().text(&["cat-file", "blob", &format!("{commit}:{path}")]).await;
        Ok(with_tests_of(&at(self.start()).await?, &at(commit).await?))
    }

    /// Git's conflict marks that are left, as `path:line`. `commit`: the commit to search, or else the files as they are.
    ///
    /// # Errors
    /// The files cannot be opened.
    pub async fn list_marks(&self, commit: Option<&str>) -> Result<Vec<String>, RepositoryError> {
        let mut paths: Vec<&str> = Vec::new();
        let mut found = Vec::new();
        for conflict in self.conflicts() {
            let path = conflict.path.as_str();
            if paths.contains(&path) {
                continue;
            }
            paths.push(path);
            let text = match commit {
                Some(commit) => read_text(&self.git(), commit, path).await,
                // A file that was deleted has none.
                None => self
                    .files()?
                    .read(path, MOST_FILE_BYTES)
                    .await
                    .map_or(String::new(), |file| String::from_utf8_lossy(&file.head).into_owned()),
            };
            found.extend(find_marks(&text, &conflict.known).into_iter().map(|(line, _)| format!("{path}:{line}")));
        }
        found.truncate(MOST_MARKS);
        Ok(found)
    }

    /// The change as a file: the patch of each commit for `git am`, those of the items that it builds on first. If branches were joined, it is one
    /// difference for `git apply`, because merges are no patches.
    ///
    /// # Errors
    /// The repository, or the patch is too large.
    pub async fn patch(&self) -> Result<Vec<u8>, RepositoryError> {
        let range = format!("{}..HEAD", self.base());
        let joins = self.git().text(&["rev-list", "--count", "--merges", &range]).await?;
        let patch = if joins.trim() != "0" || !self.conflicts().is_empty() {
            // Unlike `git diff`, `diff-tree` ignores settings that would keep others from applying the patch.
            let plain = ["diff-tree", "-p", "--binary", "--no-ext-diff", "--no-textconv", "--no-color", self.base(), "HEAD"];
            self.git().bytes(&plain).await?
        } else {
            let format = ["format-patch", "--stdout", "--binary", "--no-signature", "--no-ext-diff", "--no-textconv", "--no-color", &range];
            self.git().bytes(&format).await?
        };
        if patch.len() > MOST_PATCH {
            return Err(RepositoryError(format!(
                "the change is too large: its patch has {} bytes, and may have {MOST_PATCH}",
                patch.len()
            )));
        }
        Ok(patch)
    }
}

fn describe(letter: &str) -> &'static str {
    match letter {
        "A" => "added",
        "D" => "deleted",
        _ => "changed",
    }
}
