use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::ids::WorkItemId;
use crate::repository::git::Git;
use crate::repository::inline::with_tests_of;
use crate::repository::protected::is_protected;
use crate::repository::{Repositories, RepositoryError, RepositorySettings};
use crate::tools::workspace::Workspace;

/// What a worktree's folder holds besides the tree, which is called like the item.
const RECORD: &str = "record.json";
/// Exists once the tree is complete.
const READY: &str = "ready";

/// The largest patch.
const MOST_PATCH: usize = 1024 * 1024;

/// Written before anything else, so that a later run knows what belongs to the item.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Record {
    repository: PathBuf,
    branch: String,
    /// The commit that the work starts from.
    base: String,
}

/// The worktree of an item, on a branch of its own.
#[derive(Debug, Clone)]
pub struct Worktree {
    pub settings: RepositorySettings,
    record: Record,
    /// Git's own folder of the worktree.
    git_dir: PathBuf,
    tree: PathBuf,
    home: PathBuf,
}

/// What a branch changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    pub branch: String,
    pub base: String,
    pub commit: String,
    /// `git diff --stat`.
    pub diffstat: String,
    /// Tests, and what decides how they run: changed, added or deleted.
    pub tests: Vec<String>,
}

impl Repositories {
    /// Opens the worktree of an item, or makes it from the repository's HEAD. Only the job that runs the item may call it.
    ///
    /// # Errors
    /// The repository or the disk.
    pub async fn open(&self, settings: &RepositorySettings, item: &WorkItemId, short: &str) -> Result<Worktree, RepositoryError> {
        let (home, branch) = (self.root.join(item.as_str()), format!("teamroom/{short}"));
        let repository = Git::of(&settings.path);
        let common = find_common_dir(&repository).await?;
        let path = std::path::absolute(&settings.path).map_err(|error| not_written(&settings.path, &error))?;
        let known = read_record(&home)?.filter(|record| record.repository == path);
        let record = if let Some(record) = known {
            record
        } else {
            let record = Record { repository: path, base: find_base(&repository, &branch).await?, branch };
            write_record(&home, &record)?;
            record
        };
        let (tree, git_dir) = (home.join(item.as_str()), git_dir_of(&common, item));
        let worktree = Worktree { settings: settings.clone(), record, git_dir, tree, home };
        worktree.unlock(&common);
        if !worktree.is_complete() {
            worktree.make(&repository).await?;
        }
        Ok(worktree)
    }

    /// The items that have a worktree.
    pub fn list(&self) -> Vec<WorkItemId> {
        let entries = std::fs::read_dir(&self.root).into_iter().flatten().flatten();
        entries.filter_map(|entry| entry.file_name().into_string().ok()).map(WorkItemId::new).collect()
    }

    /// Removes the worktree of an item that is over. `keep`: the branch stays, if anything was committed on it.
    ///
    /// # Errors
    /// The repository or the disk. It can be tried again.
    pub async fn remove(&self, item: &WorkItemId, keep: bool) -> Result<(), RepositoryError> {
        let home = self.root.join(item.as_str());
        let gone = |error: io::Error| not_written(&home, &error);
        if let Some(record) = read_record(&home)? {
            let repository = Git::of(&record.repository);
            remove_folder(&home.join(item.as_str())).map_err(gone)?;
            // Somebody may have moved the repository away.
            let common = find_common_dir(&repository).await;
            if let Ok(common) = &common {
                remove_folder(&git_dir_of(common, item)).map_err(gone)?;
            }
            let tip = repository.text(&["rev-parse", "--verify", "--quiet", &format!("refs/heads/{}", record.branch)]).await;
            if let (Ok(_), Ok(tip)) = (common, tip)
                && (!keep || tip.trim() == record.base)
                && let Err(error) = repository.text(&["branch", "--quiet", "-D", &record.branch]).await
            {
                tracing::warn!(%item, branch = record.branch, %error, "a branch that nobody needs was not deleted");
            }
        }
        remove_folder(&home).map_err(gone)
    }
}

impl Worktree {
    /// The files, for tools. No path or link leads out of it or into `.git`.
    ///
    /// # Errors
    /// It cannot be opened.
    pub fn files(&self) -> Result<Workspace, RepositoryError> {
        Workspace::of_repository(&self.tree).map_err(|error| not_written(&self.tree, &error))
    }

    pub fn branch(&self) -> &str {
        &self.record.branch
    }

    pub(super) fn base(&self) -> &str {
        &self.record.base
    }

    /// The folder for copies that tests run in.
    pub(super) fn home(&self) -> &Path {
        &self.home
    }

    pub(super) fn git(&self) -> Git {
        Git::in_worktree(&self.git_dir, &self.tree)
    }

    /// All files, tracked and new, without ignored ones.
    ///
    /// # Errors
    /// The repository.
    pub async fn list(&self) -> Result<Vec<String>, RepositoryError> {
        let listed = self.git().text(&["ls-files", "-z", "--cached", "--others", "--exclude-standard", "--deduplicate"]).await?;
        let there = |path: &&str| !path.is_empty() && self.tree.join(path).symlink_metadata().is_ok();
        Ok(listed.split('\0').filter(there).map(str::to_owned).collect())
    }

    /// Lines that contain a text, as `path:line:text`. `path`: only below it.
    ///
    /// # Errors
    /// The repository.
    pub async fn search(&self, text: &str, path: Option<&str>) -> Result<String, RepositoryError> {
        let pattern = format!("-e{text}");
        let mut arguments = vec!["grep", "-I", "--line-number", "--untracked", "--no-color", "--fixed-strings", &pattern];
        arguments.extend(path.iter().flat_map(|path| ["--", path]));
        match self.git().text(&arguments).await {
            // Git says "nothing found" with an error that has no text.
            Err(RepositoryError(why)) if why == "git failed without a message" => Ok(String::new()),
            found => found,
        }
    }

    /// Whether it differs from the commit that it started from.
    ///
    /// # Errors
    /// The repository.
    pub async fn has_changes(&self) -> Result<bool, RepositoryError> {
        let status = self.git().text(&["status", "--porcelain", "--untracked-files=normal"]).await?;
        Ok(!status.trim().is_empty() || !self.git().holds(&["diff", "--quiet", "--no-ext-diff", &self.record.base, "HEAD"]).await?)
    }

    /// Commits everything, if there is something. Idempotent.
    ///
    /// # Errors
    /// The repository.
    pub async fn commit(&self, author: (&str, &str), message: &str) -> Result<(), RepositoryError> {
        let (name, slug) = author;
        let git = self.git().by(name, format!("{slug}@teamroom"));
        git.text(&["add", "--all", "."]).await?;
        if !git.holds(&["diff", "--cached", "--quiet", "--no-ext-diff", "HEAD"]).await? {
            git.text(&["commit", "--quiet", "--no-verify", &format!("--message={message}")]).await?;
        }
        Ok(())
    }

    /// What the branch changes. None if nothing.
    ///
    /// # Errors
    /// The repository.
    pub async fn change(&self) -> Result<Option<Change>, RepositoryError> {
        let (git, base) = (self.git(), self.record.base.as_str());
        let commit = git.text(&["rev-parse", "--verify", "HEAD^{commit}"]).await?.trim().to_owned();
        let diffstat = git.text(&["diff", "--no-ext-diff", "--no-textconv", "--no-color", "--stat=72", base, &commit]).await?;
        if diffstat.trim().is_empty() {
            return Ok(None);
        }
        let changed = self.list_changed(&commit).await?;
        let mut tests = Vec::new();
        for (how, path) in changed {
            if is_protected(&path, &self.settings) {
                tests.push(format!("{path} ({})", describe(&how)));
            } else if self.find_changed_inline_tests(&how, &path, &commit).await?.is_some() {
                tests.push(format!("{path} (tests in it changed)"));
            }
        }
        Ok(Some(Change {
            branch: self.record.branch.clone(),
            base: base.to_owned(),
            commit,
            diffstat: diffstat.trim_end().to_owned(),
            tests,
        }))
    }

    /// The changed paths with git's letter.
    pub(super) async fn list_changed(&self, commit: &str) -> Result<Vec<(String, String)>, RepositoryError> {
        let listed = self.git().text(&["diff", "--no-ext-diff", "--no-renames", "--name-status", "-z", &self.record.base, commit]).await?;
        let parts: Vec<&str> = listed.split('\0').collect();
        Ok(parts.chunks_exact(2).map(|pair| (pair[0].to_owned(), pair[1].to_owned())).collect())
    }

    /// A changed file of Rust with the tests in it as they were before. None if they are the same.
    pub(super) async fn find_changed_inline_tests(&self, how: &str, path: &str, commit: &str) -> Result<Option<String>, RepositoryError> {
        if how != "M" || Path::new(path).extension().is_none_or(|extension| extension != "rs") {
            return Ok(None);
        }
        let at = async |commit: &str| self.git().text(&["cat-file", "blob", &format!("{commit}:{path}")]).await;
        Ok(with_tests_of(&at(&self.record.base).await?, &at(commit).await?))
    }

    /// The commits as a file for `git am`.
    ///
    /// # Errors
    /// The repository, or the patch is too large.
    pub async fn patch(&self) -> Result<Vec<u8>, RepositoryError> {
        let range = format!("{}..HEAD", self.record.base);
        let format = ["format-patch", "--stdout", "--binary", "--no-signature", "--no-ext-diff", "--no-textconv", "--no-color", &range];
        let patch = self.git().bytes(&format).await?;
        if patch.len() > MOST_PATCH {
            return Err(RepositoryError(format!(
                "the change is too large: its patch has {} bytes, and may have {MOST_PATCH}",
                patch.len()
            )));
        }
        Ok(patch)
    }

    /// Locks of git that a killed process left. Nobody else works in this worktree.
    fn unlock(&self, common: &Path) {
        for lock in ["index.lock", "HEAD.lock"] {
            let _ = std::fs::remove_file(self.git_dir.join(lock));
        }
        let _ = std::fs::remove_file(common.join("refs/heads").join(format!("{}.lock", self.record.branch)));
    }

    fn is_complete(&self) -> bool {
        self.home.join(READY).exists() && self.tree.is_dir() && self.git_dir.join("HEAD").exists()
    }

    async fn make(&self, repository: &Git) -> Result<(), RepositoryError> {
        let failed = |error: io::Error| not_written(&self.home, &error);
        let _ = std::fs::remove_file(self.home.join(READY));
        // A killed process may have left a half.
        remove_folder(&self.tree).map_err(failed)?;
        remove_folder(&self.git_dir).map_err(failed)?;
        let tree = self.tree.display().to_string();
        let Record { branch, base, .. } = &self.record;
        if repository.holds(&["show-ref", "--verify", "--quiet", &format!("refs/heads/{branch}")]).await? {
            repository.text(&["worktree", "add", "--quiet", &tree, branch]).await?;
        } else {
            repository.text(&["worktree", "add", "--quiet", "--no-track", "-b", branch, &tree, base]).await?;
        }
        std::fs::write(self.home.join(READY), "").map_err(failed)
    }
}

/// The `.git` of the repository, which all worktrees share.
async fn find_common_dir(repository: &Git) -> Result<PathBuf, RepositoryError> {
    let common = repository.text(&["rev-parse", "--path-format=absolute", "--git-common-dir"]).await?;
    Ok(PathBuf::from(common.trim_end_matches('\n')))
}

/// Git names it after the tree's folder.
fn git_dir_of(common: &Path, item: &WorkItemId) -> PathBuf {
    common.join("worktrees").join(item.as_str())
}

/// The start of a branch: where it left HEAD if it exists, or else HEAD.
async fn find_base(repository: &Git, branch: &str) -> Result<String, RepositoryError> {
    let head = repository.text(&["rev-parse", "--verify", "--quiet", "HEAD^{commit}"]).await;
    let head = head.map_err(|error| RepositoryError(format!("the repository has no commit to start from ({error})")))?;
    let base = repository.text(&["merge-base", head.trim(), &format!("refs/heads/{branch}")]).await;
    Ok(base.unwrap_or(head).trim().to_owned())
}

fn read_record(home: &Path) -> Result<Option<Record>, RepositoryError> {
    match std::fs::read(home.join(RECORD)) {
        Ok(text) => Ok(serde_json::from_slice(&text).ok()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(not_written(home, &error)),
    }
}

fn write_record(home: &Path, record: &Record) -> Result<(), RepositoryError> {
    let write = || {
        std::fs::create_dir_all(home)?;
        let beside = home.join("record.new");
        std::fs::write(&beside, serde_json::to_vec(record)?)?;
        std::fs::rename(&beside, home.join(RECORD))
    };
    write().map_err(|error| not_written(home, &error))
}

pub(super) fn remove_folder(path: &Path) -> io::Result<()> {
    match std::fs::remove_dir_all(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

pub(super) fn not_written(path: &Path, error: &io::Error) -> RepositoryError {
    RepositoryError(format!("cannot use {}: {error}", path.display()))
}

fn describe(letter: &str) -> &'static str {
    match letter {
        "A" => "added",
        "D" => "deleted",
        _ => "changed",
    }
}
