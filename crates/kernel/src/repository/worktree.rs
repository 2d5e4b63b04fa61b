use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::ids::WorkItemId;
use crate::repository::git::Git;
use crate::repository::join::{Conflict, Ground, Needed, Start, find_start};
use crate::repository::{Repositories, RepositoryError, RepositorySettings};
use crate::tools::workspace::Workspace;

/// The names of the items' branches begin with this.
pub const BRANCHES: &str = "teamroom/";

/// The files in a worktree's folder besides the tree, which has the name of the item.
const RECORD: &str = "record.json";
/// Exists once the tree is complete.
const READY: &str = "ready";

/// The pause before a worktree is tried again.
const AGAIN: Duration = Duration::from_millis(200);

/// Written before anything else, so that a later run knows what belongs to the item.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Record {
    repository: PathBuf,
    branch: String,
    /// The newest commit that HEAD also has. The patch is made against it.
    base: String,
    /// Where the work starts. None: at the base.
    #[serde(default)]
    start: Option<Start>,
}

impl Record {
    /// Whether a branch with this tip has nothing of its own. A join of several branches is something.
    fn is_untouched(&self, tip: &str) -> bool {
        match &self.start {
            None => tip == self.base,
            Some(start) => tip == start.commit && !start.is_join,
        }
    }
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

impl Repositories {
    /// Opens the worktree of an item, or makes it from the repository's HEAD and what the item needs. Only the job that runs the item may call it.
    ///
    /// # Errors
    /// The repository or the disk. A branch that the item needs is gone.
    pub async fn open(
        &self,
        settings: &RepositorySettings,
        item: &WorkItemId,
        short: &str,
        needs: &[Needed],
    ) -> Result<Worktree, RepositoryError> {
        let (home, branch) = (self.root.join(item.as_str()), format!("{BRANCHES}{short}"));
        let repository = Git::of(&settings.path);
        let common = find_common_dir(&repository).await?;
        let path = std::path::absolute(&settings.path).map_err(|error| not_written(&settings.path, &error))?;
        let known = read_record(&home)?.filter(|record| record.repository == path);
        let record = if let Some(record) = known {
            record
        } else {
            std::fs::create_dir_all(&home).map_err(|error| not_written(&home, &error))?;
            // Away from people's files, because git puts files for merge drivers where it runs.
            let record = begin(&repository, &Git::in_worktree(&common, &home), (path, branch), needs).await?;
            write_record(&home, &record)?;
            record
        };
        let (tree, git_dir) = (home.join(item.as_str()), git_dir_of(&common, item));
        let worktree = Worktree { settings: settings.clone(), record, git_dir, tree, home };
        worktree.unlock(&common);
        if !worktree.is_complete() {
            let _alone = self.making.lock().await;
            if let Err(error) = worktree.make(&repository).await {
                // A person, or another process, may be making one.
                tracing::info!(%item, %error, "a worktree was not made, once more");
                tokio::time::sleep(AGAIN).await;
                worktree.make(&repository).await?;
            }
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
        let _alone = self.making.lock().await;
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
                && (!keep || record.is_untouched(tip.trim()))
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

    /// Whether it begins with what other items did.
    pub fn builds_on_others(&self) -> bool {
        self.record.start.is_some()
    }

    /// The files that git could not join before the work began.
    pub fn conflicts(&self) -> &[Conflict] {
        self.record.start.as_ref().map_or(&[], |start| &start.conflicts)
    }

    pub(super) fn has_conflict(&self, path: &str) -> bool {
        self.conflicts().iter().any(|conflict| conflict.path == path)
    }

    pub(super) fn base(&self) -> &str {
        &self.record.base
    }

    /// What the work is compared with: the base, or all that the item builds on.
    pub(super) fn start(&self) -> &str {
        self.record.start.as_ref().map_or(&self.record.base, |start| &start.commit)
    }

    /// It joins several branches, which is a change already.
    pub(super) fn is_join(&self) -> bool {
        self.record.start.as_ref().is_some_and(|start| start.is_join)
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
        // A killed process may have left a half-made worktree.
        remove_folder(&self.tree).map_err(failed)?;
        remove_folder(&self.git_dir).map_err(failed)?;
        let tree = self.tree.display().to_string();
        let Record { branch, base, start, .. } = &self.record;
        let tip = start.as_ref().map_or(base, |start| &start.tip);
        let reference = format!("refs/heads/{branch}");
        let exists = repository.holds(&["show-ref", "--verify", "--quiet", &reference]).await?;
        if exists && !repository.holds(&["merge-base", "--is-ancestor", &reference, tip]).await? {
            repository.text(&["worktree", "add", "--quiet", &tree, branch]).await?;
        } else {
            repository.text(&["worktree", "add", "--quiet", "--no-track", "-B", branch, &tree, tip]).await?;
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

/// Where the work on a branch begins. `joiner`: git at a place where it may leave files.
async fn begin(repository: &Git, joiner: &Git, (path, branch): (PathBuf, String), needs: &[Needed]) -> Result<Record, RepositoryError> {
    let head = repository.text(&["rev-parse", "--verify", "--quiet", "HEAD^{commit}"]).await;
    let head = head.map_err(|error| RepositoryError(format!("the repository has no commit to start from ({error})")))?;
    let reference = format!("refs/heads/{branch}");
    // Where the branch left HEAD if it exists, or else HEAD.
    let origin = repository.text(&["merge-base", head.trim(), &reference]).await.unwrap_or_else(|_| head.clone());
    let tip = repository.text(&["rev-parse", "--verify", "--quiet", &reference]).await.ok();
    let ground = Ground { head: head.trim(), origin: origin.trim(), tip: tip.as_deref().map(str::trim) };
    let start = find_start(joiner, &ground, needs).await?;
    let base = match &start {
        None => origin,
        Some(start) => repository
            .text(&["merge-base", head.trim(), &start.commit])
            .await
            .map_err(|_| RepositoryError("what the item builds on has no commit in common with HEAD".to_owned()))?,
    };
    Ok(Record { repository: path, branch, base: base.trim().to_owned(), start })
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
