//! Runs git on a person's repository without running anything else: no hooks, filters, pagers, signatures, and no network.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};
use std::sync::OnceLock;

use tokio::process::Command;

use crate::program::find_program;
use crate::repository::RepositoryError;
use crate::text::without_invisible;

/// Settings that keep git from starting other programs.
pub(crate) const ALONE: [&str; 7] = [
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "log.showSignature=false",
    "core.pager=cat",
    "commit.gpgSign=false",
    "gc.auto=0",
    "maintenance.auto=false",
];

/// The keys of settings that name programs, each for some files.
const PROGRAMS: &str = r"^(filter\.|merge\..*\.driver$)";

/// Git's own behaviour if no merge driver is set. A driver without a program would silently drop one side.
const MERGE_DRIVER: &str = "git merge-file --marker-size=%L -L ours -L base -L theirs %A %O %B";

/// A command without this process's environment, which contains tokens.
pub(crate) fn command() -> Command {
    let mut command = Command::new(program());
    command.env_clear().envs([
        ("LC_ALL", "C"),
        ("GIT_TERMINAL_PROMPT", "0"),
        ("GIT_OPTIONAL_LOCKS", "0"),
        ("GIT_LITERAL_PATHSPECS", "1"),
        // A partial clone would fetch missing objects.
        ("GIT_NO_LAZY_FETCH", "1"),
        ("GIT_ALLOW_PROTOCOL", "none"),
    ]);
    // For finding git, and for the owner's `safe.directory`.
    for kept in ["PATH", "HOME"] {
        command.envs(std::env::var_os(kept).map(|value| (kept, value)));
    }
    command.stdin(Stdio::null()).kill_on_drop(true);
    command
}

/// Git with its path. A name that is looked up in a changed environment would be started by `fork`, which copies the page tables of this process.
fn program() -> &'static Path {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM.get_or_init(|| {
        let search = std::env::var_os("PATH").unwrap_or_default();
        find_program("git", &search).unwrap_or_else(|| "git".into())
    })
}

/// Where git works.
#[derive(Debug, Clone)]
pub(super) struct Git {
    place: Vec<OsString>,
    /// Replaces the index of the worktree.
    index: Option<PathBuf>,
    author: Option<(String, String)>,
    /// Seconds since 1970. None: now.
    date: Option<i64>,
    /// The commit whose `.gitattributes` count, in place of those that are checked out.
    attributes: Option<String>,
}

impl Git {
    /// In the repository that contains a folder.
    pub(super) fn of(repository: &Path) -> Self {
        Self::at(vec!["-C".into(), repository.into()])
    }

    /// In a worktree. Both folders are given, so that git never looks for a repository around it.
    pub(super) fn in_worktree(git_dir: &Path, tree: &Path) -> Self {
        let (mut dir, mut work) = (OsString::from("--git-dir="), OsString::from("--work-tree="));
        dir.push(git_dir);
        work.push(tree);
        Self::at(vec!["-C".into(), tree.into(), dir, work])
    }

    fn at(place: Vec<OsString>) -> Self {
        Self { place, index: None, author: None, date: None, attributes: None }
    }

    pub(super) fn with_index(&self, index: &Path) -> Self {
        Self { index: Some(index.to_owned()), ..self.clone() }
    }

    pub(super) fn by(&self, name: &str, email: String) -> Self {
        Self { author: Some((name.to_owned(), email)), ..self.clone() }
    }

    /// Commits have this date, so that the same commit has the same id whenever it is made.
    pub(super) fn dated(&self, seconds: i64) -> Self {
        Self { date: Some(seconds), ..self.clone() }
    }

    pub(super) fn with_attributes_of(&self, commit: &str) -> Self {
        Self { attributes: Some(commit.to_owned()), ..self.clone() }
    }

    /// The output as text.
    pub(super) async fn text(&self, arguments: &[&str]) -> Result<String, RepositoryError> {
        Ok(String::from_utf8_lossy(&self.bytes(arguments).await?).into_owned())
    }

    pub(super) async fn bytes(&self, arguments: &[&str]) -> Result<Vec<u8>, RepositoryError> {
        let output = self.output(arguments).await?;
        if output.status.success() { Ok(output.stdout) } else { Err(refused(&output)) }
    }

    /// Whether the command succeeds. Git says "no" with 1.
    pub(super) async fn holds(&self, arguments: &[&str]) -> Result<bool, RepositoryError> {
        let output = self.output(arguments).await?;
        match output.status.code() {
            Some(0) => Ok(true),
            Some(1) => Ok(false),
            _ => Err(refused(&output)),
        }
    }

    /// How git ended and what it said, for commands whose exit code says more than yes or no.
    pub(super) async fn output(&self, arguments: &[&str]) -> Result<Output, RepositoryError> {
        let programs = self.raw(&["config", "--null", "--name-only", "--get-regexp", PROGRAMS], &[]).await?;
        let keys: Vec<String> =
            String::from_utf8_lossy(&programs.stdout).split('\0').filter(|key| !key.is_empty()).map(str::to_owned).collect();
        self.raw(arguments, &keys).await
    }

    /// `programs`: the keys of filters and merge drivers, whose programs are not run. Then files are stored and checked out as they are, and merged
    /// as text.
    async fn raw(&self, arguments: &[&str], programs: &[String]) -> Result<Output, RepositoryError> {
        let mut command = command();
        command.args(&self.place).arg("--no-pager").args(ALONE.iter().flat_map(|setting| ["-c", setting])).args(arguments);
        if let Some(index) = &self.index {
            command.env("GIT_INDEX_FILE", index);
        }
        if let Some((name, email)) = &self.author {
            for who in ["AUTHOR", "COMMITTER"] {
                command.env(format!("GIT_{who}_NAME"), name).env(format!("GIT_{who}_EMAIL"), email);
            }
        }
        if let Some(date) = self.date {
            command.envs(["GIT_AUTHOR_DATE", "GIT_COMMITTER_DATE"].map(|name| (name, format!("@{date} +0000"))));
        }
        if let Some(commit) = &self.attributes {
            command.env("GIT_ATTR_SOURCE", commit);
        }
        command.env("GIT_CONFIG_COUNT", programs.len().to_string());
        for (number, key) in programs.iter().enumerate() {
            let value = match key {
                key if key.starts_with("merge.") => MERGE_DRIVER,
                key if key.ends_with(".required") => "false",
                _ => "",
            };
            command.env(format!("GIT_CONFIG_KEY_{number}"), key).env(format!("GIT_CONFIG_VALUE_{number}"), value);
        }
        command.output().await.map_err(|error| RepositoryError(format!("cannot run git ({error}). Is it installed?")))
    }
}

pub(super) fn refused(output: &Output) -> RepositoryError {
    let said = without_invisible(&String::from_utf8_lossy(&output.stderr));
    let line = said.lines().find(|line| line.starts_with("fatal") || line.starts_with("error")).or(said.lines().next());
    RepositoryError(line.map_or_else(|| "git failed without a message".to_owned(), |line| format!("git said: {line}")))
}
