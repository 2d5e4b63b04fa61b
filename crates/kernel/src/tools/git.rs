//! Read-only access to the history of the team's repository.
//!
//! A model's arguments never become options: revisions are resolved to hashes, and paths come after `--` and are literal. Git runs without
//! hooks, filters, pagers and other programs from the configuration.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;

use async_trait::async_trait;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio::process::Command;

use crate::text::{is_invisible, without_invisible};
use crate::tools::approval::Risk;
use crate::tools::arguments::parse_arguments;
use crate::tools::{Tool, ToolContext, ToolError, ToolLimits, ToolOutput};

/// The most commits in a log.
const MOST_COMMITS: u32 = 50;
const USUAL_COMMITS: u32 = 20;

/// The most bytes read of git's output. A diff can have any length.
const TAKEN: u64 = 256 * 1024;

/// The most characters of a diff for the model.
const TOLD: usize = 24_000;

/// Disables other programs. Filters do not apply, because `diff` compares commits and not the work tree.
const ALONE: [&str; 4] = ["core.fsmonitor=false", "core.hooksPath=/dev/null", "log.showSignature=false", "core.pager=cat"];

pub fn git_tools(work: &Path) -> [Arc<dyn Tool>; 2] {
    let git = Git { work: work.to_owned() };
    [Arc::new(Log(git.clone())), Arc::new(Diff(git))]
}

struct Log(Git);
struct Diff(Git);

#[derive(Deserialize)]
struct LogArguments {
    limit: Option<u32>,
    path: Option<String>,
}

#[derive(Deserialize)]
struct DiffArguments {
    from: String,
    to: Option<String>,
    path: Option<String>,
}

#[async_trait]
impl Tool for Log {
    fn name(&self) -> &'static str {
        "git_log"
    }

    fn description(&self) -> String {
        "Lists the newest commits of the team's repository: hash, day, author, subject.".into()
    }

    fn parameters(&self) -> Value {
        json!({
            "type": "object",
            "properties": {
                "limit": {"type": "integer", "minimum": 1, "maximum": MOST_COMMITS, "description": "How many; 20 if left out."},
                "path": {"type": "string", "description": "Only commits that changed this file or folder."},
            },
            "additionalProperties": false,
        })
    }

    fn risk(&self, _: &Value, _: &ToolContext<'_>) -> Risk {
        Risk::Read
    }

    async fn call(&self, arguments: &Value, _: &ToolContext<'_>) -> Result<ToolOutput, ToolError> {
        let LogArguments { limit, path } = parse_arguments(arguments)?;
        let most = format!("--max-count={}", limit.unwrap_or(USUAL_COMMITS).clamp(1, MOST_COMMITS));
        let fixed = ["log", "--no-show-signature", "--no-color", "--no-decorate", "--format=%h %cs %an: %s", &most, "HEAD"];
        let listed = self.0.run(&fixed, path.as_deref()).await?;
        Ok(told(&listed, "There are no such commits."))
    }
}

#[async_trait]
impl Tool for Diff {
    fn name(&self) -> &'static str {
        "git_diff"
    }

    fn description(&self) -> String {
        "Shows what changed in the team's repository between two commits.".into()
    }

    fn parameters(&self) -> Value {
        json!({
            "type": "object",
            "properties": {
                "from": {"type": "string", "description": "A hash, tag or branch, or one with ~1 behind it for the commit before."},
                "to": {"type": "string", "description": "The same; HEAD if left out."},
                "path": {"type": "string", "description": "Only this file or folder."},
            },
            "required": ["from"],
            "additionalProperties": false,
        })
    }

    fn limits(&self) -> ToolLimits {
        ToolLimits { chars: TOLD, ..ToolLimits::default() }
    }

    fn risk(&self, _: &Value, _: &ToolContext<'_>) -> Risk {
        Risk::Read
    }

    async fn call(&self, arguments: &Value, _: &ToolContext<'_>) -> Result<ToolOutput, ToolError> {
        let DiffArguments { from, to, path } = parse_arguments(arguments)?;
        let (from, to) = (self.0.resolve(&from).await?, self.0.resolve(to.as_deref().unwrap_or("HEAD")).await?);
        let fixed = ["diff", "--no-ext-diff", "--no-textconv", "--no-color", "--submodule=short", "--stat", "--patch", &from, &to];
        let difference = self.0.run(&fixed, path.as_deref()).await?;
        Ok(told(&difference, "There is no difference."))
    }
}

fn told(said: &str, nothing: &str) -> ToolOutput {
    let text = without_invisible(said.trim_end());
    ToolOutput { text: if text.is_empty() { nothing.to_owned() } else { text }, outside: true, trace: None }
}

#[derive(Clone)]
struct Git {
    work: PathBuf,
}

impl Git {
    /// Resolves a model's revision to a hash.
    async fn resolve(&self, named: &str) -> Result<String, ToolError> {
        let shown: String = named.chars().take(80).flat_map(char::escape_debug).collect();
        let refuse = || ToolError::Refused(format!("\"{shown}\" names no commit"));
        if named.is_empty() || named.starts_with('-') || named.len() > 200 || named.contains(|c: char| c.is_whitespace() || is_invisible(c))
        {
            return Err(refuse());
        }
        let commit = format!("{named}^{{commit}}");
        match self.run(&["rev-parse", "--verify", "--quiet", "--end-of-options", &commit], None).await {
            Ok(hash) if hash.trim().len() >= 40 && hash.trim().chars().all(|c| c.is_ascii_hexdigit()) => Ok(hash.trim().to_owned()),
            Ok(_) => Err(refuse()),
            // Git is silent only for an unknown revision.
            Err(ToolError::Failed(why)) if why == SILENT => Err(refuse()),
            Err(error) => Err(error),
        }
    }

    /// Runs git without a shell and without this process's environment, which contains tokens. Killed on drop.
    async fn run(&self, fixed: &[&str], path: Option<&str>) -> Result<String, ToolError> {
        if path.is_some_and(|path| path.contains('\0')) {
            return Err(ToolError::Refused("a path holds no NUL".into()));
        }
        let mut command = Command::new("git");
        command.env_clear().envs([
            ("LC_ALL", "C"),
            ("GIT_TERMINAL_PROMPT", "0"),
            ("GIT_OPTIONAL_LOCKS", "0"),
            ("GIT_LITERAL_PATHSPECS", "1"),
        ]);
        // A partial clone would fetch missing objects.
        command.envs([("GIT_NO_LAZY_FETCH", "1"), ("GIT_ALLOW_PROTOCOL", "none")]);
        // For finding git, and for the owner's `safe.directory`.
        for kept in ["PATH", "HOME"] {
            command.envs(std::env::var_os(kept).map(|value| (kept, value)));
        }
        command.arg("-C").arg(&self.work).arg("--no-pager").args(ALONE.iter().flat_map(|setting| ["-c", setting])).args(fixed);
        if let Some(path) = path {
            command.args(["--", path]);
        }
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
        read_output(command).await
    }
}

/// The error if git prints nothing.
const SILENT: &str = "git failed without a message";

async fn read_output(mut command: Command) -> Result<String, ToolError> {
    let not_run = |error: std::io::Error| ToolError::Failed(format!("cannot run git ({error}). Is it installed?"));
    let mut child = command.spawn().map_err(not_run)?;
    let (out, err) = (child.stdout.take().expect("it is piped"), child.stderr.take().expect("it is piped"));
    let complaint = tokio::spawn(read_some(err));
    let said = read_some(out).await.map_err(not_run)?;
    let cut = said.len() as u64 == TAKEN;
    if cut {
        // Git would block on its full output pipe.
        child.start_kill().map_err(not_run)?;
    }
    let complaint = complaint.await.ok().and_then(Result::ok).unwrap_or_default();
    if child.wait().await.map_err(not_run)?.success() || cut {
        return Ok(String::from_utf8_lossy(&said).into_owned());
    }
    let complaint = without_invisible(&String::from_utf8_lossy(&complaint));
    Err(ToolError::Failed(complaint.lines().next().map_or_else(|| SILENT.to_owned(), |line| format!("git said: {line}"))))
}

async fn read_some(from: impl AsyncRead + Unpin) -> std::io::Result<Vec<u8>> {
    let mut read = Vec::new();
    from.take(TAKEN).read_to_end(&mut read).await?;
    Ok(read)
}
