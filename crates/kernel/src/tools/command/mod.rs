//! Runs the operator's test command in a folder, sandboxed (WORK-7).
//!
//! Testing a model's code means running it. So the command can access programs, libraries and its own folder only. `confinement` defines
//! and enforces that with the kernel; `process` starts the command and kills everything it started. If the kernel has no support, nothing
//! is run, and a person judges the result instead. The verifier decides what the exit code proves.
//!
//! Not covered: UDP, which the kernel cannot restrict, and a process that leaves its group (`setsid`), which survives but stays sandboxed.
//! A team that runs as root has weaker protection.

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

use crate::program::find_program;
use confinement::{Confine, Reach, confine_thread};
use process::{Running, Start};

/// The command's folder for temporary files.
const TEMPORARY: &str = ".teamroom-tmp";

/// Used if this process has no `PATH`.
const USUAL_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandResult {
    /// As in a shell: 128 plus the number of the signal that ended it.
    pub exit_code: i32,
    /// The last 4000 characters of stdout and stderr, without invisible characters.
    pub output: String,
}

/// Why a command has no exit code. For people.
#[derive(Debug, thiserror::Error)]
pub enum CommandError {
    /// Nothing was run.
    #[error("the test command was not run, because this machine cannot sandbox it: {0}")]
    NotConfined(String),
    /// Nothing was run.
    #[error("cannot start the test command: {0}")]
    NotStarted(String),
    #[error("the test command did not end within {} s and was stopped", .0.as_secs())]
    TimedOut(Duration),
    #[error("the test command was stopped before it ended")]
    Cancelled,
    #[error("the result of the test command is unknown: {0}")]
    Lost(#[from] io::Error),
}

/// Runs a program in `dir` without a shell, restricted to that folder. All its processes are killed when it ends or the future is dropped.
///
/// # Errors
/// The command proves nothing.
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
    let program = locate(command, &dir, &search)?;
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

/// Resolves the command's program: a path relative to `dir`, or a name in `PATH`.
fn locate(command: &[String], dir: &Path, search: &OsString) -> Result<PathBuf, CommandError> {
    let name = command.first().filter(|name| !name.is_empty());
    let name = name.ok_or_else(|| CommandError::NotStarted("it is empty. Correct backlog.test_command".into()))?;
    let found = if name.contains('/') { Some(dir.join(name)).filter(|candidate| candidate.is_file()) } else { find_program(name, search) };
    found.ok_or_else(|| CommandError::NotStarted(format!("the program {name} was not found. Install it or correct backlog.test_command")))
}

/// Passes on only `PATH` and the like, because the rest of the environment contains tokens.
fn environment(dir: &Path, temporary: &Path, search: OsString) -> Vec<(&'static str, OsString)> {
    let mut environment =
        vec![("PATH", search), ("HOME", dir.into()), ("TMPDIR", temporary.into()), ("LANG", "C.UTF-8".into()), ("TERM", "dumb".into())];
    // With another HOME, rustup would not find its toolchains.
    let rustup = std::env::var_os("RUSTUP_HOME").or_else(|| Some(std::env::home_dir()?.join(".rustup").into_os_string()));
    environment.extend(rustup.map(|rustup| ("RUSTUP_HOME", rustup)));
    environment
}

/// A folder that is removed on drop.
struct TemporaryFolder(PathBuf);

impl TemporaryFolder {
    /// Replaces what an earlier command left. A symbolic link is removed, not followed.
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
        // If this fails, the folder is hidden from listings, and the next command replaces it.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
