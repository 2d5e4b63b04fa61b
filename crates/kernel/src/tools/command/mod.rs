//! The operator's test command, run in a folder of what was built and confined to it (WORK-7).
//!
//! What is tested was written by a model, and to test it is to run it. So the command sees programs and libraries, its own folder and nothing
//! else of the machine: `confinement` says what, and the kernel holds it to that. `process` starts it and sees to it that nothing of it is left.
//! Where the kernel cannot confine, nothing is run: a person then judges what a program could have. What the exit code proves is not decided here.
//!
//! Left open: UDP, which the kernel does not restrict by path or port, and a process that leaves its group (`setsid`), which outlives the
//! command, as confined as before. A team that runs as root can be harmed in ways that no such confinement covers.

mod confinement;
mod output;
mod process;

#[cfg(test)]
mod tests;

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use confinement::{Confine, Reach, confine_thread};
use process::{Running, Start};

/// Where the command keeps its temporary files, in its own folder.
const TEMPORARY: &str = ".teamroom-tmp";

/// Where programs are looked for when this process was not told.
const USUAL_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// How a command ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandResult {
    /// As a shell would say it: 128 and the number of the signal where one ended it.
    pub exit_code: i32,
    /// The last 4000 characters of what it wrote to both of its outputs, without what does not show.
    pub output: String,
}

/// Why a command did not end by itself. For people.
#[derive(Debug, thiserror::Error)]
pub enum CommandError {
    /// Nothing was run.
    #[error("the test command was not run, because this machine cannot confine it: {0}")]
    NotConfined(String),
    /// Nothing was run.
    #[error("the test command could not be started: {0}")]
    NotStarted(String),
    #[error("the test command did not end within {} s and was stopped", .0.as_secs())]
    TimedOut(Duration),
    #[error("the test command was stopped before it ended")]
    Cancelled,
    #[error("what the test command did is not known: {0}")]
    Lost(#[from] io::Error),
}

/// Runs a program with its arguments in `dir`, without a shell, confined to that folder. Whatever it started is stopped when it ends, also when
/// this is dropped.
///
/// # Errors
/// All of them mean that the command proves nothing.
pub async fn run_confined(
    command: &[String],
    dir: &Path,
    limit: Duration,
    cancel: &CancellationToken,
) -> Result<CommandResult, CommandError> {
    run_with(confine_thread, command, dir, limit, cancel).await
}

async fn run_with(
    confine: Confine,
    command: &[String],
    dir: &Path,
    limit: Duration,
    cancel: &CancellationToken,
) -> Result<CommandResult, CommandError> {
    let dir = std::path::absolute(dir)?;
    let search = std::env::var_os("PATH").unwrap_or_else(|| USUAL_PATH.into());
    let program = find_program(command, &dir, &search)?;
    let temporary = TemporaryFolder::make(dir.join(TEMPORARY))?;
    let start = Start {
        program: &program,
        arguments: &command[1..],
        dir: &dir,
        reach: Reach::new(&dir, &program, &search, std::env::home_dir().as_deref()),
        environment: environment(&dir, &temporary.0, search),
        processor: limit,
    };
    let mut running = Running::start(start, confine).await?;
    tokio::select! {
        ended = running.wait() => Ok(ended?),
        () = tokio::time::sleep(limit) => Err(CommandError::TimedOut(limit)),
        () = cancel.cancelled() => Err(CommandError::Cancelled),
    }
}

/// The program that a command names: a path, from `dir` on where it is not absolute, or a name in the search path.
fn find_program(command: &[String], dir: &Path, search: &OsString) -> Result<PathBuf, CommandError> {
    let name = command.first().filter(|name| !name.is_empty());
    let name = name.ok_or_else(|| CommandError::NotStarted("it is empty; correct backlog.test_command".into()))?;
    let mut candidates: Vec<PathBuf> = if name.contains('/') {
        vec![dir.join(name)]
    } else {
        std::env::split_paths(search).filter(|folder| folder.is_absolute()).map(|folder| folder.join(name)).collect()
    };
    candidates.retain(|candidate| candidate.is_file());
    let found = candidates.into_iter().next();
    found.ok_or_else(|| CommandError::NotStarted(format!("there is no program {name} here; install it or correct backlog.test_command")))
}

/// Nothing of this process's environment but where programs lie: the rest holds tokens.
fn environment(dir: &Path, temporary: &Path, search: OsString) -> Vec<(&'static str, OsString)> {
    let mut environment =
        vec![("PATH", search), ("HOME", dir.into()), ("TMPDIR", temporary.into()), ("LANG", "C.UTF-8".into()), ("TERM", "dumb".into())];
    // With another HOME, rustup would not find the toolchains that its `cargo` stands for.
    let rustup = std::env::var_os("RUSTUP_HOME").or_else(|| Some(std::env::home_dir()?.join(".rustup").into_os_string()));
    environment.extend(rustup.map(|rustup| ("RUSTUP_HOME", rustup)));
    environment
}

/// A folder that is there as long as this.
struct TemporaryFolder(PathBuf);

impl TemporaryFolder {
    /// In place of whatever an earlier command left under the name: a link is removed and not followed.
    fn make(path: PathBuf) -> io::Result<Self> {
        match std::fs::remove_dir_all(&path).and_then(|()| std::fs::create_dir(&path)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => std::fs::create_dir(&path)?,
            made => made?,
        }
        Ok(Self(path))
    }
}

impl Drop for TemporaryFolder {
    fn drop(&mut self) {
        // Left behind, it is hidden from listings and replaced by the next.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
